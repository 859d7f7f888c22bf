import Concurrency
import GatewayKit
import Synchronization
import Vitals

/// A conversation with a simulated device.
final class SimulatedSession: DeviceSession {
    let description: DeviceDescription
    let device: SimulatedDevice
    let context: SessionContext
    let inbox = EventInbox()
    /// The measurement that was started last, with its start on the steady clock. The device runs one at a time: an older one
    /// that has not begun was stopped.
    private let started = Mutex<(RunningMeasurement, at: Duration)?>(nil)
    private let start = Signal()
    private let isOpen = Mutex(true)

    /// Opens a session with a device.
    init(_ device: SimulatedDevice, context: SessionContext) {
        self.device = device
        self.context = context
        let now = context.clock.now
        description = device.use { state in
            let time = state.time(now)
            state.open(in: context.calendar, at: time)
            let offset = context.calendar.offset(at: time).seconds / 60
            return DeviceDescription(
                identity: state.model.identity(serial: state.serial), capabilities: state.capabilities,
                clock: state.model.hasClock ? DeviceClock(now: time, utcOffset: offset) : nil)
        }
    }

    /// Ends the session: waiting calls end with `error`, or normally, and a running measurement is dropped.
    func close(_ error: DeviceError? = nil) {
        isOpen.withLock { $0 = false }
        device.use { $0.measurement = nil }
        start.wake()
        inbox.finish(error)
    }

    func nextEvents() async throws(DeviceError) -> [DeviceEvent]? { try await inbox.next() }

    func history(_ request: HistoryRequest) async throws(DeviceError) -> HistoryPage {
        try await answer { state, now throws(DeviceError) in try state.page(request, at: now) }
    }

    func acknowledgeHistory(of metric: Metric, through: Timestamp) async throws(DeviceError) {
        try await answer { state, _ throws(DeviceError) in
            guard state.capabilities.supports(.history, metric) else {
                throw .unsupported("the history of \(metric.rawValue)")
            }
            state.acknowledgedThrough[metric] = max(state.acknowledgedThrough[metric] ?? through, through)
        }
    }

    func summaries(
        of metric: Metric, days: ClosedRange<LocalDay>
    ) async throws(DeviceError) -> [DailySummary] {
        let id = context.device
        return try await answer { state, now throws(DeviceError) in
            try state.summaries(of: metric, days: days, device: id, at: now)
        }
    }

    func monitorConfiguration(of metric: Metric) async throws(DeviceError) -> MonitorConfiguration {
        try await answer { state, _ throws(DeviceError) in try state.configuration(of: metric) }
    }

    func setMonitorConfiguration(_ configuration: MonitorConfiguration) async throws(DeviceError) {
        let cleared = try await answer { state, now throws(DeviceError) in
            try state.refuseWrite()
            return try state.configure(configuration, at: now)
        }
        await inbox.send(cleared.map { .alert($0) })
    }

    func startMeasurement(of metric: Metric, duration: Duration) async throws(DeviceError) -> MeasurementID {
        let running = try await answer { state, now throws(DeviceError) in
            try state.start(measuring: metric, for: duration, at: now)
        }
        started.withLock { $0 = (running, context.clock.uptime) }
        start.wake()
        return running.id
    }

    /// Waits for the next measurement; `nil` at the end of the session or of the task.
    func nextMeasurement() async -> (RunningMeasurement, startedAt: Duration)? {
        while isOpen.withLock({ $0 }), !Task.isCancelled {
            let next = started.withLock { started in
                defer { started = nil }
                return started
            }
            if let next { return (next.0, next.at) }
            await start.wait()
        }
        return nil
    }

    func stopMeasurement(_ measurement: MeasurementID) async throws(DeviceError) {
        let wasRunning = try await answer { state, _ throws(DeviceError) in state.stop(measurement) }
        if wasRunning { await inbox.send([.measurementEnded(measurement, completed: false, error: nil)]) }
    }

    func setClock(_ now: Timestamp, utcOffset: Int) async throws(DeviceError) {
        let gatewayNow = context.clock.now
        try await answer { state, _ throws(DeviceError) in
            guard state.model.hasClock else { throw .unsupported("setting the clock") }
            try state.refuseWrite()
            state.skew = now - gatewayNow
        }
    }

    func ping() async throws(DeviceError) { try await answer { _, _ throws(DeviceError) in } }

    /// Lets the device answer, unless the link is gone or the fault `hang` withholds the answer.
    private func answer<Answer: Sendable>(
        _ body: (inout DeviceState, Timestamp) throws(DeviceError) -> Answer
    ) async throws(DeviceError) -> Answer {
        try requireOpen()
        if device.use({ $0.strikes($0.options.faults.hang) }) { try await hang() }
        let now = context.clock.now
        return try device.use { state throws(DeviceError) in try body(&state, state.time(now)) }
    }

    /// Waits until the session ends or the gateway gives up.
    private func hang() async throws(DeviceError) -> Never {
        while true {
            do {
                try await context.clock.sleep(for: .seconds(1))
            } catch {
                throw DeviceError(.timeout, "The simulated device does not answer (fault hang).")
            }
            try requireOpen()
        }
    }

    private func requireOpen() throws(DeviceError) {
        guard isOpen.withLock({ $0 }) else { throw DeviceError(.disconnected, "The session with the device is over.") }
    }
}

extension DeviceState {
    /// The serial number, derived from the seed.
    fileprivate var serial: String {
        "SIM-" + String(wearing.noise.bits(.person, 0) >> 32, radix: 16, uppercase: true)
    }

    /// Throws if the fault `refuse_write` strikes.
    fileprivate mutating func refuseWrite() throws(DeviceError) {
        if strikes(options.faults.refuseWrite) {
            throw DeviceError(.failure, "The simulated device refuses what is written (fault refuse_write).")
        }
    }
}
