package import GatewayKit
import Synchronization
package import Vitals

/// A session with a device that also does what a test wants from outside: it sends events, falls silent, and keeps what it
/// was told. Everything else is the device's.
package final class StagedSession: DeviceSession {
    /// What the device was told.
    package let told = Recorder<DriverConformance.Told>()
    private let session: any DeviceSession
    private let inbox = EventInbox()
    private let silence = Mutex(false)
    /// Nothing is ever recorded here: who waits for it is not answered.
    private let answers = Recorder<Never>()

    /// A stage for the device of `session`. It is run beside what is tested.
    package init(_ session: any DeviceSession) { self.session = session }

    /// Passes on what the device sends by itself, until that ends or the task is cancelled.
    package func run() async {
        do {
            while let events = try await session.nextEvents() { await inbox.send(events) }
            inbox.finish()
        } catch {
            inbox.finish(error)
        }
    }

    /// Sends events, as if the device did it by itself.
    package func send(_ events: [DeviceEvent]) async { await inbox.send(events) }

    /// Answers nothing more. Calls wait until they are cancelled.
    package func fallSilent() { silence.withLock { $0 = true } }

    private func speak() async throws(DeviceError) {
        guard silence.withLock({ $0 }) else { return }
        _ = try? await answers.wait { _ in false }
        throw DeviceError(.disconnected, "The device says nothing.")
    }
}

extension StagedSession {
    /// The device's.
    package var description: DeviceDescription { session.description }

    /// What the device or the test sends.
    package func nextEvents() async throws(DeviceError) -> [DeviceEvent]? { try await inbox.next() }

    /// Recorded.
    package func settle(_ receipts: [(receipt: SampleReceipt, refusal: DeviceError?)]) async throws(DeviceError) {
        try await speak()
        for (receipt, refusal) in receipts { told.append(.settled(receipt.mark, isDurable: refusal == nil)) }
    }

    /// Asked of the device.
    package func history(_ request: HistoryRequest) async throws(DeviceError) -> HistoryPage {
        try await speak()
        return try await session.history(request)
    }

    /// Told to the device, and recorded.
    package func acknowledgeHistory(of metric: Metric, through: Timestamp) async throws(DeviceError) {
        try await speak()
        try await session.acknowledgeHistory(of: metric, through: through)
        told.append(.acknowledged(metric, through: through))
    }

    /// Asked of the device.
    package func summaries(
        of metric: Metric, days: ClosedRange<LocalDay>
    ) async throws(DeviceError) -> [DailySummary] {
        try await speak()
        return try await session.summaries(of: metric, days: days)
    }

    /// Asked of the device.
    package func monitorConfiguration(of metric: Metric) async throws(DeviceError) -> MonitorConfiguration {
        try await speak()
        return try await session.monitorConfiguration(of: metric)
    }

    /// Told to the device.
    package func setMonitorConfiguration(
        _ configuration: MonitorConfiguration, of metric: Metric
    ) async throws(DeviceError) {
        try await speak()
        try await session.setMonitorConfiguration(configuration, of: metric)
    }

    /// Asked of the device.
    package func startMeasurement(of metric: Metric, duration: Duration) async throws(DeviceError) -> MeasurementID {
        try await speak()
        return try await session.startMeasurement(of: metric, duration: duration)
    }

    /// Told to the device.
    package func stopMeasurement(_ measurement: MeasurementID) async throws(DeviceError) {
        try await speak()
        try await session.stopMeasurement(measurement)
    }

    /// Told to the device, and recorded.
    package func setClock(_ now: Timestamp, utcOffset: Int) async throws(DeviceError) {
        try await speak()
        try await session.setClock(now, utcOffset: utcOffset)
        told.append(.clock(now, utcOffset: utcOffset))
    }

    /// Asked of the device.
    package func ping() async throws(DeviceError) {
        try await speak()
        try await session.ping()
    }

    /// Told to the device, and recorded.
    package func shutdown() async {
        guard (try? await speak()) != nil else { return }
        await session.shutdown()
        told.append(.goodbye)
    }
}
