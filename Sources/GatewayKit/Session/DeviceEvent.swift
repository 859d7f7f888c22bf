public import Vitals

/// An event that a device sends unasked.
public enum DeviceEvent: Sendable, Hashable {
    /// Live samples, in the order of arrival. `receipts` has one per sample if the device wants to know when samples
    /// are durable (`DeviceSession.settle`), and is empty otherwise.
    case samples([Sample], receipts: [SampleReceipt])
    /// A sample of a running measurement. If a command started the measurement, the gateway marks the sample as
    /// user-initiated.
    case measurementSample(MeasurementID, Sample)
    /// A reading of a measurement failed; the measurement continues.
    case readingFailed(MeasurementID, DeviceError)
    /// A measurement has ended: normally, or interrupted with an error.
    case measurementEnded(MeasurementID, completed: Bool, error: DeviceError?)
    /// The battery level in per cent, and whether it is charging; `nil` if the device does not say.
    case battery(percent: Double, isCharging: Bool?)
    /// Whether the device is worn.
    case wear(isWorn: Bool)
    /// The strength of the radio signal in dBm, from a driver that receives it unasked.
    case signal(strength: Int)
    /// An alert that the device raised or cleared by its own limits.
    case alert(DeviceAlert)
    /// The same from a driver that waits for what becomes of them. `receipts` as for samples.
    case alerts([DeviceAlert], receipts: [SampleReceipt])
    /// What the device recorded that it warned of (`AlertRule.Warning`), all raised. Each is stored once, by its rule and time,
    /// however often it comes. `receipts` as for samples.
    case warnings([DeviceAlert], receipts: [SampleReceipt])
    /// A sample that cannot be read. The gateway counts it as refused, within its measurement or in a gap of its metric.
    case unreadable(UnreadableSample)
    /// An invalid line of input, which the driver ignored. The gateway counts them.
    case malformed(String)
    /// Values that the driver dropped, mostly for one of its limits. The gateway counts them in the device's state, and logs them.
    case skipped(SkippedValues)
    /// How much of a long reading of files is done, from 0 to 1, every few seconds at most; `nil` once it is over.
    case progress(Double?)
}

/// Values of a person that do not become samples, and why.
public struct SkippedValues: Sendable, Hashable {
    /// Why, as a word for consumers in lower case with underscores, such as `too_many`. A driver has a few of them.
    public var reason: String
    /// What they are for people, such as the name of a table. A driver has a few of them, and none has a value.
    public var what: String
    /// How many.
    public var count: Int
    /// The limit that they are beyond; `nil` if there is none.
    public var limit: Int?

    /// Values that were dropped since the driver last said so.
    public init(reason: String, what: String, count: Int, limit: Int? = nil) {
        (self.reason, self.what, self.count, self.limit) = (reason, what, count, limit)
    }
}

/// A sample that a driver could not read.
public struct UnreadableSample: Sendable, Hashable {
    /// The metric; `nil` if it cannot be read.
    public var metric: Metric?
    /// The start; `nil` if it cannot be read.
    public var start: Timestamp?
    /// The running measurement that it belongs to; `nil` for a live sample.
    public var measurement: MeasurementID?
    /// What is wrong with it.
    public var problem: String

    /// A sample of which only this can be read.
    public init(
        metric: Metric? = nil, start: Timestamp? = nil, measurement: MeasurementID? = nil, problem: String
    ) {
        self.metric = metric
        self.start = start
        self.measurement = measurement
        self.problem = problem
    }
}

/// Identifies a live sample, or a warning, to its driver, so that the device can be informed that it is durable. Only the driver
/// understands it.
public struct SampleReceipt: Sendable, Hashable {
    /// The driver's own mark.
    public var mark: String
    /// A receipt with the driver's mark.
    public init(_ mark: String) { self.mark = mark }
}

/// Identifies a running measurement. Only the driver understands its text.
public struct MeasurementID: Sendable, Hashable {
    /// The driver's own name of the measurement.
    public var text: String
    /// A measurement's name.
    public init(_ text: String) { self.text = text }
}

/// An alert that a device raised or cleared.
public struct DeviceAlert: Sendable, Hashable {
    /// The rule.
    public var rule: AlertRule
    /// Whether it was raised or cleared.
    public var edge: AlertEvent.Edge
    /// The value that caused it, `nil` if the device does not say.
    public var value: Double?
    /// Of a warning, the limit that the device had; `nil` if there was none, or the device does not say.
    public var limit: Double?
    /// When it happened.
    public var at: Timestamp

    /// A device's alert.
    public init(rule: AlertRule, edge: AlertEvent.Edge, value: Double?, limit: Double? = nil, at: Timestamp) {
        self.rule = rule
        self.edge = edge
        self.value = value
        self.limit = limit
        self.at = at
    }
}

/// The outcome of a sample with a receipt.
public struct SettledReceipt: Sendable, Hashable {
    /// What the gateway did with a sample. All but a refused one are durable.
    public enum Outcome: Sendable, Hashable {
        /// It was not known before.
        case new
        /// A sample of the same time was known with other content: this one replaces it, with a higher revision.
        case corrected
        /// Nothing is new: it was known with the same content.
        case known
        /// It does not count: another record of the same thing does, such as the longer of two sleeps that overlap. It is kept as
        /// withdrawn.
        case superseded
        /// It is not plausible. Sending it again does not help.
        case refused(DeviceError)
    }
    /// The receipt.
    public var receipt: SampleReceipt
    /// What the gateway did with the sample.
    public var outcome: Outcome

    /// A receipt and what became of its sample.
    public init(_ receipt: SampleReceipt, _ outcome: Outcome) {
        self.receipt = receipt
        self.outcome = outcome
    }

    /// A refused sample or, without a refusal, a new one.
    package init(_ receipt: SampleReceipt, _ refusal: DeviceError?) {
        self.init(receipt, refusal.map { .refused($0) } ?? .new)
    }

    /// Why the sample was refused; `nil` if it is durable.
    public var refusal: DeviceError? {
        if case .refused(let error) = outcome { error } else { nil }
    }
}
