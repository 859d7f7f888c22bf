import Concurrency
import GatewayKit
import NIOCore
import Vitals

/// The gateway's use of one proxy. It belongs to the radio.
final class Proxy {
    /// The connections of a proxy that does not say how many it has.
    static let usualConnections = 3

    enum State {
        /// It is being connected for the first time.
        case beginning
        case serving
        case unusable(LinkError)
    }

    let options: ProxyOptions
    var state = State.beginning
    var connection: ProxyConnection?
    var turns: LinkTurns
    /// The connections that it has left, as it says; `nil` before it does.
    var free: Int?
    var features: ProxyFeatures = []
    /// The addresses of the devices that it is disconnecting.
    var leaving: Set<UInt64> = []
    /// The devices that wait for a link.
    var waiting: [LinkTurns.Holder: Promise<Void>] = [:]
    /// One connection to a device is made at a time.
    let control = AsyncMutex()
    /// Wakes who waits for a free connection.
    let change = Signal()
    /// Another client has taken the place.
    var isTaken = false
    var notices = RepeatedNotice()

    init(_ options: ProxyOptions, turn: Duration) {
        self.options = options
        turns = LinkTurns(limit: Self.usualConnections, turn: turn)
    }

    var isServing: Bool { if case .serving = state { true } else { false } }
    /// Whether devices can be connected through it.
    var canConnect: Bool { isServing && features.contains([.connections, .caching]) }
    /// Why no device can be connected through it; `nil` if one can, or it is not known yet.
    var trouble: LinkError? {
        switch state {
        case .beginning: nil
        case .serving:
            canConnect ? nil : options.error("it makes no connections. Write bluetooth_proxy: active: true there.")
        case .unusable(let error): error
        }
    }
}

/// An open connection to a proxy. It belongs to the radio.
final class ProxyConnection {
    let channel: any Channel
    var codec: FrameCodec
    /// Packets can be sent.
    let isReady = Promise<Void>()
    /// The answers that are waited for.
    var answers: [MessageType: Promise<Packet>] = [:]
    var lastReceived: Duration
    /// The devices that the proxy has connected, as it says.
    var allocated: [UInt64] = []
    var watch: SubscriptionWatch?

    init(_ channel: any Channel, _ codec: FrameCodec, at now: Duration) {
        (self.channel, self.codec, lastReceived) = (channel, codec, now)
        if codec.isReady { isReady.fulfil(()) }
    }
}

extension ProxyOptions {
    /// An error of this proxy: what is the matter, with the remedy.
    func error(_ text: String, _ code: LinkError.Code = .unreachable) -> LinkError {
        LinkError(code, "The proxy \(endpoint): \(text)")
    }
}
