import Concurrency
import HomeAssistant
import Logging
package import StoreAPI
package import Vitals

/// Imports hourly statistics into Home Assistant wherever late samples touched hours that are over.
///
/// What is due is in the store, so that it can end at any moment. It shares nothing with the delivery to the broker.
package actor StatisticsImporter {
    /// Opens a connection for a closure.
    package typealias Connect =
        @Sendable (_ body: @Sendable (any MessageStream) async throws -> Void) async throws -> Void

    private let settings: StatisticsSettings
    private let store: any StatisticsStore
    private let connect: Connect
    private let report: @Sendable (StatisticsState) -> Void
    private var state = StatisticsState(activity: .idle)
    private var generator: any RandomNumberGenerator & Sendable
    /// Since when each series is due, and when a count without a row was looked at.
    private var dueSince: [SeriesName: Timestamp] = [:]
    private var joinedAt: [SeriesName: Timestamp] = [:]
    /// What was told about each series.
    private var told: [SeriesName: String] = [:]
    /// The series without an entity to import into.
    private var waiting: Set<SeriesName> = []
    private var hasBegun = false

    private struct SeriesName: Hashable, Comparable {
        var device: DeviceID
        var metric: Metric
        static func < (a: Self, b: Self) -> Bool {
            (a.device.text, a.metric.rawValue) < (b.device.text, b.metric.rawValue)
        }
    }

    /// - Parameter report: receives each changed state.
    package init(
        settings: StatisticsSettings, store: any StatisticsStore,
        generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator(), connect: @escaping Connect,
        report: @escaping @Sendable (StatisticsState) -> Void
    ) {
        self.settings = settings
        self.store = store
        self.generator = generator
        self.connect = connect
        self.report = report
    }

    /// Imports until the task is cancelled.
    package func run() async {
        report(state)
        var backOff = BackOff(first: StatisticsSettings.firstWait, longest: StatisticsSettings.longestWait)
        while !Task.isCancelled {
            var wait = StatisticsSettings.interval
            do {
                try await importDue()
                backOff.reset()
            } catch  where Task.isCancelled {
                return
            } catch let error as HomeAssistantError {
                if case .token = error {
                    // Each further attempt would be a failed login, and Home Assistant may ban the address for it.
                    return refuse(error)
                }
                wait = failed(error, &backOff)
            } catch let error as StoreError {
                settings.logger.error("The store cannot be read.", metadata: ["error": "\(error)"])
                wait = next(&backOff)
            } catch {
                wait = failed(.away("\(error)"), &backOff)
            }
            do { try await settings.clock.sleep(for: wait) } catch { return }
        }
    }

    /// One look for what is due, and its import.
    package func importDue() async throws {
        if !hasBegun {
            try await store.keepDueStatistics(true, at: settings.clock.now)
            hasBegun = true
        }
        let due = try await store.dueStatistics()
        note(due)
        let ready = ready(due)
        guard !ready.isEmpty else {
            // A refusal stays until it was tried again.
            return set { $0.due = due.count }
        }
        let last = settings.lastHour(at: settings.clock.now)
        try await connect { stream in
            try await self.converse(Conversation(stream, clock: self.settings.clock), ready, through: last)
        }
        let left = try await store.dueStatistics()
        note(left)
        let problems = told.sorted { $0.key < $1.key }.map(\.value)
        set {
            $0.activity = .idle
            $0.due = left.count
            $0.problem = problems.isEmpty ? nil : Self.joined(problems)
        }
    }

    private func converse(_ conversation: Conversation, _ entries: [DueStatistics], through last: Hour) async throws {
        let version = try await conversation.authenticate(token: settings.token)
        let entities = try await conversation.entities(beginningWith: settings.discovery.uniqueIDPrefix)
        let metadata = try await conversation.metadata(of: entities.values.map(\.id).sorted())
        set { $0.activity = .importing }
        for entry in entries {
            let name = SeriesName(device: entry.device, metric: entry.metric)
            let (sensors, problem, isOff) = sensors(of: entry, entities, metadata)
            tell(problem, of: name)
            joinedAt[name] = settings.clock.now
            guard !sensors.isEmpty else {
                // Whoever switched the entities off wants no statistics of them.
                if isOff { _ = try await store.setDue(nil, of: entry) } else { waiting.insert(name) }
                continue
            }
            waiting.remove(name)
            let series = SeriesImport(
                settings: settings, store: store, conversation: conversation, version: version, sensors: sensors)
            let isDone = try await series.run(entry, through: last)
            if isDone {
                let now = settings.clock.now
                set { $0.importedAt = now }
                settings.logger.debug(
                    "Statistics are imported.",
                    metadata: ["device.id": "\(entry.device)", "metric": "\(entry.metric)"])
            }
        }
    }

    /// The sensors of a series that Home Assistant has, what is wrong with the others, and whether all are switched off.
    private func sensors(
        of entry: DueStatistics, _ entities: [String: RegisteredEntity], _ metadata: [String: StatisticMetadata]
    ) -> (
        sensors: [(sensor: StatisticSensor, target: StatisticTarget, conversion: UnitConversion)], problem: String?,
        isOff: Bool
    ) {
        var sensors: [(sensor: StatisticSensor, target: StatisticTarget, conversion: UnitConversion)] = []
        var problem: String?
        var isOff = true
        for sensor in StatisticSensor.all(of: entry.metric) {
            let unique = settings.discovery.uniqueID(of: sensor.key, entry.device)
            guard let entity = entities[unique] else {
                problem = problem ?? "There is no entity \(unique)"
                continue
            }
            if entity.isDisabled { continue }
            isOff = false
            // Its state is not there yet.
            guard let metadata = metadata[entity.id] else { continue }
            guard let conversion = UnitConversion(from: sensor.unit, to: metadata.unit) else {
                problem = "\(entity.id) has the unit \(metadata.unit ?? "none")"
                continue
            }
            sensors.append((sensor, StatisticTarget(entity: entity.id, metadata: metadata), conversion))
        }
        return (sensors, problem, isOff && problem == nil)
    }

    /// The entries whose hours are old enough and whose samples have come.
    private func ready(_ due: [DueStatistics]) -> [DueStatistics] {
        let now = settings.clock.now
        let last = settings.lastHour(at: now)
        return due.filter { entry in
            let name = SeriesName(device: entry.device, metric: entry.metric)
            guard !StatisticSensor.all(of: entry.metric).isEmpty else { return false }
            let isQuiet = now - entry.changedAt >= StatisticsSettings.quiet || now < entry.changedAt
            let isOld = dueSince[name].map { now - $0 >= StatisticsSettings.patience } ?? false
            guard isQuiet || isOld else { return false }
            if entry.hours.lowerBound <= last {
                // An entity that is missing is looked for less often.
                guard waiting.contains(name), let tried = joinedAt[name] else { return true }
                return now - tried >= StatisticsSettings.missing
            }
            guard StatisticSensor.all(of: entry.metric).contains(where: { $0.kind == .counter }) else { return false }
            return joinedAt[name].map { now - $0 >= StatisticsSettings.rejoining } ?? true
        }
    }

    private func note(_ due: [DueStatistics]) {
        let now = settings.clock.now
        let names = Set(due.map { SeriesName(device: $0.device, metric: $0.metric) })
        dueSince = dueSince.filter { names.contains($0.key) }
        for name in names where dueSince[name] == nil { dueSince[name] = now }
        joinedAt = joinedAt.filter { names.contains($0.key) }
        told = told.filter { names.contains($0.key) }
        waiting.formIntersection(names)
    }

    // MARK: Reports

    private func tell(_ problem: String?, of name: SeriesName) {
        guard told[name] != problem else { return }
        told[name] = problem
        guard let problem else { return }
        settings.logger.warning(
            "Statistics wait for an entity of Home Assistant.",
            metadata: ["device.id": "\(name.device)", "metric": "\(name.metric)", "problem": "\(problem)"])
    }

    private func failed(_ error: HomeAssistantError, _ backOff: inout BackOff) -> Duration {
        switch error {
        case .away, .late:
            if state.activity != .away {
                settings.logger.info("No statistics are imported for now.", metadata: ["error": "\(error)"])
            }
            set { $0.activity = .away }
            return next(&backOff)
        case .token, .outdated, .refused, .unexpected:
            refuse(error)
            return StatisticsSettings.refusalWait
        }
    }

    private func refuse(_ error: HomeAssistantError) {
        if state.problem != "\(error)" {
            settings.logger.warning("Statistics are not imported.", metadata: ["error": "\(error)"])
        }
        set {
            $0.activity = .refused
            $0.problem = "\(error)"
        }
    }

    private func next(_ backOff: inout BackOff) -> Duration { backOff.next(using: &generator) }

    private func set(_ change: (inout StatisticsState) -> Void) {
        let before = state
        change(&state)
        if state != before { report(state) }
    }

    /// The most problems of the state's text.
    private static let namedProblems = 3

    private static func joined(_ problems: [String]) -> String {
        let more = problems.count - namedProblems
        return problems.prefix(namedProblems).joined(separator: "; ") + (more > 0 ? "; and \(more) more" : "")
    }
}
