package import GatewayKit
import JSON
package import Vitals

/// The Android app HC Webhook, which posts records of Health Connect: `{"timestamp": …, "heart_rate": […], …}`.
package enum HealthConnectWebhook: PhoneApp {
    package static let driver = "health-connect-webhook"
    package static let name = "HC Webhook"
    /// Its records say mostly when they were changed, and its documents when they were made. Its counts of a day or hour do not say it,
    /// and may be of the part of it that it asks for.
    package static let overlaps = OverlapRule.newest
    package static let sourceOption = "app"
    package static let metrics: [Metric] = [
        .heartRate, .restingHeartRate, .heartRateVariability, .bloodPressure, .bloodOxygen, .respiratoryRate,
        .temperature, .skinTemperature, .bloodGlucose, .weight, .steps, .sleep, .sport, .distance, .activeEnergy,
        .totalEnergy, .hydration, .vo2Max, .bodyFat, .leanMass, .height, .dietaryEnergy, .protein, .carbohydrates, .fat,
    ]

    package static func records(
        of document: [UInt8], calendar: LocalCalendar, source: String?, order: SourceOrder
    ) throws(DocumentProblem) -> any RecordStream {
        let contents: Contents
        do throws(JSONError) {
            // All of it is checked before anything of it is stored.
            var check = JSONReader(document)
            try check.skip()
            try check.expectEnd()
            contents = try Contents(document)
        } catch {
            throw DocumentProblem(error)
        }
        guard contents.sections.count <= PhoneLimits.sections else { throw .tooManyLists }
        if let name = contents.noList { throw .noList(name) }
        guard contents.isObject, contents.timestamp != nil || !contents.sections.isEmpty else {
            if HealthAutoExport.wrote(document) { throw .foreign(HealthAutoExport.self) }
            throw DocumentProblem(
                "The document is none of HC Webhook: {\"timestamp\": …, \"heart_rate\": […], …} is expected. In the app, the "
                    + "delivery format must be JSON.")
        }
        return WebhookRecords(
            contents, of: document, calendar: calendar, sources: CountSources(source, order: order))
    }

    /// Whether JSON looks like a document of the app.
    static func wrote(_ document: [UInt8]) -> Bool { (try? Contents(document))?.hasKnownList ?? false }

    /// The lists of a document, found without reading them.
    struct Contents {
        /// A list of records of one kind.
        struct Section {
            var name: String
            /// Where its array is.
            var range: Range<Int>
        }
        var sections: [Section] = []
        var isObject = false
        var hasKnownList = false
        /// The name of a known list that is another value.
        var noList: String?
        /// When the app made it, as it writes that; empty for another value than a text.
        var timestamp: String?
        /// Whether the app's button "Test" has sent it.
        var isTest = false

        init(_ document: [UInt8]) throws(JSONError) {
            var reader = JSONReader(document)
            guard try reader.looseObject() else { return }
            isObject = true
            while let key = try reader.nextKey() {
                let kind = try reader.peek()
                let isKnown = WebhookMetric(name: key) != nil
                if isKnown, kind == .array { hasKnownList = true }
                if isKnown, kind != .array, kind != .null { noList = noList ?? key }
                // One too many is enough to know it.
                if kind == .array, sections.count <= PhoneLimits.sections {
                    sections.append(Section(name: key.quoted, range: try reader.raw()))
                } else if kind == .bool, key == "test" {
                    isTest = try reader.bool()
                } else if key == "timestamp" {
                    timestamp = try reader.looseText() ?? timestamp ?? ""
                } else {
                    try reader.skip()
                }
            }
        }
    }
}
