import Concurrency
import HomeAssistant
import Logging
package import Vitals

/// Imports hourly statistics into Home Assistant wherever late samples touched hours that are over.
///
/// What is pending is in the store, so that it can end at any moment. It shares nothing with the delivery to the
/// broker.
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
    private var retries = RetryTimes()
    /// The last log message about each sensor.
    private var reported: [SensorName: String] = [:]
    private var hasBegun = false
    private var hasLoggedIn = false

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
                try await importPending()
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
                wait = failed(.offline("\(error)"), &backOff)
            }
            do { try await settings.clock.sleep(for: wait) } catch { return }
        }
    }

    /// Returns when the importer has taken a turn: it never computes for long, and waits for others without holding a thread.
    package func answer() {}

    /// Imports what is pending. The first call logs in also if nothing is pending, so that a wrong token is reported
    /// right after it was configured.
    package func importPending() async throws {
        if !hasBegun {
            try await store.keepPendingStatistics(true, at: settings.clock.now)
            hasBegun = true
        }
        try await split()
        let pending = try await pendingNow()
        let last = settings.lastHour(at: settings.clock.now)
        let ready = retries.ready(pending, through: last, at: settings.clock.uptime)
        // A refusal stays until it was tried again.
        guard !ready.isEmpty || !hasLoggedIn else { return set { $0.due = Self.count(pending) } }
        try await connect { stream in
            try await self.converse(Conversation(stream, clock: self.settings.clock), ready, through: last)
        }
        let left = try await pendingNow()
        let problems = Set(reported.values).sorted()
        set {
            $0.activity = .idle
            $0.due = Self.count(left)
            $0.problem = problems.isEmpty ? nil : Self.joined(problems)
        }
    }

    /// What is pending, without the hours whose samples may be deleted.
    private func pendingNow() async throws -> [PendingStatistics] {
        var pending: [PendingStatistics] = []
        for entry in try await store.pendingStatistics() {
            guard let oldest = settings.oldestHour, entry.hours.lowerBound < oldest else {
                pending.append(entry)
                continue
            }
            let upper = entry.isJoining ? max(entry.hours.upperBound, oldest) : entry.hours.upperBound
            let hours = upper < oldest ? nil : oldest...upper
            guard try await store.setPending(hours, isJoining: entry.isJoining, of: entry), let hours else { continue }
            var left = entry
            left.hours = hours
            pending.append(left)
        }
        retries.note(pending, at: settings.clock.now)
        let names = Set(pending.map(SensorName.init))
        reported = reported.filter { names.contains($0.key) }
        return pending
    }

    /// Gives each sensor of a series whose samples have come its own entry.
    private func split() async throws {
        let now = settings.clock.now
        let pending = try await pendingNow()
        for entry in pending where entry.sensor.isEmpty {
            let sensors = StatisticSensor.all(of: entry.metric).map(\.key)
            // A workout has no sensor, and nothing of it is pending.
            let isReady = retries.isComplete(entry, at: now) && entry.hours.lowerBound <= settings.lastHour(at: now)
            guard isReady || sensors.isEmpty else { continue }
            _ = try await store.splitPending(entry, among: sensors)
        }
    }

    private func converse(_ conversation: Conversation, _ entries: [PendingStatistics], through last: Hour) async throws
    {
        let version = try await conversation.authenticate(token: settings.token)
        hasLoggedIn = true
        let entries = entries.filter { !$0.sensor.isEmpty }
        guard !entries.isEmpty else { return }
        let targets = try await StatisticTargets(conversation, settings.discovery)
        // A check for Home Assistant's own rows is no import.
        if entries.contains(where: { !$0.isJoining }) { set { $0.activity = .importing } }
        for entry in entries {
            do {
                try await importOne(entry, conversation, version, targets, through: last)
            } catch let error as HomeAssistantError where error.isOfOneSeries && !Task.isCancelled {
                // The others are not to wait for it.
                if case .renamed = error {} else { report("\(error)", of: entry) }
                retries.mustWait(entry, first: StatisticsSettings.rejoining, at: settings.clock.uptime)
            }
        }
    }

    private func importOne(
        _ entry: PendingStatistics, _ conversation: Conversation, _ version: HomeAssistantVersion,
        _ targets: StatisticTargets, through last: Hour
    ) async throws {
        guard let sensor = StatisticSensor.all(of: entry.metric).first(where: { $0.key == entry.sensor }) else {
            // Of another version of the gateway.
            _ = try await store.setPending(nil, isJoining: false, of: entry)
            return
        }
        let unique = settings.discovery.uniqueID(of: sensor.key, entry.device)
        switch targets.place(of: sensor, unique: unique) {
        case .off: _ = try await store.setPending(nil, isJoining: false, of: entry)
        case .missing(let problem, let isStarting):
            guard try await isMeasured(sensor, entry) else {
                _ = try await store.setPending(nil, isJoining: false, of: entry)
                return
            }
            let hasWaited = retries.wait(of: entry).map { $0 >= StatisticsSettings.missingReported } ?? false
            if hasWaited || !isStarting { report(problem, of: entry) }
            retries.mustWait(entry, first: StatisticsSettings.missing, at: settings.clock.uptime)
        case .here(let unique, let target, let conversion):
            let series = SeriesImport(
                settings: settings, store: store, conversation: conversation, version: version, sensor: sensor,
                unique: unique, target: target, conversion: conversion)
            let outcome = try await series.run(entry, through: last)
            report(nil, of: entry)
            if outcome.isJoining {
                retries.mustWait(
                    entry, first: StatisticsSettings.rejoining, isJoining: true, at: settings.clock.uptime)
            } else {
                retries.succeeded(entry, at: settings.clock.uptime)
            }
            guard outcome.hasImported else { return }
            let now = settings.clock.now
            set { $0.importedAt = now }
            settings.logger.debug(
                "Statistics are imported.",
                metadata: ["device.id": "\(entry.device)", "metric": "\(entry.metric)", "sensor": "\(sensor.key)"])
        }
    }

    /// Whether the device has a number for a sensor in the pending hours: steps may come without a distance.
    private func isMeasured(_ sensor: StatisticSensor, _ entry: PendingStatistics) async throws -> Bool {
        var isMeasured = entry.isJoining
        let start = entry.hours.lowerBound.start
        try await sensor.read(store, entry.device, from: start - SampleLimits.duration, to: entry.hours.upperBound.end)
        {
            isMeasured = isMeasured || $0.moment >= start
            return !isMeasured
        }
        return isMeasured
    }

    // MARK: Reports

    private func report(_ problem: String?, of entry: PendingStatistics) {
        let name = SensorName(entry)
        guard reported[name] != problem else { return }
        reported[name] = problem
        guard let problem else { return }
        settings.logger.warning(
            "Statistics of a sensor wait.",
            metadata: [
                "device.id": "\(entry.device)", "metric": "\(entry.metric)", "sensor": "\(entry.sensor)",
                "problem": "\(problem)",
            ])
    }

    private func failed(_ error: HomeAssistantError, _ backOff: inout BackOff) -> Duration {
        switch error {
        case .offline, .late, .renamed:
            if state.activity != .offline {
                settings.logger.info("No statistics are imported for now.", metadata: ["error": "\(error)"])
            }
            set { $0.activity = .offline }
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

    /// The series with hours to import.
    private static func count(_ pending: [PendingStatistics]) -> Int {
        Set(pending.filter { !$0.isJoining }.map { [$0.device.text, $0.metric.rawValue] }).count
    }

    /// The most problems of the state's text.
    private static let namedProblems = 3

    private static func joined(_ problems: [String]) -> String {
        let more = problems.count - namedProblems
        return problems.prefix(namedProblems).joined(separator: "; ") + (more > 0 ? "; and \(more) more" : "")
    }
}

extension HomeAssistantError {
    /// Whether another series may succeed, so that a pass continues.
    fileprivate var isOfOneSeries: Bool {
        switch self {
        case .offline, .token, .outdated: false
        case .refused(_, let code, _): code != "unauthorized"
        case .unexpected, .late, .renamed: true
        }
    }
}

/// The gateway's sensors as Home Assistant has them: read once for each conversation.
struct StatisticTargets {
    /// Where the statistics of a sensor belong.
    enum Place {
        case here(unique: String, target: StatisticTarget, conversion: UnitConversion)
        /// A disabled entity gets no statistics.
        case off
        /// There is none, and why. `isStarting` says that it may be so only because Home Assistant has just begun.
        case missing(String, isStarting: Bool)
    }
    private let entities: [String: RegisteredEntity]
    private let metadata: [String: StatisticMetadata]

    init(_ conversation: Conversation, _ discovery: Discovery) async throws {
        entities = try await conversation.entities(beginningWith: discovery.uniqueIDPrefix)
        metadata = try await conversation.metadata(of: entities.values.map(\.id).sorted())
    }

    func place(of sensor: StatisticSensor, unique: String) -> Place {
        guard let entity = entities[unique] else { return .missing("There is no entity \(unique)", isStarting: true) }
        if entity.isDisabled { return .off }
        guard let metadata = metadata[entity.id] else {
            return .missing("\(entity.id) has no statistics: it has had no state yet", isStarting: true)
        }
        guard let conversion = UnitConversion(from: sensor.unit, to: metadata.unit) else {
            return .missing("\(entity.id) has the unit \(metadata.unit ?? "none")", isStarting: false)
        }
        return .here(
            unique: unique, target: StatisticTarget(entity: entity.id, metadata: metadata), conversion: conversion)
    }
}
