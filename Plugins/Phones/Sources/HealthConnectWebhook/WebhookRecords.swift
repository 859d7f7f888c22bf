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
    /// Records that were read and not handed out.
    private var ready: [Record] = []
    /// What each source has of one meal, of which each food may be a record of its own: together they are one count.
    private var meal: [Sample] = []
    /// Sessions of the app of the last record that was read, with or without stages.
    private var chain = ""
    /// The last sleep of each app, which its next session may continue. Those of several apps may lie between each other, and so may a night
    /// that an app writes once more as one session without stages.
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
            let last = sleeps[chain]
            // Those of further apps stay as they are.
            if last == nil, sleeps.count >= Nights.maximumSources { return record }
            let joined = last?.joined(with: sample)
            sleeps[chain] = joined ?? sample
            if joined == nil, let last { return .sample(last) }
        }
        guard let first = sleeps.min(by: { ($0.value.start, $0.key) < ($1.value.start, $1.key) }) else {
            return waiting.take()
        }
        sleeps[first.key] = nil
        return .sample(first.value)
    }

    private mutating func nextRecord() throws(JSONError) -> Record? {
        while place < sections.count || !ready.isEmpty {
            if !ready.isEmpty { return ready.removeFirst() }
            let name = sections[place].name
            if reader == nil {
                var opened = JSONReader(document, range: sections[place].range)
                if try opened.looseArray() { reader = opened }
            }
            guard var entries = reader, try entries.nextElement() else {
                reader = nil
                place += 1
                endMeal()
                continue
            }
            guard let metric = WebhookMetric(name: name) else {
                try entries.skip()
                reader = entries
                return WebhookMetric.leftOut.contains(name) ? .leftOut(name) : .skipped("the gateway has no \(name)")
            }
            guard try entries.isAtObject() else {
                reader = entries
                return .noObject(in: name)
            }
            let entry = try WebhookEntry(&entries, calendar: calendar)
            reader = entries
            if case .sleep = metric {
                // That with stages comes last, and so counts where both are the same night.
                chain = "\(!entry.stages.isEmpty || !entry.unknownStages.isEmpty) \(entry.app ?? "")"
            }
            if metric.isMovement, let reason = sources.skip(name, from: entry.app, as: entry.source?.name) {
                return .skipped(reason)
            }
            let origin = sources.origin(of: entry.source)
            for record in metric.records(of: entry, name: name) {
                let record = record.from(origin, changedAt: metric.isSeries ? nil : entry.changedAt)
                if metric.isFood, case .sample(let sample) = record { add(sample) } else { ready.append(record) }
            }
            ready += entry.unknownStages.map { Record.skipped($0) }
        }
        return nil
    }

    /// Adds a food or a drink to the meal, or begins another one.
    private mutating func add(_ sample: Sample) {
        if let first = meal.first, first.start != sample.start || meal.count >= Nights.maximumSources { endMeal() }
        let place = meal.firstIndex { $0.metric == sample.metric && $0.precedence(over: sample) == .same }
        if let place { meal[place].add(sample) } else { meal.append(sample) }
    }

    private mutating func endMeal() {
        ready += meal.map { Record.sample($0) }
        meal = []
    }
}

extension Sample {
    /// Adds another count of the same metric that begins with it.
    fileprivate mutating func add(_ other: Sample) {
        guard case .count(let ours) = reading, case .count(let theirs) = other.reading,
            let sum = Increment(amount: ours.amount + theirs.amount)
        else { return }
        reading = .count(sum)
        end = max(end, other.end)
        // Of a sum that lost a food, none of the others says so.
        changedAt = nil
    }
}
