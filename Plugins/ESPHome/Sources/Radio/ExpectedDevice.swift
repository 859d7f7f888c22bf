import Concurrency
import GatewayKit
import Vitals

/// A device that the gateway wants to connect, or wanted to lately. It belongs to the radio.
final class ExpectedDevice {
    /// How long an advertisement still counts for the gateway's next attempt after its last one: longer than the longest wait
    /// between two attempts (5 minutes).
    static let memory: Duration = .minutes(10)
    /// How long after an advertisement the device can be connected without another one: it is in reach and awake.
    static let freshness: Duration = .seconds(5)

    /// What a proxy has heard of it.
    struct Sighting {
        var address: UInt64
        var addressType: UInt32
        var strength: Int
        var at: Duration
    }

    var target: ProxyTarget
    var presence: DevicePresence
    /// The last advertisement, by proxy.
    var sightings: [Int: Sighting] = [:]
    /// In dBm, by proxy, also of an advertisement that counts no more.
    var lastStrength: [Int: Int] = [:]
    var name: String?
    /// Fulfilled when it advertises, or cannot be heard.
    var waiter: Promise<Result<Void, LinkError>>?
    /// Until when its advertisements are reported to the gateway, which waits for its next attempt; `nil` while it is served.
    var pausedUntil: Duration?
    /// When the next periodic connection is due.
    var dueAt: Duration = .zero
    /// How many periodic connections in a row broke.
    var brokenConnections = 0
    /// The proxy that served it the last time.
    var lastProxy: Int?
    /// When a proxy could not connect it.
    var failures: [Int: Duration] = [:]
    /// Its services, for a proxy that need not read them again.
    var known: KnownServices?

    init(_ target: ProxyTarget, _ presence: DevicePresence) { (self.target, self.presence) = (target, presence) }

    func fail(_ error: LinkError) {
        waiter?.fulfil(.failure(error))
        waiter = nil
    }
}

/// Which proxy connects a device that several hear.
enum ProxyChoice {
    /// An advertisement counts so long: devices advertise at least every 10.24 s (Bluetooth Core Specification, Vol 6, Part B, 4.4.2.2).
    static let memory: Duration = .seconds(15)
    /// What the last proxy is preferred by, in dB: signals change by that much while nothing moves.
    static let hysteresis = 8
    /// What a proxy that could not connect the device lately is put back by, in dB.
    static let penalty = 16
    /// How long that counts.
    static let penaltyTime: Duration = .minutes(1)

    struct Candidate: Sendable {
        var proxy: Int
        /// In dBm.
        var strength: Int
        /// Whether all of its connections are in use.
        var isFull = false
        /// Whether it served the device the last time.
        var isLast = false
        /// Whether its last attempt failed.
        var hasFailed = false

        fileprivate var rank: Int {
            strength + (isLast ? ProxyChoice.hysteresis : 0) - (hasFailed ? ProxyChoice.penalty : 0)
        }
    }

    /// The one with the best signal, of those with a free connection if there are any.
    static func best(_ candidates: [Candidate]) -> Int? {
        let free = candidates.filter { !$0.isFull }
        return (free.isEmpty ? candidates : free).max { $0.rank < $1.rank }?.proxy
    }
}
