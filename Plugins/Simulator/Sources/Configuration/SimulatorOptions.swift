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
    /// What it knows of a sleep.
    var sleep = SleepDetail.stages
    /// The faults.
    var faults = Faults.none

    /// What a device knows of a sleep. The raw value is the value of `sleep:` in the configuration.
    enum SleepDetail: String, CaseIterable, Sendable, Hashable {
        /// Its stages.
        case stages
        /// When the person slept and was awake, and not how deep.
        case asleep
        /// The minutes of each depth, and not when.
        case totals
        /// Only that the person was in bed.
        case inBed = "in_bed"
    }

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
        liveInterval: Duration? = defaultLiveInterval, clockSkew: Duration = .zero, sleep: SleepDetail = .stages,
        faults: Faults = .none
    ) {
        self.model = model
        self.seed = seed
        self.historyDays = min(historyDays, model.memory ?? historyDays)
        self.liveInterval = liveInterval
        self.clockSkew = clockSkew
        self.sleep = sleep
        self.faults = faults
    }

    /// Reads `options:`. Each key may be left out.
    init(_ options: inout ConfigurationReader) {
        self.init(
            model: options.choice("model", default: .band, about: "The kind of device."),
            seed: options.optionalInteger(
                "seed", in: 0...Int.max, about: "The same seed is the same person; without it from the device's id."
            ).map { UInt64($0) },
            historyDays: options.integer(
                "history_days", in: Self.historyDaysRange, default: Self.defaultHistoryDays,
                about: "Days of history that the device keeps."),
            liveInterval: options.durationOrOff(
                "live_interval", in: Self.liveIntervals, default: Self.defaultLiveInterval,
                about: "The time between two live values."),
            clockSkew: options.signedDuration(
                "clock_skew", upTo: Self.greatestSkew,
                about: "How far the device's clock is ahead."),
            sleep: options.choice("sleep", default: .stages, about: "What the device knows of a sleep."),
            faults: options.section("faults", about: "What goes wrong.") { Faults(&$0) })
    }
}

/// The faults of a simulated device. All are off unless configured.
struct Faults: Sendable, Hashable {
    /// The link breaks after the session has lasted this long; `nil`: never.
    var disconnectEvery: Duration?
    /// The probability that a call is never answered.
    var hang = 0.0
    /// The probability that the device refuses a new monitor configuration or a new time.
    var refuseWrite = 0.0
    /// The probability that a page of history names itself as the next one; with 1 the history never ends.
    var duplicatePage = 0.0
    /// The probability that a history ends with a record of tomorrow.
    var futureRecords = 0.0
    /// The share of records that are permanently unreadable.
    var corruptRecords = 0.0
    /// Whether the battery is always nearly empty, so that the device refuses measurements on demand.
    var lowBattery = false
    /// Whether the device lies on a table from the first session on.
    var notWorn = false
}

extension Faults {
    /// No faults.
    static let none = Faults()

    /// Reads `faults:`. Each key may be left out.
    init(_ options: inout ConfigurationReader) {
        disconnectEvery = options.durationOrOff(
            "disconnect_every", in: .seconds(1)...(.days(30)), default: nil, about: "When each session breaks.")
        hang = options.probability("hang", about: "The probability that a call is never answered.")
        refuseWrite = options.probability("refuse_write", about: "The probability that a setting is refused.")
        duplicatePage = options.probability("duplicate_page", about: "The probability that a page repeats itself.")
        futureRecords = options.probability("future_records", about: "The probability of a record of tomorrow.")
        corruptRecords = options.probability("corrupt_records", about: "The share of records that are unreadable.")
        lowBattery = options.flag("low_battery", default: false, about: "Whether the battery is nearly empty.")
        notWorn = options.flag("not_worn", default: false, about: "Whether the device lies on a table.")
    }
}

extension ConfigurationReader {
    /// A duration within `range`, or `nil` for `off` and `0s`.
    mutating func durationOrOff(
        _ key: String, in range: ClosedRange<Duration>, default: Duration?, about: String
    ) -> Duration? {
        // The same range, and another word.
        _ = isDescribing ? duration(key, in: range, orWord: "off", default: `default`, about: about) : nil
        guard let value = value(key) else { return `default` }
        if case .scalar(let text, _) = value.content {
            // YAML also reads `off` as false.
            if ["off", "false", "0"].contains(text) || Duration(configuration: text) == .zero { return nil }
            if let duration = Duration(configuration: text), range.contains(duration) { return duration }
        }
        let (lower, upper) = (range.lowerBound.configurationText, range.upperBound.configurationText)
        report("A duration from \(lower) to \(upper), or off, is needed here, such as 90s or 15m.", at: key)
        return `default`
    }

    /// A duration, possibly with a minus sign; 0 if the key is absent.
    mutating func signedDuration(_ key: String, upTo greatest: Duration, about: String) -> Duration {
        describe(key, "duration, also negative, at most \(greatest.configurationText)", default: "0s", about: about)
        guard let value = value(key) else { return .zero }
        if case .scalar(let text, _) = value.content {
            let isNegative = text.hasPrefix("-")
            if let duration = Duration(configuration: isNegative ? String(text.dropFirst()) : text),
                duration <= greatest
            {
                return isNegative ? .zero - duration : duration
            }
        }
        report("A duration is needed here, such as 90s or -15m, at most \(greatest.configurationText).", at: key)
        return .zero
    }

    /// A probability from 0 (never) to 1 (always); 0 if the key is absent.
    mutating func probability(_ key: String, about: String) -> Double {
        number(key, in: 0...1, default: 0, about: about)
    }
}
