import JSON
import Vitals

/// The records of a webhook's document, list by list.
struct WebhookRecords: RecordStream {
    private let document: [UInt8]
    private let calendar: LocalCalendar
    private let sections: [HealthConnectWebhook.Contents.Section]
    private var place = 0
    /// Within the array of the section.
    private var reader: JSONReader?
    /// Reasons why parts of the record before are skipped.
    private var skipped: [String] = []
    /// The app of the last record that was read.
    private var app: String?
    /// The last sleep of each app, which its next session may continue. Those of several apps may lie between each other.
    private var sleeps: [String: Sample] = [:]
    /// A record that waits behind them.
    private var waiting: Record?
    private(set) var sources: CountSources
    let isTest: Bool

    init(
        _ contents: HealthConnectWebhook.Contents, of document: [UInt8], calendar: LocalCalendar, sources: CountSources
    ) {
        self.sources = sources
        isTest = contents.isTest
        sections = contents.sections
        self.document = document
        self.calendar = calendar
    }

    mutating func next() throws(DocumentProblem) -> Record? {
        do throws(JSONError) { return try nextWhole() } catch { throw DocumentProblem(error) }
    }

    /// The next record. Sessions of sleep that touch are one, since some apps write each stage as a session.
    private mutating func nextWhole() throws(JSONError) -> Record? {
        while waiting == nil, let record = try nextRecord() {
            guard case .sample(let sample) = record else { return record }
            guard sample.metric == .sleep else {
                waiting = record
                continue
            }
            let last = sleeps[app ?? ""]
            // Those of further apps stay as they are.
            if last == nil, sleeps.count >= Nights.maximumSources { return record }
            let joined = last?.joined(with: sample)
            sleeps[app ?? ""] = joined ?? sample
            if joined == nil, let last { return .sample(last) }
        }
        guard let first = sleeps.min(by: { ($0.value.start, $0.key) < ($1.value.start, $1.key) }) else {
            return waiting.take()
        }
        sleeps[first.key] = nil
        return .sample(first.value)
    }

    private mutating func nextRecord() throws(JSONError) -> Record? {
        if let reason = skipped.popLast() { return .skipped(reason) }
        while place < sections.count {
            let name = sections[place].name
            if reader == nil {
                var opened = JSONReader(document, range: sections[place].range)
                if try opened.looseArray() { reader = opened }
            }
            guard var entries = reader, try entries.nextElement() else {
                reader = nil
                place += 1
                continue
            }
            guard let metric = WebhookMetric(name: name) else {
                try entries.skip()
                reader = entries
                return .skipped("the gateway has no \(name)")
            }
            guard try entries.isAtObject() else {
                reader = entries
                return .noObject(in: name)
            }
            let entry = try WebhookEntry(&entries, calendar: calendar)
            reader = entries
            (skipped, app) = (entry.unknownStages, entry.app)
            if case .steps = metric,
                let reason = sources.skip(name, from: entry.app, as: entry.source?.name)
            {
                return .skipped(reason)
            }
            return metric.record(of: entry, name: name)
                .from(sources.origin(of: entry.source), changedAt: metric.isSeries ? nil : entry.changedAt)
        }
        return nil
    }
}
