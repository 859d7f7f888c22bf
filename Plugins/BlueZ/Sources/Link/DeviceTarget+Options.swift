import GatewayKit
import Vitals

extension DeviceTarget {
    /// The default limit of connecting: BlueZ itself gives up after about 20 s, and then the services are read.
    static let connectTimeout: Duration = .seconds(40)
    static let connectTimeouts: ClosedRange<Duration> = .seconds(5) ... .minutes(2)
    /// The default time between two periodic connections: a battery of a small device lasts.
    static let connectEvery: Duration = .minutes(15)
    static let connectEveryRange: ClosedRange<Duration> = .seconds(10) ... .hours(24)
    /// The default silence that ends a periodic connection: longer than the pauses of a device that reads its memory.
    static let idleTimeout: Duration = .seconds(10)
    static let idleTimeoutRange: ClosedRange<Duration> = .seconds(2) ... .minutes(5)
    /// The default limit of a periodic connection, for devices that never are silent.
    static let connectionLimit: Duration = .minutes(5)
    static let connectionLimitRange: ClosedRange<Duration> = .seconds(10) ... .hours(1)

    private enum ConnectionMode: String, CaseIterable { case persistent, periodic }
    private enum PairingName: String, CaseIterable {
        case none
        case justWorks = "just_works"
        case passkey, ask
    }

    /// Reads the keys of `transport:`.
    init(_ options: inout ConfigurationReader) {
        adapter = options.optionalString("adapter", about: "Only this adapter, by name or address.")
        selector = options.selector()
        connectTimeout = options.duration(
            "connect_timeout", in: Self.connectTimeouts, default: Self.connectTimeout,
            about: "The limit of connecting, and of reading the services.")
        let every = options.duration(
            "connect_every", in: Self.connectEveryRange, default: Self.connectEvery,
            about: "The time between two periodic connections.")
        let idle = options.duration(
            "idle_timeout", in: Self.idleTimeoutRange, default: Self.idleTimeout,
            about: "The silence that ends a periodic connection.")
        let longest = options.duration(
            "connection_limit", in: Self.connectionLimitRange, default: Self.connectionLimit,
            about: "How long a periodic connection lasts at most.")
        let connection = options.choice(
            "connection", of: ConnectionMode.self, default: .persistent,
            about: "Whether the gateway stays connected, or connects now and then, which saves the device's battery.")
        switch connection {
        case .periodic:
            mode = .periodic(every: every, idle: idle, longest: longest)
            if options.value("idle_timeout") != nil, idle >= longest {
                options.report(
                    "It must be shorter than connection_limit, which is \(longest.configurationText): no connection would end by silence.",
                    at: "idle_timeout")
            }
        case .persistent:
            mode = .persistent
            for key in ["connect_every", "idle_timeout", "connection_limit"] where options.value(key) != nil {
                options.report("It has a meaning only with connection: periodic.", at: key)
            }
        }
        let secret = options.secret("passkey", about: "The six digits for pairing: passkey.")
        let name = options.choice(
            "pairing", of: PairingName.self, default: .none, about: "How the device is paired; ask: by a person.")
        switch name {
        case .none: pairing = .none
        case .justWorks: pairing = .justWorks
        case .ask: pairing = .ask
        case .passkey:
            pairing = .ask
            guard let secret else {
                if options.value("passkey") == nil {
                    options.report(
                        "passkey is missing: {file: PATH} or {env: NAME} with its six digits. If the device makes a new one for "
                            + "each pairing, write pairing: ask.", at: "pairing")
                }
                return
            }
            guard let passkey = Passkey(secret.value) else {
                options.report("A passkey has six digits.", at: "passkey")
                return
            }
            pairing = .passkey(passkey)
        }
        if [.none, .justWorks, .ask].contains(pairing), secret != nil {
            options.report("It has a meaning only with pairing: passkey.", at: "passkey")
        }
    }
}

extension ConfigurationReader {
    /// Reads `address` or `name`.
    fileprivate mutating func selector() -> DeviceTarget.Selector {
        let (address, name) = (
            optionalString("address", about: "The device's address; it or the name is required."),
            optionalString("name", about: "The name that the device advertises.")
        )
        switch (address, name) {
        case (let address?, nil):
            let upper = address.uppercased()
            let parts = upper.split(separator: ":", omittingEmptySubsequences: false)
            if parts.count != 6 || !parts.allSatisfy({ $0.utf8.count == 2 && $0.allSatisfy(\.isHexDigit) }) {
                report("An address is needed here, such as A4:C1:38:00:11:22.", at: "address")
            }
            return .address(upper)
        case (nil, let name?): return .name(name)
        case (_?, _?): report("The device is recognised by its address or by its name; remove one.", at: "name")
        case (nil, nil): report("address or name is missing: how the device is recognised.")
        }
        return .name("")
    }
}
