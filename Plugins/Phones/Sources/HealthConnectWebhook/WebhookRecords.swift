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
    /// What foods of the meal have nothing of, with the reason to skip it. It corrects what they had, and is no part of the sum.
    private var missing: [(sample: Sample, reason: String?)] = []
    /// When the meal began.
    private var mealStart: Timestamp?
    /// When the app made the document.
    private let reportedAt: Timestamp?
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
        let time = contents.timestamp.flatMap { PhoneTime.moment($0, calendar: calendar) }
        reportedAt = time.flatMap { SampleLimits.moments.contains($0) ? $0 : nil }
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
            var joined = last?.joined(with: sample)
            // The sessions before may be outside of the document's window.
            joined?.claim = .part
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
                let record = record.from(origin, changedAt: entry.changedAt, reportedAt: reportedAt)
                switch record {
                case .sample(let sample) where metric.isFood: add(sample)
                case .nothing(let sample, let reason) where metric.isFood: note(missing: sample, reason)
                default: ready.append(record)
                }
            }
            ready += entry.unknownStages.map { Record.skipped($0) }
        }
        return nil
    }

    /// Adds a food or a drink to the meal, or begins another one.
    private mutating func add(_ sample: Sample) {
        if mealStart != sample.start || meal.count >= Nights.maximumSources { beginMeal(at: sample.start) }
        guard
            let place = meal.firstIndex(where: { $0.metric == sample.metric && $0.precedence(over: sample) == .same })
        else { return meal.append(sample) }
        meal[place].add(sample)
        meal[place].reportedAt = reportedAt
    }

    /// Notes what a food or a drink has nothing of, for each end once.
    private mutating func note(missing sample: Sample, _ reason: String?) {
        if mealStart != sample.start { beginMeal(at: sample.start) }
        guard missing.count < Nights.maximumSources, !missing.contains(where: { $0.sample.isCount(of: sample) })
        else { return }
        missing.append((sample, reason))
    }

    private mutating func beginMeal(at start: Timestamp) {
        endMeal()
        mealStart = start
    }

    /// What is missing comes first, so that the sum is not taken for a part of what it corrects.
    private mutating func endMeal() {
        for (sample, reason) in missing where !meal.contains(where: { $0.isCount(of: sample) }) {
            ready.append(.nothing(sample, reason: reason))
        }
        ready += meal.map { Record.sample($0) }
        (meal, missing, mealStart) = ([], [], nil)
    }
}

extension Sample {
    /// Whether both are of one metric and source, with the same times.
    fileprivate func isCount(of other: Sample) -> Bool {
        metric == other.metric && start == other.start && end == other.end && precedence(over: other) == .same
    }

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
