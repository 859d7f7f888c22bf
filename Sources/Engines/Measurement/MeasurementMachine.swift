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

    package enum Event: Sendable {
        case start(Metric, duration: Duration, origin: Origin)
        /// The device took the measurement up.
        case started(MeasurementID)
        /// The device refused it, or did not answer.
        case refused(DeviceError)
        case sample(MeasurementID, StoredSample)
        case ended(MeasurementID, completed: Bool, error: DeviceError?)
        /// Somebody wants it stopped; a metric means only a measurement of that metric.
        case stop(Metric?)
        /// The device did not say that it ended, long after it should have.
        case overdue
        /// The session is over.
        case disconnected
    }

    package enum Action: Sendable, Hashable {
        case start(Metric, Duration)
        case stop(MeasurementID)
        /// Ask for `overdue` at this moment.
        case await(until: Timestamp)
        case publish(MeasureState)
        /// The command with this key is answered for good.
        case answer(String, Answer)
    }

    /// How long after its duration a measurement may take to end before it counts as failed.
    package static let grace: Duration = .seconds(30)

    private struct Running: Sendable {
        var metric: Metric
        var duration: Duration
        var origin: Origin
        var startedAt: Timestamp
        var id: MeasurementID?
        var last: StoredSample?
        /// Whether it is being stopped on purpose.
        var isStopping = false
        /// What begins when this one has ended.
        var next: (metric: Metric, duration: Duration, origin: Origin)?
    }
    private var running: Running?

    package init() {}

    /// The metric that is being measured.
    package var metric: Metric? { running?.metric }
    /// Whether the measurement that runs is the gateway's own.
    package var isScheduled: Bool { running?.origin == .schedule }

    package mutating func handle(_ event: Event, at now: Timestamp) -> [Action] {
        switch event {
        case .start(let metric, let duration, let origin): return start(metric, duration, origin, at: now)
        case .started(let id):
            guard var current = running, current.id == nil else { return [] }
            current.id = id
            running = current
            var actions: [Action] = [
                .publish(state(.measuring, current)), .await(until: now + current.duration + Self.grace),
            ]
            if current.isStopping { actions.append(.stop(id)) }
            return actions
        case .refused(let error): return end(.failed, error: error, at: now)
        case .sample(let id, let stored):
            guard var current = running, current.id == id else { return [] }
            current.last = stored
            running = current
            return [.publish(state(.measuring, current))]
        case .ended(let id, let completed, let error):
            guard let current = running, current.id == id else { return [] }
            if completed || (current.isStopping && error == nil) { return end(.ended, error: nil, at: now) }
            return end(
                .failed, error: error ?? DeviceError(.failure, "The measurement was interrupted."), at: now)
        case .stop(let metric): return stop(metric)
        case .overdue:
            guard let current = running, now >= current.startedAt + current.duration + Self.grace else { return [] }
            let error = DeviceError(.timeout, "The device did not say that the measurement ended.")
            return (current.id.map { [.stop($0)] } ?? []) + end(.failed, error: error, at: now)
        case .disconnected:
            return end(
                .failed, error: DeviceError(.disconnected, "The device was lost during the measurement."), at: now)
        }
    }

    private mutating func start(
        _ metric: Metric, _ duration: Duration, _ origin: Origin, at now: Timestamp
    ) -> [Action] {
        guard var current = running else {
            let new = Running(metric: metric, duration: duration, origin: origin, startedAt: now)
            running = new
            return [.start(metric, duration), .publish(state(.starting, new))]
        }
        guard case .command(let key) = origin else { return [] }
        guard current.origin == .schedule, current.next == nil else {
            let answer = Answer(
                .rejected, code: .busy,
                message: "A measurement of \(current.metric.rawValue) is running; stop it first or wait for its end.")
            return [.answer(key, answer)]
        }
        // Somebody's measurement wins over the gateway's own.
        current.next = (metric, duration, origin)
        current.isStopping = true
        running = current
        return current.id.map { [.stop($0)] } ?? []
    }

    private mutating func stop(_ metric: Metric?) -> [Action] {
        guard var current = running, metric == nil || metric == current.metric else { return [] }
        current.isStopping = true
        running = current
        return current.id.map { [.stop($0)] } ?? []
    }

    private mutating func end(_ phase: MeasureState.Phase, error: DeviceError?, at now: Timestamp) -> [Action] {
        guard let current = running else { return [] }
        running = nil
        var actions: [Action] = [.publish(state(phase, current, error: error?.message))]
        if case .command(let key) = current.origin {
            let data = Answer.Data.measurement(current.last)
            actions.append(
                .answer(key, error.map { Answer($0, data: data) } ?? Answer(.done, data: data)))
        }
        if let next = current.next {
            if error?.code == .disconnected || error?.code == .timeout, case .command(let key) = next.origin {
                actions.append(.answer(key, Answer(.failed, code: .offline, message: "The device was lost.")))
            } else {
                actions += start(next.metric, next.duration, next.origin, at: now)
            }
        }
        return actions
    }

    private func state(_ phase: MeasureState.Phase, _ running: Running, error: String? = nil) -> MeasureState {
        MeasureState(
            phase: phase, metric: running.metric, startedAt: running.startedAt, reading: running.last?.sample.reading,
            error: error)
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
