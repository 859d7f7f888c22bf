/// The time in each of five heart rate zones, which begin at 50, 60, 70, 80 and 90 % of a person's highest heart rate
/// in exercise. Values below the first zone do not count; the last one is open-ended.
public struct HeartRateZones: Sendable, Hashable {
    /// Number of zones.
    public static let count = 5
    /// Maximum time for which a value counts: the shortest interval of a device's schedule. The heart rate in a longer
    /// pause is unknown.
    public static let maximumValueDuration: Duration = .minutes(5)

    /// Milliseconds in each zone, lowest zone first.
    public private(set) var milliseconds: [Int64]

    /// Zones without any time.
    public init() { milliseconds = Array(repeating: 0, count: Self.count) }

    /// Zones with these times in milliseconds, lowest zone first; `nil` unless there are five.
    public init?(milliseconds: [Int64]) {
        guard milliseconds.count == Self.count else { return nil }
        self.milliseconds = milliseconds
    }

    /// Minutes in each zone to one decimal, lowest zone first.
    public var minutes: [Double] { milliseconds.map { (Double($0) / 6_000).rounded() / 10 } }

    /// The zone of a heart rate, from 0; `nil` below the first zone.
    package static func zone(of value: Double, maximum: Double) -> Int? {
        guard maximum > 0 else { return nil }
        // In whole tenths, so that 95 of 190 is in the first zone despite rounding.
        let zone = Int(min(value * 10 / maximum, 10).rounded(.down)) - 5
        return zone < 0 ? nil : min(zone, Self.count - 1)
    }

    /// Adds the duration of a heart rate, at most `maximumValueDuration`.
    package mutating func add(_ value: Double, for duration: Duration, maximum: Double) {
        guard duration > .zero, let zone = Self.zone(of: value, maximum: maximum) else { return }
        milliseconds[zone] += min(duration, Self.maximumValueDuration).inMilliseconds
    }
}

/// Counts time in zones over heart rates in order of time.
///
/// A value counts until the next one; the last one does not count yet. Samples of kind `maximum` and `minimum` repeat
/// others and are ignored.
package struct ZoneTally: Sendable, Hashable {
    /// The highest heart rate in exercise, in bpm, which defines the zones.
    package let maximum: Double
    /// The time so far.
    package private(set) var zones = HeartRateZones()
    private var last: Sample?

    package init(maximum: Double) { self.maximum = maximum }

    /// Adds the next heart rate. Returns `false` and adds nothing if the sample is not the next one: the zones then
    /// have to be counted again from all samples.
    package mutating func add(_ sample: Sample) -> Bool {
        guard case .value = sample.reading, sample.kind == .normal || sample.kind == .resting else { return true }
        if let last, sample.isBefore(last) { return false }
        extend(until: sample.start)
        last = sample
        return true
    }

    /// Ends the count: the last value counts until `moment`.
    package mutating func end(at moment: Timestamp) {
        extend(until: moment)
        last = nil
    }

    private mutating func extend(until moment: Timestamp) {
        guard let last, case .value(let value) = last.reading else { return }
        zones.add(value, for: moment - last.start, maximum: maximum)
    }
}

extension Sample {
    /// Whether this sample comes first by start, end and who started it.
    fileprivate func isBefore(_ other: Sample) -> Bool {
        (start, end, isUserInitiated ? 1 : 0) < (other.start, other.end, other.isUserInitiated ? 1 : 0)
    }
}
