import GatewayKit
import Vitals

/// The `options:` of a simulated device.
struct SimulatorOptions: Sendable, Hashable {
    /// The kind of device.
    var model = Model.band
    /// Where everything comes from: the same seed is the same person. `nil`: made from the device's identifier.
    var seed: UInt64?
    /// Days of history that the device remembers; with 0 it has no history and no summaries.
    var historyDays = SimulatorOptions.defaultHistoryDays
    /// How often a streaming device sends a value while it is worn; `nil`: it does not stream.
    var liveInterval: Duration? = SimulatorOptions.defaultLiveInterval
    /// How far the device's clock is ahead of the gateway's at the beginning; negative when it is behind.
    var clockSkew = Duration.zero
    /// What goes wrong.
    var faults = Faults.none

    /// As much as a gateway asks for at first.
    static let defaultHistoryDays = 30
    /// A year and a bit, which is more than a real wearable has.
    static let historyDaysRange = 0...400
    /// A value a second, as wearables stream.
    static let defaultLiveInterval = Duration.seconds(1)
    /// A hundred values a second are for load tests; a value an hour still shows that the device lives.
    static let liveIntervals = Duration.milliseconds(10)...Duration.hours(1)
    /// A clock that was never set is decades behind.
    static let greatestSkew = Duration.days(20_000)

    /// The options of a device with these values.
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
