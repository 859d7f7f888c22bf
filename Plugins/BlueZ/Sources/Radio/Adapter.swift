import Concurrency
import GatewayKit
import Vitals

/// The gateway's use of one adapter. It belongs to the radio.
final class Adapter {
    /// The waits after an adapter could not be switched on: it may be busy, or blocked until a person unblocks it.
    static let firstSwitchOnWait: Duration = .seconds(1)
    /// The longest of these waits, which double.
    static let longestSwitchOnWait: Duration = .minutes(1)

    /// The object of the adapter.
    let path: String
    var turns: LinkTurns
    var scan: ScanWatch
    /// One connection is made at a time, and not while the scan is being changed.
    let control = AsyncMutex()
    /// How many connections are being made or wait for it: the scan rests meanwhile, since many adapters cannot do both.
    var connecting = 0
    /// Why it cannot be used; `nil` if it can.
    var trouble: LinkError?
    /// Why its last scan did not begin; `nil` if it did.
    var scanFailure: LinkError?
    /// What the log has of its scan: failures, and that it hears nothing.
    var scanNotices = RepeatedNotice()
    /// Whether the gateway switches it on: since it has appeared, or since the gateway has switched it off, until it is on.
    var isToBeOn = true
    /// When that is tried again.
    var switchOnAt: Duration = .zero
    var switchOnWaits = BackOff(first: firstSwitchOnWait, longest: longestSwitchOnWait)
    /// The devices that wait for a link.
    var waiting: [LinkTurns.Holder: Promise<Void>] = [:]

    init(path: String, options: BlueZOptions) {
        self.path = path
        turns = LinkTurns(limit: options.links, turn: options.turn)
        scan = ScanWatch(silence: options.silence)
    }

    /// Its name, such as `hci0`.
    var name: String { path.split(separator: "/").last.map(String.init) ?? path }
}
