import Listening
import Testing

@Suite struct TrustedProxiesTests {
    private static func proxies() throws -> TrustedProxies {
        try TrustedProxies(["192.0.2.1", "10.0.0.0/9", "2001:db8:1::/48", "::1"])
    }

    @Test(arguments: [
        ("192.0.2.1", true), ("192.0.2.2", false), ("::ffff:192.0.2.1", true), ("10.127.255.255", true),
        ("10.128.0.0", false), ("2001:db8:1:ffff::1", true), ("2001:db8:2::1", false), ("::1", true),
        ("::1%lo", true), ("a00::", false), ("unknown", false), ("", false),
    ])
    func `an address is a proxy's if it is listed, or in a listed network`(address: String, isProxy: Bool) throws {
        #expect(try Self.proxies().contains(address) == isProxy)
    }

    /// The lines of `X-Forwarded-For`, those of `Forwarded`, and the address that counts; `nil` for the proxy's own.
    private static let requests: [(forwardedFor: [String], forwarded: [String], sender: String?)] = [
        (["198.51.100.1"], [], "198.51.100.1"),
        (["203.0.113.9, 198.51.100.1"], [], "198.51.100.1"),
        (["198.51.100.1", "203.0.113.9,198.51.100.2 "], [], "198.51.100.2"),
        (["198.51.100.1:4711"], [], "198.51.100.1"),
        (["2001:db8::7"], [], "2001:db8::7"),
        (["[2001:db8::7]:80"], [], "2001:db8::7"),
        (["fe80::7%eth0"], [], "fe80::7"),
        ([], ["for=198.51.100.1"], "198.51.100.1"),
        ([], ["for=203.0.113.9, proto=https; For=\"[2001:db8::7]:80\" ;by=192.0.2.1"], "2001:db8::7"),
        ([], ["for=\"203.0.113.9", "for=198.51.100.1"], "198.51.100.1"),
        (["198.51.100.1"], ["for=198.51.100.1"], "198.51.100.1"),
        // One of the two is the sender's.
        (["198.51.100.1"], ["for=198.51.100.2"], nil),
        (["198.51.100.1"], ["for=unknown"], nil),
        // Rubbish.
        ([], [], nil), ([""], [], nil), (["198.51.100.1,"], [], nil), (["anna"], [], nil),
        (["198.51.100.1 198.51.100.2"], [], nil), (["[2001:db8::7"], [], nil), (["[2001:db8::7]x"], [], nil),
        (["198.51.100.256"], [], nil), ([], ["198.51.100.1"], nil), ([], ["for="], nil), ([], ["for=\""], nil),
        ([], ["for=_hidden"], nil), ([], ["by=198.51.100.1"], nil),
    ]

    @Test(arguments: requests)
    func `the last address that the proxy names counts, and else its own`(
        forwardedFor: [String], forwarded: [String], sender: String?
    ) throws {
        let proxies = try Self.proxies()
        let named = proxies.sender(behind: "10.0.0.1", forwardedFor: forwardedFor, forwarded: forwarded)
        #expect(named == sender ?? "10.0.0.1")
        // Nobody else is believed.
        let forged = proxies.sender(behind: "203.0.113.1", forwardedFor: forwardedFor, forwarded: forwarded)
        #expect(forged == "203.0.113.1")
    }

    private static let bases: [([String], String)] = [
        (["/api/hassio_ingress/aB-1_x.y~z"], "/api/hassio_ingress/aB-1_x.y~z/"), (["/a/"], "/a/"), (["/"], "/"),
        ([], "/"), ([""], "/"), (["a"], "/"), (["/a", "/a"], "/"), (["//evil.example"], "/"), (["/a//b"], "/"),
        (["/a/../b"], "/"), (["/./a"], "/"), (["https://evil.example/"], "/"), (["/a:b"], "/"), (["/a%2e"], "/"),
        (["/a\"><script>"], "/"), (["/a b"], "/"), (["/\u{e4}"], "/"), (["/a\\b"], "/"),
    ]

    @Test(arguments: bases)
    func `a path that a proxy puts before is plain, or counts as none`(lines: [String], base: String) {
        #expect(TrustedProxies.base(ingressPath: lines) == base)
    }

    @Test func `a path that a proxy puts before has a limit`() {
        let longest = "/" + String(repeating: "a", count: TrustedProxies.maximumBase - 1)
        #expect(TrustedProxies.base(ingressPath: [longest]) == longest + "/")
        #expect(TrustedProxies.base(ingressPath: [longest + "a"]) == "/")
    }

    private static let protocols: [([String], Bool)] = [
        (["https"], true), (["http, HTTPS"], true), (["https", "https"], true), (["https, http"], false),
        (["https", "http"], false), ([], false), (["httpsx"], false),
    ]

    @Test(arguments: protocols)
    func `only the proxy's own word says that a request was encrypted`(lines: [String], isEncrypted: Bool) {
        #expect(TrustedProxies.isEncrypted(forwardedProto: lines) == isEncrypted)
    }
}
