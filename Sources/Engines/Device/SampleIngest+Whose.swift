import GatewayKit
import Logging
import Vitals

/// Whose samples are, at a device for several persons.
extension SampleIngest {
    /// Values of a metric that are read to find whose another one is: a year of four persons has three thousand.
    static let readForAttribution = 5_000
    /// Samples that wait, read at once: each question may have several.
    private static let readWaiting = (WhoseState.listed + 1) * 8

    /// Whether nobody has said yet whose a sample is.
    func isUnattributed(_ sample: Sample) -> Bool {
        guard context.policy.attribution != nil, sample.whose == nil, sample.claim != .correction else { return false }
        return !sample.metric.isInterval && sample.metric.hasHistory
            && sample.user.map { context.wearers.people[$0] == nil } ?? true
    }

    /// Finds whose samples are, in the order of their times: each counts for the next.
    func attributed(_ samples: [Sample]) async throws(StoreError) -> [Sample] {
        guard let rule = context.policy.attribution, samples.contains(where: isUnattributed) else { return samples }
        var (samples, known) = (samples, [Metric: KnownValues]())
        let occasions = Dictionary(grouping: samples.indices) { samples[$0].start }
        for (start, places) in occasions.sorted(by: { $0.key < $1.key }) {
            let open = places.filter { isUnattributed(samples[$0]) }
            guard let first = open.min(by: { samples[$0].isAsked(before: samples[$1]) }) else { continue }
            let whose: (user: Int?, decision: Sample.Whose)
            if let user = places.lazy.compactMap({ samples[$0].user }).first(where: {
                context.wearers.people[$0] != nil
            }) {
                whose = (user, .settled)
            } else if samples[first].metric.distinction != nil, let value = samples[first].trait {
                let metric = samples[first].metric
                if known[metric] == nil { known[metric] = try await self.known(metric, around: samples) }
                if let user = known[metric]?.users[SampleKey(samples[first])] {
                    // The store knows it, and keeps what was decided.
                    whose = (user, .settled)
                } else {
                    let values = known[metric]?.values ?? []
                    whose = Self.decision(rule.find(value, of: metric, at: start, among: values))
                    if case .settled = whose.decision {
                        var sample = samples[first]
                        sample.user = whose.user
                        known[metric]?.add(sample)
                    }
                }
            } else {
                whose = try await companion(at: start) ?? (nil, .asked(rule.everybody))
            }
            for place in open { (samples[place].user, samples[place].whose) = whose }
        }
        let guests = samples.count { $0.whose == .guest }
        skip(SkippedValues(reason: "guest", what: "samples", count: guests))
        return samples
    }

    private static func decision(_ finding: Attribution.Finding) -> (user: Int?, decision: Sample.Whose) {
        switch finding {
        case .user(let user, _): (user, .settled)
        case .unclear(let users): (nil, .asked(users))
        case .guest: (nil, .guest)
        }
    }

    /// The stored values of a metric that may tell whose these samples are.
    private func known(_ metric: Metric, around samples: [Sample]) async throws(StoreError) -> KnownValues {
        let starts = samples.filter { $0.metric == metric }.map(\.start)
        var known = KnownValues()
        guard let first = starts.min(), let last = starts.max() else { return known }
        let stored = try await context.store.samples(
            of: context.id, metric: metric,
            starting: first - Attribution.reach..<last + Attribution.reach + .milliseconds(1), after: nil,
            limit: Self.readForAttribution)
        for one in stored { known.add(one.sample) }
        return known
    }

    /// Whose what was measured at the same moment is, by which persons can be told apart.
    private func companion(at start: Timestamp) async throws(StoreError) -> (user: Int?, decision: Sample.Whose)? {
        for metric in Metric.allCases where metric.distinction != nil && projection.current.highWater[metric] != nil {
            let found = try await context.store.samples(
                of: context.id, metric: metric, starting: start..<start + .milliseconds(1), after: nil, limit: 1)
            if let sample = found.first?.sample { return (sample.user, .settled) }
        }
        let waiting = try await context.store.waiting(of: context.id, limit: Self.readWaiting)
        return waiting.first { $0.sample.start == start }?.sample.whose.map { (nil, $0) }
    }

    /// Publishes what waits, if there may be something.
    func publishWhose() async throws(StoreError) {
        let questions = Question.list(
            of: try await context.store.waiting(of: context.id, limit: Self.readWaiting))
        guard context.policy.attribution != nil || projection.hasQuestions || !questions.isEmpty else { return }
        projection.hasQuestions = !questions.isEmpty
        context.publish(.whose(WhoseState(questions)))
    }

    // MARK: - Commands

    /// Notes whose a sample is.
    func assign(_ id: SampleID?, to person: String) async -> Answer {
        guard let user = context.wearers.user(of: person) else {
            let names = context.wearers.names
            let known = names.isEmpty ? "it has none" : "they are \(names.joined(separator: ", "))"
            return .wrong("person", "must be one of the device's persons; \(known)")
        }
        return await move(id, to: .user(user))
    }

    /// Takes a sample back.
    func withdraw(_ id: SampleID?) async -> Answer { await move(id, to: .nobody) }

    private func move(_ id: SampleID?, to target: SampleMove.To) async -> Answer {
        do throws(StoreError) {
            let answer = try await projection.exclusively { () async throws(StoreError) -> Answer in
                var id = id
                if id == nil {
                    let waiting = try await context.store.waiting(of: context.id, limit: Self.readWaiting)
                    id = Question.list(of: waiting).first?.id
                    guard id != nil else { return .nothingWaits }
                }
                let occasion =
                    if let id {
                        try await context.store.occasion(of: id, of: context.id)
                    } else {
                        [StoredSample]()
                    }
                guard let stored = occasion.first else {
                    return .wrong("id", "must be the `id` of a sample of this device that the store has")
                }
                if stored.isWithdrawn, target == .nobody || stored.sample.whose == nil, Question(stored) == nil {
                    return .withdrawnAlready
                }
                if case .user(let user) = target, !stored.isWithdrawn, stored.sample.user == user {
                    return Answer(.done, data: .measurement(stored))
                }
                let moves = occasion.filter { $0.belongs(to: stored) || $0.id == stored.id }
                    .filter { context.policy.attribution != nil || $0.id == stored.id }
                    .map { SampleMove($0.sample, to: target) }
                return Answer(.done, data: .measurement(try await commit(moves).first))
            }
            if answer.status == .done { try await publishWhose() }
            return answer
        } catch {
            context.logger.error("Whose a sample is cannot be stored.", metadata: ["error": "\(error)"])
            return Answer(
                .failed, code: .deviceError, message: "Whose it is cannot be stored: see the gateway's log.")
        }
    }

    private func commit(_ moves: [SampleMove]) async throws(StoreError) -> [StoredSample] {
        projection.beginDayIfDue()
        let ingest = ingestContext(of: .live)
        let before = projection.current.latest
        let result = try await projection.commit(moves: moves, receivedAt: ingest.now) { projection, outcomes in
            projection.record(outcomes, in: ingest)
        }
        newest.change(from: before, to: projection.current.latest, isSync: false)
        publishLatest()
        return result.moved
    }
}

/// The samples of a metric of which is known whose they are.
private struct KnownValues {
    /// The user of each; `nil` for one that has none.
    private(set) var users: [SampleKey: Int?] = [:]
    /// What they say of their persons.
    private(set) var values: [Attribution.Known] = []

    mutating func add(_ sample: Sample) {
        users[SampleKey(sample)] = .some(sample.user)
        guard let user = sample.user, let value = sample.trait else { return }
        values.append(Attribution.Known(user: user, at: sample.end, value: value))
    }
}

extension StoredSample {
    /// Whether it was measured with another one, and is whose that is so far.
    fileprivate func belongs(to other: StoredSample) -> Bool {
        isWithdrawn == other.isWithdrawn && sample.user == other.sample.user && sample.whose == other.sample.whose
    }
}

extension Wearers {
    /// Their names, in the order of the slots.
    var names: [String] {
        ([person].compactMap(\.self) + people.sorted { $0.key < $1.key }.map(\.value)).reduce(into: []) {
            if !$0.contains($1) { $0.append($1) }
        }
    }

    /// The slot of a person, or none for the one of samples without a slot; `nil` for nobody of the device.
    func user(of name: String) -> Int?? {
        if let slot = people.filter({ $0.value == name }).keys.min() { return .some(slot) }
        return person == name ? .some(nil) : nil
    }
}

extension Answer {
    fileprivate static func wrong(_ path: String, _ message: String) -> Answer {
        Answer(
            .rejected, code: .invalid, message: "The sample stays as it is: \(path) \(message).",
            violations: [Violation(path: path, message: message)])
    }

    fileprivate static let nothingWaits = Answer(
        .rejected, code: .conflict, message: "No sample waits for its person. With `id` any sample can be given to one."
    )

    fileprivate static let withdrawnAlready = Answer(
        .rejected, code: .conflict,
        message: "It is withdrawn already: it was taken back, or another record has replaced it.")
}
