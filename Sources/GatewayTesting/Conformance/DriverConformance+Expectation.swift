package import Vitals

extension DriverConformance {
    /// What a driver does when a measurement is to start while another one runs. Its README says which.
    package enum SecondMeasurement: Sendable, Hashable {
        /// It throws `busy`.
        case isBusy
        /// It starts when the first one has ended.
        case isQueued
    }

    /// What is known about the peer.
    package struct Expectation: Sendable {
        /// All records of the metrics with a history, or all of a part of it: from one of them to another.
        package var history: [Metric: [Sample]]
        /// The device's own summaries within `summaryDays`. Their samples' identities are made from the device's identifier;
        /// when they were received is not compared.
        package var summaries: [Metric: [DailySummary]]
        /// The days whose summaries are read; needed for a device with the ability `summary`.
        package var summaryDays: ClosedRange<LocalDay>?
        /// Whether the device's clock can be set; `nil`: if it can be read.
        package var hasSettableClock: Bool?
        /// Whether the device refuses settings that mean nothing, such as a lower limit above the upper one.
        package var refusesNonsense: Bool
        /// Whether the driver tells its device that the gateway leaves.
        package var saysGoodbye: Bool
        /// What a second measurement does.
        package var secondMeasurement: SecondMeasurement
        /// How long measurements shall take.
        package var measurementDuration: Duration
        /// How long anything may take.
        package var patience: Duration

        /// What is known.
        package init(
            history: [Metric: [Sample]] = [:], summaries: [Metric: [DailySummary]] = [:],
            summaryDays: ClosedRange<LocalDay>? = nil, hasSettableClock: Bool? = nil, refusesNonsense: Bool = true,
            saysGoodbye: Bool = false, secondMeasurement: SecondMeasurement = .isBusy,
            measurementDuration: Duration = .seconds(1), patience: Duration = .seconds(10)
        ) {
            self.history = history.mapValues { $0.sorted { $0.start < $1.start } }
            self.summaries = summaries.mapValues { $0.sorted { $0.day < $1.day } }
            self.summaryDays = summaryDays
            self.hasSettableClock = hasSettableClock
            self.refusesNonsense = refusesNonsense
            self.saysGoodbye = saysGoodbye
            self.secondMeasurement = secondMeasurement
            self.measurementDuration = measurementDuration
            self.patience = patience
        }
    }
}
