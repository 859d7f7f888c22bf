public import Vitals

/// A conversation with a connected device. Each operation waits for the device's answer.
///
/// Calls from several tasks may overlap; a driver whose device takes one request at a time queues them. The gateway
/// calls only the operations that the device's capabilities name; the defaults of the others throw `unsupported`. An
/// operation whose task is cancelled ends without affecting the session or other calls. The gateway limits the duration
/// of each operation (`DeviceTimeouts`) and closes the session when that time is over.
public protocol DeviceSession: Sendable {
    /// The device's identity and capabilities, as read when the session was opened.
    var description: DeviceDescription { get }

    /// Waits for events of the device, and returns all that are waiting; `nil` when no more can come. One task calls it
    /// at a time. Between calls, the driver stops reading from the device once its inbox is full (`EventInbox` does
    /// this).
    func nextEvents() async throws(DeviceError) -> [DeviceEvent]?

    /// Reports to the device what became of samples with a receipt: they are durable, or refused for a reason.
    func settle(_ receipts: [SettledReceipt]) async throws(DeviceError)

    /// Reads one page of a metric's history.
    func history(_ request: HistoryRequest) async throws(DeviceError) -> HistoryPage

    /// Lets the device know that it may forget every record of `metric` that starts at or before `through`: all are
    /// durable.
    func acknowledgeHistory(of metric: Metric, through: Timestamp) async throws(DeviceError)

    /// Reads the device's own summaries of local days. Needs the ability `summary`.
    func summaries(of metric: Metric, days: ClosedRange<LocalDay>) async throws(DeviceError) -> [DailySummary]

    /// Reads the monitoring configuration of a metric.
    func monitorConfiguration(of metric: Metric) async throws(DeviceError) -> MonitorConfiguration

    /// Writes the monitoring configuration of a metric. Absent parts stay unchanged.
    func setMonitorConfiguration(_ configuration: MonitorConfiguration) async throws(DeviceError)

    /// Starts a measurement, and returns when the device has accepted it. Its samples and its end come as events.
    func startMeasurement(of metric: Metric, duration: Duration) async throws(DeviceError) -> MeasurementID

    /// Stops a measurement, and returns when the device has accepted that. Its end comes as an event within five
    /// seconds.
    func stopMeasurement(_ measurement: MeasurementID) async throws(DeviceError)

    /// Sets the device's clock, with the local offset from UTC in minutes.
    func setClock(_ now: Timestamp, utcOffset: Int) async throws(DeviceError)

    /// Checks whether the device still answers. The gateway calls it after a period without input
    /// (`DeviceTimeouts.idle`).
    func ping() async throws(DeviceError)

    /// The strength of the radio signal in dBm, `nil` if unknown. The gateway asks about once a minute; a driver over
    /// GATT passes the question to its link.
    func signalStrength() async -> Int?

    /// Disconnects gracefully before the gateway closes the link for good. It must be quick
    /// (`DeviceTimeouts.shutdown`).
    func shutdown() async
}

extension DeviceSession {
    /// Does nothing: the device requested no receipts.
    public func settle(_ receipts: [SettledReceipt]) async throws(DeviceError) {}
    /// Throws `unsupported`.
    public func history(_ request: HistoryRequest) async throws(DeviceError) -> HistoryPage {
        throw .unsupported("reading the history of \(request.metric.rawValue)")
    }
    /// Does nothing: the device keeps its history regardless.
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
    public func setMonitorConfiguration(_ configuration: MonitorConfiguration) async throws(DeviceError) {
        throw .unsupported("monitoring of \(configuration.metric.rawValue)")
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
    /// Does nothing: the link itself detects the loss of the device.
    public func ping() async throws(DeviceError) {}
    /// Unknown: returns `nil`.
    public func signalStrength() async -> Int? { nil }
    /// Does nothing.
    public func shutdown() async {}
}

/// How long the gateway waits for a device's answer before it closes the session and reopens it.
public enum DeviceTimeouts {
    /// The limit of any operation not named below.
    public static let call: Duration = .seconds(30)
    /// The limit of a page of history: slow devices have to collect it first.
    public static let history: Duration = .seconds(60)
    /// The limit of starting a measurement: the device may have to wake its sensor.
    public static let measurementStart: Duration = .seconds(60)
    /// The time without input after which the gateway pings the device.
    public static let idle: Duration = .seconds(30)
    /// The limit of a ping.
    public static let ping: Duration = .seconds(10)
    /// The limit of a graceful disconnect.
    public static let shutdown: Duration = .seconds(2)
}

/// The identity and the capabilities of a connected device.
public struct DeviceDescription: Sendable, Hashable {
    /// The identity that it reports.
    public var identity: DeviceIdentity
    /// What it can do.
    public var capabilities: Capabilities
    /// Its clock's reading when the session opened, `nil` for a device without a readable clock.
    public var clock: DeviceClock?
    /// Which of its records counts where two of them overlap.
    public var overlaps: OverlapRule

    /// A device's description.
    public init(
        identity: DeviceIdentity, capabilities: Capabilities, clock: DeviceClock? = nil,
        overlaps: OverlapRule = .latestEnd
    ) {
        self.overlaps = overlaps
        self.identity = identity
        self.capabilities = capabilities
        self.clock = clock
    }
}

/// A reading of a device's clock.
public struct DeviceClock: Sendable, Hashable {
    /// The device's time.
    public var now: Timestamp
    /// The device's offset from UTC in minutes, `nil` if it reports none.
    public var utcOffset: Int?

    /// A reading of a device's clock.
    public init(now: Timestamp, utcOffset: Int? = nil) {
        self.now = now
        self.utcOffset = utcOffset
    }
}
