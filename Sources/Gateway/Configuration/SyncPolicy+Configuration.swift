import Engines
import GatewayKit
import Vitals

extension SyncPolicy {
    /// Times for `sync.first`. No device keeps a century.
    static let firstRange: ClosedRange<Duration> = .hours(1) ... .days(36_500)
    /// Times for `sync.every`. More often than each minute wears out batteries and radio.
    static let everyRange: ClosedRange<Duration> = .minutes(1) ... .days(7)
    /// Times for `sync.overlap`.
    static let overlapRange: ClosedRange<Duration> = .zero ... .days(30)

    /// Reads `sync:` of the gateway or of a device, where `defaults` are the gateway's.
    ///
    /// - `first`: how far back the first synchronisation goes, or `all`; 1h to 36500d, default 30d.
    /// - `every`: how often history is read while the device is connected; 1m to 7d, default 15m.
    /// - `overlap`: how far before the newest known record a synchronisation begins, for records that appear late; 0s to 30d,
    ///   default 10m. Sleep, sport and steps take at least two days.
    /// - `acknowledge`: whether the gateway reports to the device which data is stored, so that it may delete it; default
    ///   true.
    init(_ reader: inout ConfigurationReader, defaults: SyncPolicy) {
        self.init(
            first: reader.duration(
                "first", in: Self.firstRange, orWord: "all", default: defaults.first,
                about: "How far back the first synchronisation goes."),
            every: reader.duration(
                "every", in: Self.everyRange, default: defaults.every,
                about: "How often the history is read while the device is connected."),
            overlap: reader.duration(
                "overlap", in: Self.overlapRange, default: defaults.overlap,
                about: "How long before the newest known record it begins; for sleep, sport and steps at least 2d."),
            acknowledges: reader.flag(
                "acknowledge", default: defaults.acknowledges,
                about: "Whether the device is told which records it may delete."))
    }
}
