import MQTT
import Testing

@Suite struct OptionsTests {
    @Test(arguments: [
        ("mqtt://broker", BrokerServer(host: "broker", port: 1883)),
        ("mqtts://broker", BrokerServer(host: "broker", port: 8883, isTLS: true)),
        ("mqtt://127.0.0.1:11883/", BrokerServer(host: "127.0.0.1", port: 11883)),
        ("mqtts://[fe80::1]", BrokerServer(host: "fe80::1", port: 8883, isTLS: true)),
        ("mqtt://[::1]:65535", BrokerServer(host: "::1", port: 65535)),
    ])
    func `reads the URL of a broker`(_ url: String, _ server: BrokerServer) throws {
        #expect(try BrokerServer(url: url) == server)
        #expect(try BrokerServer(url: server.description) == server)
    }

    @Test(arguments: [
        ("broker:1883", "does not begin"), ("http://broker", "does not begin"), ("mqtt://", "no host"),
        ("mqtt://:1883", "no host"), ("mqtt://[]", "no host"), ("mqtt://anna:secret@broker", "settings of their own"),
        ("mqtt://broker/topic", "more than a host"), ("mqtt://broker?x=1", "more than a host"),
        ("mqtt://::1", "brackets"), ("mqtt://[::1", "without a ]"), ("mqtt://[::1]x", "after the ]"),
        ("mqtt://broker:", "1 to 65535"), ("mqtt://broker:0", "1 to 65535"), ("mqtt://broker:65536", "1 to 65535"),
        ("mqtt://broker:-1", "1 to 65535"), ("mqtt://broker:mqtt", "1 to 65535"),
    ])
    func `says what is wrong with a URL, without repeating it`(_ url: String, _ words: String) {
        let error = #expect(throws: BrokerError.self) { try BrokerServer(url: url) }
        #expect(error?.code == .invalidOptions)
        #expect(error?.message.contains(words) == true, "\(String(describing: error))")
        #expect(error?.message.contains("secret") == false)
    }

    private static let good = BrokerOptions(servers: [BrokerServer(host: "h", port: 1883)], clientID: "c")

    @Test func `accepts options at their limits`() throws {
        var options = Self.good
        for (keepAlive, window) in [(BrokerOptions.minimumKeepAlive, 1), (BrokerOptions.maximumKeepAlive, 65_535)] {
            options.keepAlive = keepAlive
            options.window = window
            try options.validate()
        }
    }

    private static let issues: [(words: String, change: @Sendable (inout BrokerOptions) -> Void)] = [
        ("No broker", { $0.servers = [] }),
        ("not a host", { $0.servers[0].port = 65_536 }),
        ("not a host", { $0.servers[0].host = "" }),
        ("client id", { $0.clientID = "" }),
        ("keep-alive", { $0.keepAlive = .seconds(4) }),
        ("keep-alive", { $0.keepAlive = .seconds(65_536) }),
        ("window", { $0.window = 0 }),
        ("window", { $0.window = 65_536 }),
        ("timeout", { $0.timeout = .zero }),
        ("limits", { $0.maximumInbound = 0 }),
        ("limits", { $0.maximumInboundPayload = 0 }),
        ("user name", { $0.password = "p" }),
        ("will's topic", { $0.will = OutgoingMessage("a/#") }),
    ]

    @Test(arguments: issues.indices)
    func `names the option that makes no connection possible`(_ index: Int) {
        var options = Self.good
        Self.issues[index].change(&options)
        let error = #expect(throws: BrokerError.self) { try options.validate() }
        #expect(error?.code == .invalidOptions)
        #expect(error?.message.contains(Self.issues[index].words) == true)
    }

    @Test(arguments: [
        (Duration.milliseconds(1), UInt32(1)), (.zero, 1), (.seconds(-5), 1), (.seconds(60), 60),
        (.milliseconds(1_001), 2), (.seconds(5_000_000_000), .max),
    ])
    func `rounds an expiry up to whole seconds`(_ expiry: Duration, _ seconds: UInt32) {
        var message = OutgoingMessage("t")
        #expect(message.expirySeconds == nil)
        message.expiry = expiry
        #expect(message.expirySeconds == seconds)
    }
}
