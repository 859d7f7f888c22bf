import Concurrency
import GatewayKit

/// The gateway's use of one adapter. It belongs to the radio.
final class Adapter {
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
    /// Whether it was switched on since it appeared.
    var wasPowered = false
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
