public import Vitals

/// What a device sends by itself.
public enum DeviceEvent: Sendable, Hashable {
    /// Live samples, in the order in which they came. A receipt stands where the device wants to hear that a sample is
    /// durable (`DeviceSession.settle`); otherwise the array is empty.
    case samples([Sample], receipts: [SampleReceipt])
    /// A sample of a measurement that is running.
    case measurementSample(MeasurementID, Sample)
    /// A measurement has ended: normally, or interrupted with an error.
    case measurementEnded(MeasurementID, completed: Bool, error: DeviceError?)
    /// The state of the battery: per cent, and whether it is charging, where the device says so.
    case battery(percent: Double, isCharging: Bool?)
    /// Whether the device is worn.
    case wear(isWorn: Bool)
    /// An alert that the device raised or cleared by its own limits.
    case alert(DeviceAlert)
    /// A line of input that is not what it should be; it was ignored. The gateway counts them.
    case malformed(String)
}

/// Where a live sample came from, so that the device can be told that it is durable. Only the driver understands it.
public struct SampleReceipt: Sendable, Hashable {
    /// The driver's own mark.
    public var mark: String
    /// A receipt with the driver's mark.
    public init(_ mark: String) { self.mark = mark }
}

/// A measurement that is running on a device. Only the driver understands its text.
public struct MeasurementID: Sendable, Hashable {
    /// The driver's own name of the measurement.
    public var text: String
    /// A measurement's name.
    public init(_ text: String) { self.text = text }
}

/// An alert that a device raised or cleared by itself.
public struct DeviceAlert: Sendable, Hashable {
    /// The rule.
    public var rule: AlertRule
    /// Raised or cleared.
    public var edge: AlertEvent.Edge
    /// The value that made it so, where the device says.
    public var value: Double?
    /// When it happened.
    public var at: Timestamp

    /// A device's alert.
    public init(rule: AlertRule, edge: AlertEvent.Edge, value: Double?, at: Timestamp) {
        self.rule = rule
        self.edge = edge
        self.value = value
        self.at = at
    }
}
