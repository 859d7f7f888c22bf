import GatewayKit
import Vitals

/// The section `plugins: {esphome: {…}}`.
struct ESPHomeOptions: Sendable {
    /// The most proxies: a large house has ten.
    static let mostProxies = 16
    /// How long a link lasts at least while others wait.
    static let turn: Duration = .minutes(2)
    static let turnRange: ClosedRange<Duration> = .seconds(5) ... .hours(1)

    var proxies: [ProxyOptions] = []
    var turn = ESPHomeOptions.turn

    init(proxies: [ProxyOptions] = []) { self.proxies = proxies }

    /// Reads `proxies` and `turn`.
    init(_ options: inout ConfigurationReader) {
        proxies = options.sections(
            "proxies", limit: Self.mostProxies, about: "ESPHome's Bluetooth proxies; no others are connected."
        ) { ProxyOptions(&$0) }
        turn = options.duration(
            "turn", in: Self.turnRange, default: Self.turn,
            about: "How long a link lasts at least while other devices wait.")
        if options.value("proxies") == nil, !options.isDescribing {
            options.report(
                "proxies is missing: ESPHome's Bluetooth proxies, such as [{host: 192.0.2.17, exclusive: true}].")
        }
        let endpoints = proxies.map(\.endpoint)
        if Set(endpoints).count < endpoints.count { options.report("A proxy occurs twice; remove one.", at: "proxies") }
    }
}

/// An entry of `proxies:`.
struct ProxyOptions: Sendable {
    /// The port of ESPHome's native API.
    static let port = 6053

    var host: String
    var port: Int
    /// The bytes of the key; `nil` without encryption.
    var key: [UInt8]?
    /// The name that it must have; `nil` for any.
    var name: String?
    /// Whether it is the gateway's own.
    var isExclusive: Bool

    /// `host:port`, with brackets around an IPv6 address.
    var endpoint: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    init(host: String, port: Int, key: [UInt8]? = nil, name: String? = nil, isExclusive: Bool = true) {
        (self.host, self.port, self.key, self.name, self.isExclusive) = (host, port, key, name, isExclusive)
    }

    /// Reads `host`, `port`, `key`, `name` and `exclusive`.
    init(_ options: inout ConfigurationReader) {
        host = options.string("host", about: "The name or address of the proxy.")
        port = options.integer("port", in: 1...65_535, default: Self.port, about: "The port of its native API.")
        name = options.optionalString("name", about: "The name that it must have, as in its configuration.")
        isExclusive = options.flag(
            "exclusive", default: false,
            about:
                "Whether it is the gateway's own. A proxy serves one client: another, such as Home Assistant, becomes deaf."
        )
        guard let secret = options.secret("key", about: "The key of api: encryption: in its configuration.") else {
            return
        }
        key = NoiseHandshake.key(secret.value)
        if key == nil {
            options.report("A key has 32 bytes in base64, as api: encryption: key: of the proxy.", at: "key")
        }
    }
}
