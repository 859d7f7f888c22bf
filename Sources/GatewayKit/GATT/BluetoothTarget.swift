import Vitals

/// How a device with Bluetooth is recognised, and when it is connected: the keys that all transports for such devices have.
package struct BluetoothTarget: Sendable, Hashable {
    /// The default limit of connecting: a radio itself gives up after about 20 s, and then the services are read.
    package static let connectTimeout: Duration = .seconds(40)
    /// The limits of connecting that can be configured.
    package static let connectTimeouts: ClosedRange<Duration> = .seconds(5) ... .minutes(2)
    /// The default time between two periodic connections: a battery of a small device lasts.
    package static let connectEvery: Duration = .minutes(15)
    static let connectEveryRange: ClosedRange<Duration> = .seconds(10) ... .hours(24)
    /// The default silence that ends a periodic connection: longer than the pauses of a device that reads its memory.
    package static let idleTimeout: Duration = .seconds(10)
    static let idleTimeoutRange: ClosedRange<Duration> = .seconds(2) ... .minutes(5)
    /// The default limit of a periodic connection, for devices that never are silent.
    package static let connectionLimit: Duration = .minutes(5)
    static let connectionLimitRange: ClosedRange<Duration> = .seconds(10) ... .hours(1)
    /// The broken periodic connections in a row after which the next one waits for its time: a device may end each
    /// connection by itself.
    package static let mostBrokenConnections = 3

    /// How the device is recognised.
    package enum Selector: Sendable, Hashable, CustomStringConvertible {
        /// Its address, in upper case.
        case address(String)
        /// The name that it advertises.
        case name(String)

        /// The address, or the name in quotes.
        package var description: String {
            switch self {
            case .address(let address): address
            case .name(let name): "\"\(name)\""
            }
        }
    }

    /// When the gateway connects the device.
    package enum Mode: Sendable, Hashable {
        /// Whenever it is in reach; the link stays open.
        case persistent
        /// No sooner than `every` after the last link, and until nothing was read or received for `idle`, at most `longest`.
        case periodic(every: Duration, idle: Duration, longest: Duration)
    }

    private enum ConnectionMode: String, CaseIterable { case persistent, periodic }

    /// How the device is recognised.
    package var selector: Selector
    /// When it is connected.
    package var mode: Mode
    /// The limit of connecting, and of reading the services.
    package var connectTimeout: Duration

    /// Reads `address` or `name`, `connect_timeout`, `connection` and what belongs to it.
    package init(_ options: inout ConfigurationReader) {
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
    }
}

extension ConfigurationReader {
    /// Reads `address` or `name`.
    fileprivate mutating func selector() -> BluetoothTarget.Selector {
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
