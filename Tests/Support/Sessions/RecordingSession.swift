package import Conformance
package import GatewayKit
import Synchronization
package import Vitals

/// A session with a real or simulated device that a test can also control: it can send events and fall silent, and it
/// records the gateway's messages to the device. Everything else passes to the device.
package final class RecordingSession: DeviceSession {
    /// The gateway's messages to the device.
    package let deviceCalls = Recorder<DriverConformance.DeviceCall>()
    private let session: any DeviceSession
    private let inbox = EventInbox()
    private let silence = Mutex(false)
    /// Never gets an element: a call that waits for it stays unanswered.
    private let answers = Recorder<Never>()

    /// Creates a session for the device of `session`. The test must run it.
    package init(_ session: any DeviceSession) { self.session = session }

    /// Forwards the device's events until they end or the task is cancelled.
    package func run() async {
        do {
            while let events = try await session.nextEvents() { await inbox.send(events) }
            inbox.finish()
        } catch {
            inbox.finish(error)
        }
    }

    /// Sends events in the name of the device.
    package func send(_ events: [DeviceEvent]) async { await inbox.send(events) }

    /// Stops answering: calls wait until they are cancelled.
    package func fallSilent() { silence.withLock { $0 = true } }

    private func speak() async throws(DeviceError) {
        guard silence.withLock({ $0 }) else { return }
        _ = try? await answers.wait { _ in false }
        throw DeviceError(.disconnected, "The device says nothing.")
    }
}

extension RecordingSession {
    /// The device's description.
    package var description: DeviceDescription { session.description }

    /// The events of the device and the test.
    package func nextEvents() async throws(DeviceError) -> [DeviceEvent]? { try await inbox.next() }

    /// Records the message.
    package func settle(_ receipts: [SettledReceipt]) async throws(DeviceError) {
        try await speak()
        for settled in receipts {
            deviceCalls.append(.settled(settled.receipt.mark, isDurable: settled.refusal == nil))
        }
    }

    /// Passes the request to the device.
    package func history(_ request: HistoryRequest) async throws(DeviceError) -> HistoryPage {
        try await speak()
        return try await session.history(request)
    }

    /// Passes the message to the device, and records it.
    package func acknowledgeHistory(of metric: Metric, through: Timestamp) async throws(DeviceError) {
        try await speak()
        try await session.acknowledgeHistory(of: metric, through: through)
        deviceCalls.append(.acknowledged(metric, through: through))
    }

    /// Passes the request to the device.
    package func summaries(
        of metric: Metric, days: ClosedRange<LocalDay>
    ) async throws(DeviceError) -> [DailySummary] {
        try await speak()
        return try await session.summaries(of: metric, days: days)
    }

    /// Passes the request to the device.
    package func monitorConfiguration(of metric: Metric) async throws(DeviceError) -> MonitorConfiguration {
        try await speak()
        return try await session.monitorConfiguration(of: metric)
    }

    /// Passes the message to the device.
    package func setMonitorConfiguration(_ configuration: MonitorConfiguration) async throws(DeviceError) {
        try await speak()
        try await session.setMonitorConfiguration(configuration)
    }

    /// Passes the request to the device.
    package func startMeasurement(of metric: Metric, duration: Duration) async throws(DeviceError) -> MeasurementID {
        try await speak()
        return try await session.startMeasurement(of: metric, duration: duration)
    }

    /// Passes the message to the device.
    package func stopMeasurement(_ measurement: MeasurementID) async throws(DeviceError) {
        try await speak()
        try await session.stopMeasurement(measurement)
    }

    /// Passes the message to the device, and records it.
    package func setClock(_ now: Timestamp, utcOffset: Int) async throws(DeviceError) {
        try await speak()
        try await session.setClock(now, utcOffset: utcOffset)
        deviceCalls.append(.clock(now, utcOffset: utcOffset))
    }

    /// Passes the request to the device.
    package func ping() async throws(DeviceError) {
        try await speak()
        try await session.ping()
    }

    /// Passes the request to the device.
    package func signalStrength() async -> Int? { await session.signalStrength() }

    /// Passes the message to the device, and records it.
    package func shutdown() async {
        guard (try? await speak()) != nil else { return }
        await session.shutdown()
        deviceCalls.append(.disconnect)
    }
}
