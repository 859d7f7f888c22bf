package import GatewayKit
import JSON
package import Vitals

/// Apps that upload as to Nightscout, by version 1 of its API: xDrip+, Juggluco and others. A document is a list of entries, or one entry:
/// `[{"type": "sgv", "sgv": 112, "date": 1767614400000, "device": "xDrip-DexcomG5", …}]`.
package enum Nightscout: PhoneApp {
    package static let driver = "nightscout"
    package static let name = "Nightscout uploader"
    /// Nothing of it overlaps.
    package static let overlaps = OverlapRule.newest
    package static let sourceOption = "source"
    package static let metrics: [Metric] = [.bloodGlucose]

    package static func records(
        of document: [UInt8], calendar: LocalCalendar, source: String?, order: SourceOrder
    ) throws(DocumentProblem) -> any RecordStream {
        let sources = CountSources(source, order: order)
        do throws(JSONError) {
            // All of it is checked before anything of it is stored.
            var check = JSONReader(document)
            let kind = try check.peek()
            try check.skip()
            try check.expectEnd()
            var reader = JSONReader(document)
            if kind == .array {
                try reader.beginArray()
                return NightscoutRecords(reader: reader, calendar: calendar, sources: sources)
            }
            let entry = try NightscoutEntry(&reader, calendar: calendar)
            if entry.isKnown { return NightscoutRecords(single: entry, calendar: calendar, sources: sources) }
        } catch {
            throw DocumentProblem(error)
        }
        if HealthAutoExport.wrote(document) { throw .foreign(HealthAutoExport.self) }
        if HealthConnectWebhook.wrote(document) { throw .foreign(HealthConnectWebhook.self) }
        throw DocumentProblem(
            "The document is none of an app that uploads as to Nightscout: [{\"type\": \"sgv\", \"sgv\": 112, \"date\": …}] is expected."
        )
    }
}

/// The records of an upload, entry by entry.
struct NightscoutRecords: RecordStream {
    /// Within the list of entries; `nil` at its end.
    private var reader: JSONReader?
    /// The only entry, where there is no list.
    private var single: NightscoutEntry?
    /// What is left out of the entry that was read last.
    private var rest: Record?
    private let calendar: LocalCalendar
    private(set) var sources: CountSources
    var isTest: Bool { false }

    init(
        reader: JSONReader? = nil, single: NightscoutEntry? = nil, calendar: LocalCalendar, sources: CountSources
    ) {
        (self.reader, self.single, self.calendar, self.sources) = (reader, single, calendar, sources)
    }

    mutating func next() throws(DocumentProblem) -> Record? {
        if let rest = rest.take() { return rest }
        do throws(JSONError) {
            guard let entry = try nextEntry() else { return nil }
            let record = entry.record
            guard case .sample = record else { return record }
            if let reason = sources.skip("blood_glucose", from: entry.device) { return .skipped(reason) }
            if entry.hasTrend { rest = .leftOut("direction, the trend: the gateway has no place for it") }
            return record.from(sources.origin(of: entry.source))
        } catch { throw DocumentProblem(error) }
    }

    private mutating func nextEntry() throws(JSONError) -> NightscoutEntry? {
        if let single = single.take() { return single }
        guard var entries = reader, try entries.nextElement() else {
            reader = nil
            return nil
        }
        let entry = try NightscoutEntry(&entries, calendar: calendar)
        reader = entries
        return entry
    }
}
