import GatewayKit
import Vitals

/// The `options:` of a simulated device.
struct SimulatorOptions: Sendable, Hashable {
    /// The kind of device.
    var model = Model.band
    /// The seed of everything: the same seed is the same person. `nil`: derived from the device's identifier.
    var seed: UInt64?
    /// Days of history that the device keeps; with 0 it has no history and no summaries.
    var historyDays = SimulatorOptions.defaultHistoryDays
    /// The interval of streamed values while the device is worn; `nil`: it does not stream.
    var liveInterval: Duration? = SimulatorOptions.defaultLiveInterval
    /// How far the device's clock is ahead of the gateway's at the start; negative if it is behind.
    var clockSkew = Duration.zero
    /// The faults.
    var faults = Faults.none

    /// As much as a gateway's first synchronisation asks for.
    static let defaultHistoryDays = 30
    /// Over a year, more than a real wearable keeps.
    static let historyDaysRange = 0...400
    /// One value per second, as wearables stream.
    static let defaultLiveInterval = Duration.seconds(1)
    /// 100 values per second are for load tests; one value per hour still shows a live device.
    static let liveIntervals = Duration.milliseconds(10)...Duration.hours(1)
    /// A clock that was never set is decades behind.
    static let greatestSkew = Duration.days(20_000)

    /// Creates options with these values.
    init(
        model: Model = .band, seed: UInt64? = nil, historyDays: Int = defaultHistoryDays,
        liveInterval: Duration? = defaultLiveInterval, clockSkew: Duration = .zero, faults: Faults = .none
    ) {
        self.model = model
        self.seed = seed
        self.historyDays = min(historyDays, model.memory ?? historyDays)
        self.liveInterval = liveInterval
        self.clockSkew = clockSkew
        self.faults = faults
    }

    /// Reads `options:`. Each key may be left out.
    init(_ options: inout ConfigurationReader) {
        self.init(
            model: options.choice("model", default: .band),
            seed: options.value("seed") == nil
                ? nil : UInt64(options.integer("seed", in: 0...Int.max, default: 0)),
            historyDays: options.integer(
                "history_days", in: Self.historyDaysRange, default: Self.defaultHistoryDays),
            liveInterval: options.durationOrOff(
                "live_interval", in: Self.liveIntervals, default: Self.defaultLiveInterval),
            clockSkew: options.signedDuration("clock_skew", upTo: Self.greatestSkew),
            faults: options.section("faults") { Faults(&$0) })
    }
}
