import GatewayTesting
import Listening
import Testing

/// Connections come, are named, prove a token and end on many threads.
@Suite struct ConnectionShareStormTests {
    @Test func `connections that come and go at once never exceed the limits, and leave no place taken`() async {
        let shares = ConnectionShares(
            ConnectionShares.Limits(strangers: 3, strangersPerAddress: 2, all: 4, provenPerAddress: 2))
        await Storm.run("Shares of connections", rounds: Storm.rounds / 5) { number in
            (0..<6).map { contender -> @Sendable () async -> Void in
                {
                    let address = contender == 0 ? nil : "192.0.2.\((number + contender) % 3)"
                    guard let ticket = try? shares.admit(address) else { return }
                    if contender == 0 { try? shares.name(ticket, "192.0.2.1") }
                    if contender.isMultiple(of: 2) { try? shares.prove(ticket) }
                    let counts = shares.counts
                    if counts.strangers > 3 || counts.strangers + counts.proven > 4 { Issue.record("\(counts)") }
                    shares.release(ticket)
                }
            }
        }
        #expect(shares.counts == (0, 0, 0))
        #expect(shares.hasRoom)
    }
}
