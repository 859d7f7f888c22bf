package import GatewayKit
import JSON
package import Vitals

/// The iPhone app Health Auto Export, by its REST API and MQTT automations: `{"data": {"metrics": […], "workouts": […]}}`.
package enum HealthAutoExport: PhoneApp {
    package static let driver = "health-auto-export"
    package static let name = "Health Auto Export"
    /// Its records have no time of change, and its nights are made of stages, of which a document may have a part. Not `lastReported`:
    /// a document that comes once more would bring back what a newer one has corrected.
    package static let overlaps = OverlapRule.newest
    package static let sourceOption = "source"
    package static let hasWarnings = true
    package static let hasExports = true
    package static let metrics: [Metric] = [
        .heartRate, .restingHeartRate, .heartRateVariability, .bloodPressure, .bloodOxygen, .respiratoryRate,
        .temperature, .skinTemperature, .bloodGlucose, .weight, .steps, .sleep, .sport, .distance, .activeEnergy,
        .basalEnergy, .floors, .exerciseMinutes, .standHours, .hydration, .vo2Max, .bodyFat, .leanMass, .height,
        .bodyMassIndex, .heartRateRecovery, .walkingHeartRate, .noiseExposure, .dietaryEnergy, .protein,
        .carbohydrates, .fat,
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
        guard contents.hasData else {
            if HealthConnectWebhook.wrote(document) { throw .foreign(HealthConnectWebhook.self) }
            throw DocumentProblem(
                "The document is none of Health Auto Export: {\"data\": {\"metrics\": […], \"workouts\": […]}} is expected. "
                    + "In the app, the export format must be JSON.")
        }
        if let name = contents.noList { throw .noList(name) }
        return ExportedRecords(
            contents, of: document, calendar: calendar, sources: CountSources(source, order: order))
    }

    /// Whether JSON looks like a document of the app.
    static func wrote(_ document: [UInt8]) -> Bool { (try? Contents(document))?.hasData ?? false }

    /// The parts of a document, found without reading them.
    struct Contents {
        /// A list of records.
        struct Section {
            enum Kind {
                case metric(name: String, unit: String?)
                case workouts
                /// What the watch warned of.
                case notifications, ecg
                /// What persons note of themselves, which is no measurement.
                case leftOut(String)
                /// A metric without a list.
                case noList(name: String)
                /// Records that the gateway has no metric for.
                case other(String)
            }
            var kind: Kind
            /// Where its array is; nothing of a metric without one.
            var range: Range<Int>
        }
        var sections: [Section] = []
        var hasData = false
        /// The path of a list that is another value.
        var noList: String?
        /// How many entries of `metrics` are no object.
        var strayEntries = 0

        private enum MetricKey: String, CaseIterable { case name, units, data }

        init(_ document: [UInt8]) throws(JSONError) {
            var reader = JSONReader(document)
            guard try reader.looseObject() else { return }
            while let key = try reader.nextKey() {
                guard key == "data", try reader.peek() == .object else {
                    try reader.skip()
                    continue
                }
                hasData = true
                try reader.beginObject()
                while let list = try reader.nextKey() {
                    switch list {
                    case "metrics": if try isList(&reader, "data.metrics") { try readMetrics(&reader) }
                    case "workouts": if try isList(&reader, "data.workouts") { add(.workouts, try reader.raw()) }
                    case "heartRateNotifications":
                        if try isList(&reader, "data.\(list)") { add(.notifications, try reader.raw()) }
                    case "ecg": if try isList(&reader, "data.ecg") { add(.ecg, try reader.raw()) }
                    case "symptoms", "cycleTracking", "medications", "stateOfMind":
                        add(.leftOut(list), try reader.raw())
                    default: add(.other(list.quoted), try reader.raw())
                    }
                }
            }
        }

        /// Whether a list comes next. Any other value is skipped; `null` is no records.
        private mutating func isList(_ reader: inout JSONReader, _ path: String) throws(JSONError) -> Bool {
            let kind = try reader.peek()
            if kind == .array { return true }
            if kind != .null { noList = noList ?? path }
            try reader.skip()
            return false
        }

        private mutating func add(_ kind: Section.Kind, _ range: Range<Int>) {
            // One too many is enough to know it.
            if sections.count <= PhoneLimits.sections { sections.append(Section(kind: kind, range: range)) }
        }

        private mutating func readMetrics(_ reader: inout JSONReader) throws(JSONError) {
            let keys = JSONWords(of: MetricKey.self)
            try reader.beginArray()
            while try reader.nextElement() {
                guard try reader.looseObject() else {
                    strayEntries += 1
                    continue
                }
                var (name, unit) = (String?.none, String?.none)
                var range: Range<Int>?
                while let key = try reader.nextKey(in: keys) {
                    switch key {
                    case .name: name = try reader.looseText()
                    case .units: unit = try reader.looseText()
                    case .data:
                        let isList = try reader.peek() == .array
                        let value = try reader.raw()
                        range = isList ? value : nil
                    }
                }
                let metric = (name ?? "?").quoted
                if let range {
                    add(.metric(name: metric, unit: unit?.quoted), range)
                } else {
                    add(.noList(name: metric), 0..<0)
                }
            }
        }
    }
}
