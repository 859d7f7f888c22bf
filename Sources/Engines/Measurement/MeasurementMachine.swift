package import GatewayKit
package import Vitals

/// Runs at most one measurement at a time: from the command, or from the gateway's own schedule, to its end.
package struct MeasurementMachine: Sendable {
    /// Who asked for a measurement.
    package enum Origin: Sendable, Hashable {
        /// Somebody, by the command with this key.
        case command(String)
        /// The gateway itself, for a device that does not monitor the metric by itself.
        case schedule
    }

    /// What happens. An attempt's number comes from the action that it answers, so that a late answer of an earlier
    /// attempt is not taken for one of this.
    package enum Event: Sendable {
        case start(Metric, duration: Duration, origin: Origin)
        /// The device took the measurement up.
        case started(MeasurementID, attempt: Int)
        /// The device refused it, or did not answer.
        case refused(DeviceError, attempt: Int)
        case sample(MeasurementID, StoredSample)
        case ended(MeasurementID, completed: Bool, error: DeviceError?)
        /// Somebody wants it stopped; a metric means only a measurement of that metric.
        case stop(Metric?)
        /// The device did not say that it ended, long after it should have.
        case overdue(attempt: Int)
        /// The session is over.
        case disconnected
    }

    package enum Action: Sendable, Hashable {
        case start(Metric, Duration, attempt: Int)
        case stop(MeasurementID)
        /// Say `overdue` after this time.
        case await(Duration, attempt: Int)
        case publish(MeasureState)
        /// The command with this key is answered for good.
        case answer(String, Answer)
    }

    /// How long after its duration a measurement may take to end before it counts as failed.
    package static let grace: Duration = .seconds(30)
    /// How long a measurement of blood pressure may take before that, however short it was asked for: a cuff has to be
    /// inflated and deflated.
    package static let pressureTime: Duration = .seconds(60)

    private struct Wanted: Sendable {
        var metric: Metric
        var duration: Duration
        var origin: Origin

        /// How long the device may take.
        var time: Duration { metric == .bloodPressure ? max(duration, MeasurementMachine.pressureTime) : duration }
    }

    private struct Running: Sendable {
        var wanted: Wanted
        var attempt: Int
        var startedAt: Timestamp
        var id: MeasurementID?
        var last: StoredSample?
        /// Whether it is being stopped on purpose.
        var isStopping = false
        /// What the device sent before its answer to the start was taken in.
        var early: (id: MeasurementID, last: StoredSample?, end: Event?)?
    }
    private var running: Running?
    /// The command's measurement that begins when the gateway's own, which it interrupts, has ended.
    private var next: Wanted?
    /// The gateway's own measurements that wait for their turn, each metric once.
    private var waiting: [Wanted] = []
    private var attempts = 0

    package init() {}

    /// The metric that is being measured.
    package var metric: Metric? { running?.wanted.metric }
    /// Whether a command's measurement cannot be taken on now.
    package var isBusy: Bool { running.map { $0.wanted.origin != .schedule || next != nil } ?? false }
    /// Whether this is the gateway's own measurement, by its schedule.
    package func isScheduled(_ id: MeasurementID) -> Bool {
        guard let running, running.wanted.origin == .schedule else { return false }
        return (running.id ?? running.early?.id ?? id) == id
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
            // What else a device measures on the way is kept, but is not what was asked for.
            guard var current = running, isOf(current, id), stored.sample.metric == current.wanted.metric else {
                return []
            }
            if current.id == nil {
                current.early = (id, stored, nil)
            } else {
                current.last = stored
            }
            running = current
            return current.id == nil ? [] : [.publish(state(.measuring, current))]
        case .ended(let id, let completed, let error):
            guard let current = running, isOf(current, id) else { return [] }
            guard current.id != nil else {
                running?.early = (id, current.early.flatMap { $0.id == id ? $0.last : nil }, event)
                return []
            }
            if completed || (current.isStopping && error == nil) { return end(.ended, error: nil, at: now) }
            return end(
                .failed, error: error ?? DeviceError(.failure, "The measurement was interrupted."), at: now)
        case .stop(let metric): return stop(metric)
        case .overdue(let attempt):
            guard let current = running, current.attempt == attempt, let id = current.id else { return [] }
            let error = DeviceError(.timeout, "The device did not say that the measurement ended.")
            return [.stop(id)] + end(.failed, error: error, at: now)
        case .disconnected:
            return end(
                .failed, error: DeviceError(.disconnected, "The device was lost during the measurement."),
                isLost: true, at: now)
        }
    }

    /// Whether what the device says of a measurement is about this one, as far as is known yet.
    private func isOf(_ current: Running, _ id: MeasurementID) -> Bool {
        // Before the answer it may still be an earlier one that speaks: the newest that was heard of counts.
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
        // Somebody's measurement wins over the gateway's own.
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
        current.last = early?.last
        running = current
        let begun: [Action] = [
            .publish(state(.measuring, current)), .await(current.wanted.time + Self.grace, attempt: attempt),
        ]
        if let end = early?.end { return begun + handle(end, at: now) }
        return begun + (current.isStopping ? [.stop(id)] : [])
    }

    private mutating func stop(_ metric: Metric?) -> [Action] {
        var actions: [Action] = []
        if let wanted = next, metric == nil || metric == wanted.metric, case .command(let key) = wanted.origin {
            next = nil
            actions.append(.answer(key, Answer(.done, data: .measurement(nil))))
        }
        waiting.removeAll { metric == nil || metric == $0.metric }
        guard var current = running, metric == nil || metric == current.wanted.metric else { return actions }
        current.isStopping = true
        running = current
        return (current.id.map { [.stop($0)] } ?? []) + actions
    }

    private mutating func end(
        _ phase: MeasureState.Phase, error: DeviceError?, isLost: Bool = false, at now: Timestamp
    ) -> [Action] {
        guard let current = running else { return [] }
        running = nil
        var actions: [Action] = [.publish(state(phase, current, error: error?.message))]
        if case .command(let key) = current.wanted.origin {
            let data = Answer.Data.measurement(current.last)
            actions.append(.answer(key, error.map { Answer($0, data: data) } ?? Answer(.done, data: data)))
        }
        let follower = next ?? waiting.first
        if next == nil, !waiting.isEmpty { waiting.removeFirst() }
        next = nil
        guard isLost else { return actions + (follower.map { start($0, at: now) } ?? []) }
        // What the schedule wanted is not made up for.
        waiting = []
        if case .command(let key) = follower?.origin {
            actions.append(.answer(key, Answer(.failed, code: .offline, message: "The device was lost.")))
        }
        return actions
    }

    private func state(_ phase: MeasureState.Phase, _ running: Running, error: String? = nil) -> MeasureState {
        MeasureState(
            phase: phase, metric: running.wanted.metric, startedAt: running.startedAt,
            reading: running.last?.sample.reading, error: error)
    }
}

extension Answer {
    /// The final answer of a command that a device did not do.
    package init(_ error: DeviceError, data: Data? = nil) {
        self.init(.failed, code: AnswerCode(error), message: error.message, data: data)
    }
}

extension AnswerCode {
    /// How an error of a device is called in an answer.
    package init(_ error: DeviceError) {
        switch error.code {
        case .unsupported: self = .unsupported
        case .busy: self = .busy
        case .invalid: self = .invalid
        case .timeout: self = .timeout
        case .disconnected: self = .offline
        case .notWorn, .lowBattery, .failure: self = .deviceError
        }
    }
}
