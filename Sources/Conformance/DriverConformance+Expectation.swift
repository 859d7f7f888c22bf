public import Vitals

extension DriverConformance {
    /// What a driver does when a measurement is started while another one runs. Its README says which.
    public enum SecondMeasurement: Sendable, Hashable {
        /// It throws `busy`.
        case isBusy
        /// It starts when the first one has ended.
        case isQueued
    }

    /// The known content and behaviour of the peer.
    public struct Expectation: Sendable {
        /// The records of each metric with a history: all of them, or a contiguous part. Empty for a metric without
        /// records.
        public var history: [Metric: [Sample]]
        /// The device's own summaries within `summaryDays`. Their samples' ids depend on the device's identifier; their
        /// times of receipt are not compared.
        public var summaries: [Metric: [DailySummary]]
        /// The days whose summaries are read; required for a device with the ability `summary`.
        public var summaryDays: ClosedRange<LocalDay>?
        /// Whether the device's clock can be set; `nil`: settable if it is readable.
        public var hasSettableClock: Bool?
        /// Whether the device refuses settings that make no sense, such as a lower limit above the upper one.
        public var refusesNonsense: Bool
        /// Whether the driver sends its device a graceful disconnect when the gateway leaves.
        public var disconnectsGracefully: Bool
        /// Whether the device ends the link after a graceful disconnect, without waiting for the gateway to end it.
        public var endsLink: Bool
        /// What happens to a second measurement.
        public var secondMeasurement: SecondMeasurement
        /// The duration of measurements.
        public var measurementDuration: Duration
        /// The time limit of every operation.
        public var timeout: Duration

        /// Creates an expectation.
        public init(
            history: [Metric: [Sample]] = [:], summaries: [Metric: [DailySummary]] = [:],
            summaryDays: ClosedRange<LocalDay>? = nil, hasSettableClock: Bool? = nil, refusesNonsense: Bool = true,
            disconnectsGracefully: Bool = false, endsLink: Bool = false, secondMeasurement: SecondMeasurement = .isBusy,
            measurementDuration: Duration = .seconds(1), timeout: Duration = .seconds(10)
        ) {
            self.history = history.mapValues { $0.sorted { $0.start < $1.start } }
            self.summaries = summaries.mapValues { $0.sorted { $0.day < $1.day } }
            self.summaryDays = summaryDays
            self.hasSettableClock = hasSettableClock
            self.refusesNonsense = refusesNonsense
            self.disconnectsGracefully = disconnectsGracefully
            self.endsLink = endsLink
            self.secondMeasurement = secondMeasurement
            self.measurementDuration = measurementDuration
            self.timeout = timeout
        }
    }
}
