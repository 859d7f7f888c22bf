import Listening
import Testing

@Suite struct ConnectionShareTests {
    private static func shares() -> ConnectionShares {
        ConnectionShares(
            ConnectionShares.Limits(strangers: 6, strangersPerAddress: 2, all: 8, provenPerAddress: 4))
    }

    /// Admits a connection. Returns why not, or `nil`.
    private func refusal(_ shares: ConnectionShares, _ address: String?) -> ConnectionShares.Refusal? {
        do throws(ConnectionShares.Refusal) {
            _ = try shares.admit(address)
            return nil
        } catch { return error }
    }

    @Test func `an address has its part of the places, and gets it again`() throws {
        let shares = Self.shares()
        let first = try shares.admit("192.0.2.1")
        #expect(refusal(shares, "192.0.2.1") == nil)
        #expect(refusal(shares, "192.0.2.1") == .address)
        #expect(refusal(shares, "192.0.2.2") == nil)
        // A second release is none of another place.
        for _ in 0..<2 { shares.release(first) }
        #expect(refusal(shares, "192.0.2.1") == nil)
        #expect(refusal(shares, "192.0.2.1") == .address)
    }

    @Test(arguments: [
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", true), ("2001:db8:1:2::1", "2001:db8:1:3::1", false),
        ("192.0.2.1", "::ffff:192.0.2.1", true), ("192.0.2.1", "192.0.2.2", false),
        ("fe80::1%eth0", "fe80::2%eth1", true),
    ])
    func `the addresses that a host of IPv6 chooses have one part`(one: String, other: String, isSame: Bool) throws {
        let shares = Self.shares()
        for _ in 0..<2 { _ = try shares.admit(one) }
        #expect(refusal(shares, other) == (isSame ? .address : nil))
        #expect(shares.counts.addresses == (isSame ? 1 : 2))
    }

    @Test func `strangers never have all places, and those with a token may`() throws {
        let shares = Self.shares()
        let tickets = try (0..<6).map { try shares.admit("192.0.2.\($0)") }
        #expect(!shares.hasRoom)
        #expect(refusal(shares, "192.0.2.9") == .all)
        for ticket in tickets { try shares.prove(ticket) }
        #expect(shares.counts == (0, 6, 6))
        for number in 0..<2 {
            #expect(shares.hasRoom)
            try shares.prove(try shares.admit("198.51.100.\(number)"))
        }
        #expect(!shares.hasRoom)
        #expect(refusal(shares, "192.0.2.9") == .all)
        shares.release(tickets[0])
        #expect(refusal(shares, "192.0.2.9") == nil)
    }

    @Test func `a token frees the part of an address, which has a larger one with tokens`() throws {
        let shares = Self.shares()
        for _ in 0..<4 { try shares.prove(try shares.admit("192.0.2.1")) }
        let fifth = try shares.admit("192.0.2.1")
        #expect(throws: ConnectionShares.Refusal.address) { try shares.prove(fifth) }
        #expect(shares.counts == (1, 4, 1))
        #expect(refusal(shares, "192.0.2.2") == nil)
    }

    @Test func `a proxy has no part of its own, and each address that it names has one`() throws {
        let shares = Self.shares()
        let tickets = try (0..<5).map { _ in try shares.admit(nil) }
        for ticket in tickets.prefix(2) { try shares.name(ticket, "192.0.2.1") }
        #expect(throws: ConnectionShares.Refusal.address) { try shares.name(tickets[2], "192.0.2.1") }
        // It is nobody's, and may still be another address's.
        try shares.name(tickets[2], "192.0.2.2")
        // The same address again is no further connection.
        try shares.name(tickets[0], "192.0.2.1")
        #expect(shares.counts == (5, 0, 2))
        // The next request is of another address, which has proved nothing.
        try shares.prove(tickets[0])
        try shares.name(tickets[0], "192.0.2.1")
        #expect(shares.counts == (4, 1, 2))
        try shares.name(tickets[0], "192.0.2.3")
        #expect(shares.counts == (5, 0, 3))
        for ticket in tickets { shares.release(ticket) }
        #expect(shares.counts == (0, 0, 0))
        // What was closed meanwhile gets no place.
        try shares.name(tickets[0], "192.0.2.3")
        try shares.prove(tickets[0])
        #expect(shares.counts == (0, 0, 0))
    }
}
