public import Vitals

/// A conversation with a connected device. Each operation waits for the device's answer.
///
/// Calls of several tasks may overlap; a driver whose device takes one request at a time queues them. An operation that
/// the device's capabilities do not name is not called; its default throws `unsupported`. An operation whose task is
/// cancelled ends, and leaves the session and the other calls as they are. The gateway limits how long each operation may
/// take (`DeviceTimeouts`) and closes the session when the time is over.
public protocol DeviceSession: Sendable {
    /// Who the device is and what it can do, as learnt while the session was opened.
    var description: DeviceDescription { get }

    /// Waits for what the device sends by itself, and returns all of it that is waiting. `nil` when nothing more can
    /// come. One task calls it at a time; while it is not called, the driver stops reading from the device as soon as its
    /// inbox is full (`EventInbox` does this).
    func nextEvents() async throws(DeviceError) -> [DeviceEvent]?

    /// Tells the device that samples which it sent with a receipt are durable (`nil`), or why each was refused.
    func settle(_ receipts: [(receipt: SampleReceipt, refusal: DeviceError?)]) async throws(DeviceError)

    /// Reads one page of a metric's history.
    func history(_ request: HistoryRequest) async throws(DeviceError) -> HistoryPage

    /// Tells the device that everything of `metric` up to and including the start `through` is durable: it may forget it.
    func acknowledgeHistory(of metric: Metric, through: Timestamp) async throws(DeviceError)

    /// Reads the device's own summaries of local days. Only with the ability `summary`.
    func summaries(of metric: Metric, days: ClosedRange<LocalDay>) async throws(DeviceError) -> [DailySummary]

    /// Reads how the device monitors a metric.
    func monitorConfiguration(of metric: Metric) async throws(DeviceError) -> MonitorConfiguration

    /// Tells the device how to monitor a metric. Parts that are `nil` stay as they are.
    func setMonitorConfiguration(_ configuration: MonitorConfiguration, of metric: Metric) async throws(DeviceError)

    /// Starts a measurement, and returns when the device took it up. Its samples and its end come as events.
    func startMeasurement(of metric: Metric, duration: Duration) async throws(DeviceError) -> MeasurementID

    /// Stops a measurement. Its end comes as an event, too.
    func stopMeasurement(_ measurement: MeasurementID) async throws(DeviceError)

    /// Sets the device's clock, with the local offset from UTC in minutes.
    func setClock(_ now: Timestamp, utcOffset: Int) async throws(DeviceError)

    /// Asks whether the device still answers. The gateway calls it when nothing was received for a while.
    func ping() async throws(DeviceError)

    /// Says goodbye, before the gateway closes the link for good. It must not take long.
    func shutdown() async
}

extension DeviceSession {
    /// Does nothing: the device asked for no receipts.
    public func settle(_ receipts: [(receipt: SampleReceipt, refusal: DeviceError?)]) async throws(DeviceError) {}
    /// Throws `unsupported`.
    public func history(_ request: HistoryRequest) async throws(DeviceError) -> HistoryPage {
        throw .unsupported("reading the history of \(request.metric.rawValue)")
    }
    /// Does nothing: the device keeps its history anyway.
    public func acknowledgeHistory(of metric: Metric, through: Timestamp) async throws(DeviceError) {}
    /// Throws `unsupported`.
    public func summaries(
        of metric: Metric, days: ClosedRange<LocalDay>
    ) async throws(DeviceError) -> [DailySummary] {
        throw .unsupported("daily summaries of \(metric.rawValue)")
    }
    /// Throws `unsupported`.
    public func monitorConfiguration(of metric: Metric) async throws(DeviceError) -> MonitorConfiguration {
        throw .unsupported("reading the monitoring of \(metric.rawValue)")
    }
    /// Throws `unsupported`.
    public func setMonitorConfiguration(
        _ configuration: MonitorConfiguration, of metric: Metric
    ) async throws(DeviceError) {
        throw .unsupported("monitoring of \(metric.rawValue)")
    }
    /// Throws `unsupported`.
    public func startMeasurement(of metric: Metric, duration: Duration) async throws(DeviceError) -> MeasurementID {
        throw .unsupported("measuring \(metric.rawValue)")
    }
    /// Does nothing.
    public func stopMeasurement(_ measurement: MeasurementID) async throws(DeviceError) {}
    /// Throws `unsupported`.
    public func setClock(_ now: Timestamp, utcOffset: Int) async throws(DeviceError) {
        throw .unsupported("setting the clock")
    }
    /// Does nothing: the link itself notices that the device is gone.
    public func ping() async throws(DeviceError) {}
    /// Does nothing.
    public func shutdown() async {}
}
