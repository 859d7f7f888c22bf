package import GatewayKit
package import Vitals

/// One end of a stream of bytes in memory. What is written at one end is read at the other.
///
/// It is bounded as a socket is: a writer waits while the reader does not read. Faults come from a seed.
package final class ScriptedByteLink: ByteLink {
    /// What may be on its way before a writer waits: as much as a pipe of Linux holds.
    package static let defaultCapacity = 65_536

    private let incoming: BytePipe
    private let outgoing: BytePipe

    private init(incoming: BytePipe, outgoing: BytePipe) {
        self.incoming = incoming
        self.outgoing = outgoing
    }

    /// Both ends of a new link.
    /// - Parameters:
    ///   - toDevice: what goes wrong with bytes from the gateway's end to the device's.
    ///   - toGateway: what goes wrong with bytes from the device's end to the gateway's.
    ///   - clock: what delays are measured with.
    package static func pair(
        capacity: Int = defaultCapacity, toDevice: LinkFaults = .none, toGateway: LinkFaults = .none,
        clock: GatewayClock = .system, random: SplitMix64 = SplitMix64(seed: 0)
    ) -> (gateway: ScriptedByteLink, device: ScriptedByteLink) {
        var random = random
        let down = BytePipe(capacity: capacity, faults: toDevice, clock: clock, random: random.split())
        let up = BytePipe(capacity: capacity, faults: toGateway, clock: clock, random: random.split())
        return (ScriptedByteLink(incoming: up, outgoing: down), ScriptedByteLink(incoming: down, outgoing: up))
    }

    /// How many bytes wait to be read at this end.
    package var waiting: Int { incoming.count }

    /// Takes what the other end wrote.
    package func read(atMost limit: Int) async throws(LinkError) -> [UInt8] {
        try await incoming.read(atMost: limit)
    }

    /// Sends bytes to the other end, in one piece.
    package func write(_ bytes: [UInt8]) async throws(LinkError) {
        do {
            try await outgoing.write(bytes)
        } catch {
            // A connection breaks in both directions.
            if error.code == .broken { incoming.finish(.failure(error)) }
            throw error
        }
    }

    /// Closes the link: the other end reads what was sent and then the end.
    package func close() {
        outgoing.finish(.success(()))
        incoming.finish(.success(()))
    }

    /// Breaks the link in both directions.
    package func breakLink(_ error: LinkError = LinkError(.broken, "The scripted link broke.")) {
        outgoing.finish(.failure(error))
        incoming.finish(.failure(error))
    }
}
