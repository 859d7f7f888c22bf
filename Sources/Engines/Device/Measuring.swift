import GatewayKit
import Logging
package import Vitals

/// Measurements on demand and on the gateway's schedule.
final class Measuring {
    private let context: DeviceContext
    private let profile: DeviceProfile
    private var machine = MeasurementMachine()
    private var schedule = MeasurementSchedule()
    /// When the running measurement is overdue, by the monotonic clock.
    private var deadline: (at: Duration, attempt: Int)?
    private let ingest: SampleIngest
    private let answers: AnswerQueue
    private let link: DeviceConnection

    init(
        context: DeviceContext, profile: DeviceProfile, ingest: SampleIngest, answers: AnswerQueue,
        link: DeviceConnection
    ) {
        self.context = context
        self.profile = profile
        self.ingest = ingest
        self.answers = answers
        self.link = link
    }

    // MARK: - Events

    /// Starts a measurement for a command, after answering `accepted`.
    func start(_ metric: Metric, _ duration: Duration, for key: String) async {
        if !machine.isBusy { await answers.send(key, Answer(.accepted)) }
        await handle(.start(metric, duration: duration, origin: .command(key)))
    }

    /// Stops the running measurement for a command, which is answered when the measurement has ended; a metric
    /// restricts it to measurements of that metric.
    func stop(_ metric: Metric?, for key: String) async {
        await handle(.stop(metric, key: key))
    }

    /// Starts scheduled measurements that the device does not make itself, and gives up an overdue one.
    func runDueWork(_ settings: MonitorSettings) async {
        let now = context.clock.now
        if let deadline, deadline.at <= context.clock.uptime {
            self.deadline = nil
            await handle(.overdue(attempt: deadline.attempt))
        }
        guard let capabilities = profile.capabilities else { return }
        let due = schedule.due(settings, capabilities: capabilities, calendar: context.policy.calendar, at: now)
        for metric in due {
            await handle(.start(metric, duration: MeasurementSchedule.duration, origin: .schedule))
        }
    }

    /// Stores a sample of the running measurement. It is user-initiated if a command asked for it, automatic if the
    /// gateway's schedule did. What the device says does not count.
    func receive(_ sample: Sample, of measurement: MeasurementID) async throws {
        var sample = sample
        let origin = machine.origin(of: measurement)
        if let origin { sample.isUserInitiated = origin != .schedule }
        let source: SampleSource = origin == .schedule ? .live : .measure
        guard let stored = try await ingest.storeMeasured(sample, source: source) else {
            return await handle(.readingRefused(measurement))
        }
        await handle(.sample(measurement, stored))
    }

    /// Counts a sample that cannot be read, in its measurement and for the gap of its metric.
    func refuse(_ sample: UnreadableSample) async {
        let wanted = sample.measurement.flatMap { machine.metric(of: $0) }
        ingest.refuse(sample, of: sample.metric ?? wanted)
        if let measurement = sample.measurement { await handle(.readingRefused(measurement)) }
    }

    /// A reading failed; the measurement continues.
    func fail(_ error: DeviceError, of measurement: MeasurementID) async {
        await handle(.readingFailed(measurement, error))
    }

    /// The device ended a measurement.
    func end(_ measurement: MeasurementID, completed: Bool, error: DeviceError?) async {
        await handle(.ended(measurement, completed: completed, error: error))
    }

    /// The session ended.
    func disconnect() async {
        deadline = nil
        await handle(.disconnected)
    }

    // MARK: - Actions

    private func handle(_ event: MeasurementMachine.Event) async {
        await perform(machine.handle(event, at: context.clock.now))
    }

    /// Performs what the machine decides. Tasks of the session call the device, so that the receiver of its events
    /// never waits for it.
    private func perform(_ actions: [MeasurementMachine.Action]) async {
        var actions = actions
        var given: [(key: String, answer: Answer)] = []
        var order = MeasurementOrder(stops: [])
        while !actions.isEmpty {
            switch actions.removeFirst() {
            case .publish(let state): context.publish(.measure(state))
            // Given last: writing an answer suspends, and decisions made meanwhile must not come between these actions.
            case .answer(let key, let answer): given.append((key, answer))
            case .start(let metric, let duration, let attempt):
                // The device runs one at a time: stop the old one first.
                let whole = MeasurementOrder(stops: order.stops, start: (metric, duration, attempt))
                if let error = link.handOver(.measurement(whole)) {
                    actions += machine.handle(.refused(error, attempt: attempt), at: context.clock.now)
                } else {
                    order.stops = []
                }
            case .stop(let measurement): order.stops.append(measurement)
            case .await(let duration, let attempt): deadline = (context.clock.uptime + duration, attempt)
            }
        }
        var refused: [MeasurementMachine.Event] = []
        if !order.stops.isEmpty, let error = link.handOver(.measurement(order)), !error.endsSession {
            refused = order.stops.map { .stopRefused($0, error) }
        }
        for (key, answer) in given { await answers.send(key, answer) }
        for event in refused { await handle(event) }
    }

    /// Stops and starts measurements on the device.
    func carryOut(_ order: MeasurementOrder, on channel: DeviceChannel) async {
        for measurement in order.stops { await stop(measurement, on: channel) }
        if let (metric, duration, attempt) = order.start { await begin(metric, duration, attempt, on: channel) }
    }

    private func begin(_ metric: Metric, _ duration: Duration, _ attempt: Int, on channel: DeviceChannel) async {
        let event: MeasurementMachine.Event
        do throws(DeviceError) {
            let measurement = try await channel.call("measurement/start", DeviceTimeouts.measurementStart) {
                device throws(DeviceError) in try await device.startMeasurement(of: metric, duration: duration)
            }
            event = .started(measurement, attempt: attempt)
        } catch {
            event = .refused(error, attempt: attempt)
        }
        await handle(event)
    }

    private func stop(_ measurement: MeasurementID, on channel: DeviceChannel) async {
        do throws(DeviceError) {
            try await channel.call("measurement/stop") { device throws(DeviceError) in
                try await device.stopMeasurement(measurement)
            }
            await handle(.stopped(measurement))
        } catch {
            context.logger.warning("The measurement cannot be stopped.", metadata: ["error": "\(error)"])
            // If the session ends, so does the measurement.
            if !error.endsSession { await handle(.stopRefused(measurement, error)) }
        }
    }
}

/// When the gateway itself measures: for metrics that a device measures on demand but does not monitor.
package struct MeasurementSchedule: Sendable {
    /// Duration of a scheduled measurement.
    package static let duration: Duration = .seconds(60)

    private var lastSlot: [Metric: Timestamp] = [:]

    package init() {}

    /// The metrics that are due, each once per slot. Slots missed while the device was offline are not made up for.
    package mutating func due(
        _ settings: MonitorSettings, capabilities: Capabilities, calendar: LocalCalendar, at now: Timestamp
    ) -> [Metric] {
        Metric.monitored.filter { metric in
            guard capabilities.supports(.measure, metric), !capabilities.supports(.monitor, metric),
                let schedule = settings[metric]?.schedule, schedule.isEnabled, schedule.interval > 0
            else { return false }
            let minute = calendar.minuteOfDay(now)
            guard minute >= schedule.start, minute < schedule.end else { return false }
            let slot = (minute - schedule.start) / schedule.interval * schedule.interval + schedule.start
            let bounds = calendar.bounds(of: calendar.day(of: now))
            let begin = max(bounds.lowerBound, now - .minutes(minute - slot))
            let key = Timestamp(milliseconds: begin.milliseconds / 60_000 * 60_000)
            guard lastSlot[metric] != key else { return false }
            lastSlot[metric] = key
            // A slot that is first seen after its first minute counts as missed.
            return minute == slot
        }
    }
}
