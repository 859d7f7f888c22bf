package import GatewayKit
package import Vitals

/// Runs at most one measurement at a time, from the command or the gateway's schedule to its end.
package struct MeasurementMachine: Sendable {
    /// The origin of a measurement.
    package enum Origin: Sendable, Hashable {
        /// A user, through the command with this key.
        case command(String)
        /// The gateway's schedule, for a metric that the device does not monitor itself.
        case schedule
    }

    /// `attempt` is the number from the action that the event answers, so that a late answer to an earlier attempt is
    /// not mistaken for one to the current attempt.
    package enum Event: Sendable {
        case start(Metric, duration: Duration, origin: Origin)
        /// The device started the measurement.
        case started(MeasurementID, attempt: Int)
        /// The device refused to start, or did not answer.
        case refused(DeviceError, attempt: Int)
        case sample(MeasurementID, StoredSample)
        /// A reading failed; the measurement continues.
        case readingFailed(MeasurementID, DeviceError)
        /// A reading is impossible and was not stored.
        case readingRefused(MeasurementID)
        case ended(MeasurementID, completed: Bool, error: DeviceError?)
        /// The command with this key asks to stop the measurement; a metric restricts it to measurements of that
        /// metric.
        case stop(Metric?, key: String)
        /// The device confirmed the stop. The end of the measurement follows.
        case stopped(MeasurementID)
        /// The device refused to stop the measurement, which continues.
        case stopRefused(MeasurementID, DeviceError)
        /// The device did not report the end, long after it was due.
        case overdue(attempt: Int)
        /// The session ended.
        case disconnected
    }

    package enum Action: Sendable, Hashable {
        case start(Metric, Duration, attempt: Int)
        case stop(MeasurementID)
        /// Send `overdue` after this time.
        case await(Duration, attempt: Int)
        case publish(MeasureState)
        /// Give the command with this key its final answer.
        case answer(String, Answer)
    }

    /// Grace period after its duration in which a measurement may end before it counts as failed.
    package static let grace: Duration = .seconds(30)
    /// Grace period after a confirmed stop for the measurement to end.
    package static let stopGrace: Duration = .seconds(5)
    /// Minimum time allowed for a blood pressure measurement, before `grace`: the cuff has to inflate and deflate.
    package static let minimumPressureDuration: Duration = .seconds(60)

    private struct Wanted: Sendable {
        var metric: Metric
        var duration: Duration
        var origin: Origin

        /// Time that the device is allowed.
        var time: Duration {
            metric.shape == .pressure ? max(duration, MeasurementMachine.minimumPressureDuration) : duration
        }
    }

    private struct Running: Sendable {
        var wanted: Wanted
        var attempt: Int
        var startedAt: Timestamp
        var id: MeasurementID?
        var readings = Readings()
        /// Whether a stop was requested, and whether the device has confirmed it.
        var isStopping = false
        var isStopConfirmed = false
        /// Keys of the commands that asked for the stop.
        var stopCommandKeys: [String] = []
        /// What the device sent before its answer to the start was handled.
        var early: (id: MeasurementID, readings: Readings, end: Event?)?
    }

    /// Readings so far.
    private struct Readings: Sendable {
        var last: StoredSample?
        /// Number of refused readings.
        var refused = 0
        /// Error of the newest reading, if it failed.
        var failure: DeviceError?

        /// Why there is no sample, if readings failed or were refused.
        var missingReadingError: DeviceError? {
            guard last == nil else { return nil }
            guard failure == nil, refused > 0 else { return failure }
            let what =
                refused == 1
                ? "one reading that is impossible or unreadable"
                : "\(refused) readings that are impossible or unreadable"
            return DeviceError(.failure, "The device sent \(what), and no other.")
        }
    }

    @Indirect private var running: Running?
    /// A command's measurement that waits for the scheduled one, which it interrupts, to end.
    private var next: Wanted?
    /// Scheduled measurements that wait for their turn, each metric once.
    private var waiting: [Wanted] = []
    private var attempts = 0

    package init() {}

    /// Whether a command's measurement would be refused now.
    package var isBusy: Bool { running.map { $0.wanted.origin != .schedule || next != nil } ?? false }
    /// The origin of the running measurement; `nil` if `id` names another one.
    package func origin(of id: MeasurementID) -> Origin? { wanted(by: id)?.origin }

    /// The metric of the running measurement, if it is this one.
    package func metric(of id: MeasurementID) -> Metric? { wanted(by: id)?.metric }

    private func wanted(by id: MeasurementID) -> Wanted? {
        guard let running, (running.id ?? running.early?.id ?? id) == id else { return nil }
        return running.wanted
    }

    package mutating func handle(_ event: Event, at now: Timestamp) -> [Action] {
        switch event {
        case .start(let metric, let duration, let origin):
            return start(Wanted(metric: metric, duration: duration, origin: origin), at: now)
        case .started(let id, let attempt): return started(id, attempt: attempt, at: now)
        case .refused(let error, let attempt):
            guard running?.attempt == attempt else { return [] }
            return end(
                .failed, error: error, isLost: error.code == .disconnected || error.code == .timeout, at: now)
        case .sample(let id, let stored):
            // Other metrics that the device measures on the way are stored, but were not asked for.
            guard stored.sample.metric == running?.wanted.metric else { return [] }
            return read(id) { readings in
                readings.last = stored
                readings.failure = nil
            }
        case .readingFailed(let id, let error): return read(id) { $0.failure = error }
        case .readingRefused(let id): return read(id) { $0.refused += 1 }
        case .ended(let id, let completed, let error):
            guard let current = running, isOf(current, id) else { return [] }
            guard current.id != nil else {
                running?.early = (id, current.early.flatMap { $0.id == id ? $0.readings : nil } ?? Readings(), event)
                return []
            }
            if completed || (current.isStopping && error == nil) { return end(current.readings, at: now) }
            return end(
                .failed, error: error ?? DeviceError(.failure, "The measurement was interrupted."), at: now)
        case .stop(let metric, let key): return stop(metric, key: key)
        case .stopped(let id):
            guard let current = running, current.id == id, current.isStopping else { return [] }
            running?.isStopConfirmed = true
            return [.await(Self.stopGrace, attempt: current.attempt)]
        case .stopRefused(let id, let error):
            guard let current = running, current.id == id else { return [] }
            running?.isStopping = false
            running?.stopCommandKeys = []
            return current.stopCommandKeys.map { .answer($0, Answer(error)) }
        case .overdue(let attempt):
            guard let current = running, current.attempt == attempt, let id = current.id else { return [] }
            if current.isStopConfirmed { return end(current.readings, at: now) }
            let error = DeviceError(.timeout, "The device did not report the end of the measurement.")
            return [.stop(id)] + end(.failed, error: error, isUnknown: true, at: now)
        case .disconnected:
            return end(
                .failed, error: DeviceError(.disconnected, "The device was lost during the measurement."),
                isLost: true, at: now)
        }
    }

    /// Applies a successful, failed or refused reading.
    private mutating func read(_ id: MeasurementID, _ change: (inout Readings) -> Void) -> [Action] {
        guard var current = running, isOf(current, id) else { return [] }
        if current.id == nil {
            var early = current.early.flatMap { $0.id == id ? $0 : nil } ?? (id: id, readings: Readings(), end: nil)
            change(&early.readings)
            current.early = early
            running = current
            return []
        }
        change(&current.readings)
        running = current
        return [.publish(state(.measuring, current))]
    }

    /// Whether an event of this id belongs to the running measurement, as far as is known yet.
    private func isOf(_ current: Running, _ id: MeasurementID) -> Bool {
        // Before the answer to the start, events may still come from an earlier measurement: the newest id wins.
        current.id.map { $0 == id } ?? true
    }

    private mutating func start(_ wanted: Wanted, at now: Timestamp) -> [Action] {
        guard var current = running else {
            attempts += 1
            let new = Running(wanted: wanted, attempt: attempts, startedAt: now)
            running = new
            return [.start(wanted.metric, wanted.duration, attempt: new.attempt), .publish(state(.starting, new))]
        }
        guard case .command(let key) = wanted.origin else {
            if !waiting.contains(where: { $0.metric == wanted.metric }) { waiting.append(wanted) }
            return []
        }
        guard !isBusy else {
            let name = current.wanted.metric.rawValue
            let message = "A measurement of \(name) is running; stop it first or wait for its end."
            return [.answer(key, Answer(.rejected, code: .busy, message: message))]
        }
        // A command's measurement interrupts a scheduled one.
        next = wanted
        current.isStopping = true
        running = current
        return current.id.map { [.stop($0)] } ?? []
    }

    private mutating func started(_ id: MeasurementID, attempt: Int, at now: Timestamp) -> [Action] {
        guard var current = running, current.attempt == attempt, current.id == nil else { return [] }
        let early = current.early.flatMap { $0.id == id ? $0 : nil }
        current.id = id
        current.early = nil
        current.readings = early?.readings ?? Readings()
        running = current
        let begun: [Action] = [
            .publish(state(.measuring, current)), .await(current.wanted.time + Self.grace, attempt: attempt),
        ]
        if let end = early?.end { return begun + handle(end, at: now) }
        return begun + (current.isStopping ? [.stop(id)] : [])
    }

    private mutating func stop(_ metric: Metric?, key: String) -> [Action] {
        var actions: [Action] = []
        if let wanted = next, metric == nil || metric == wanted.metric, case .command(let key) = wanted.origin {
            next = nil
            actions.append(.answer(key, Answer(.done, data: .measurement(nil))))
        }
        waiting.removeAll { metric == nil || metric == $0.metric }
        guard var current = running, metric == nil || metric == current.wanted.metric else {
            return actions + [.answer(key, Answer(.done))]
        }
        if !current.isStopping, let id = current.id { actions.insert(.stop(id), at: 0) }
        current.isStopping = true
        current.stopCommandKeys.append(key)
        running = current
        return actions
    }

    /// Ends as the device reported or as it was ordered. Without any good reading, the measurement has failed.
    private mutating func end(_ readings: Readings, at now: Timestamp) -> [Action] {
        let error = readings.missingReadingError
        return end(error == nil ? .ended : .failed, error: error, at: now)
    }

    /// - Parameter isUnknown: whether the device may still be measuring.
    private mutating func end(
        _ phase: MeasureState.Phase, error: DeviceError?, isLost: Bool = false, isUnknown: Bool = false,
        at now: Timestamp
    ) -> [Action] {
        guard let current = running else { return [] }
        running = nil
        var actions: [Action] = [.publish(state(phase, current, error: error?.message))]
        if case .command(let key) = current.wanted.origin {
            let data = Answer.Data.measurement(current.readings.last)
            actions.append(.answer(key, error.map { Answer($0, data: data) } ?? Answer(.done, data: data)))
        }
        // However it ended, the measurement no longer runs, unless the connection was lost or the device timed out.
        let stopped = error.flatMap { isLost || isUnknown ? Answer($0) : nil } ?? Answer(.done)
        for key in current.stopCommandKeys { actions.append(.answer(key, stopped)) }
        let follower = next ?? waiting.first
        if next == nil, !waiting.isEmpty { waiting.removeFirst() }
        next = nil
        guard isLost else { return actions + (follower.map { start($0, at: now) } ?? []) }
        // Missed scheduled measurements are not made up for.
        waiting = []
        if case .command(let key) = follower?.origin {
            actions.append(.answer(key, Answer(.failed, code: .offline, message: "The device was lost.")))
        }
        return actions
    }

    private func state(_ phase: MeasureState.Phase, _ running: Running, error: String? = nil) -> MeasureState {
        MeasureState(
            phase: phase, metric: running.wanted.metric, startedAt: running.startedAt,
            newest: running.readings.last?.sample, refused: running.readings.refused,
            error: error ?? (phase == .measuring ? running.readings.failure?.message : nil))
    }
}
