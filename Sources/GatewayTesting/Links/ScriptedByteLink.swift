public import GatewayKit
public import Vitals

/// One end of an in-memory byte stream. Bytes written at one end are read at the other.
///
/// It is bounded like a socket: a writer waits while the reader does not read. Faults come from a seed.
public final class ScriptedByteLink: ByteLink {
    /// How many bytes may be in transit before a writer waits: the capacity of a Linux pipe.
    package static let defaultCapacity = 65_536

    private let incoming: BytePipe
    private let outgoing: BytePipe

    private init(incoming: BytePipe, outgoing: BytePipe) {
        self.incoming = incoming
        self.outgoing = outgoing
    }

    /// Creates both ends of a new link.
    /// - Parameters:
    ///   - toDevice: the faults from the gateway's end to the device's.
    ///   - toGateway: the faults from the device's end to the gateway's.
    ///   - clock: the clock for delays.
    package static func pair(
        capacity: Int = defaultCapacity, toDevice: LinkFaults = .none, toGateway: LinkFaults = .none,
        clock: GatewayClock = .system, random: SplitMix64 = SplitMix64(seed: 0)
    ) -> (gateway: ScriptedByteLink, device: ScriptedByteLink) {
        var random = random
        let down = BytePipe(capacity: capacity, faults: toDevice, clock: clock, random: random.split())
        let up = BytePipe(capacity: capacity, faults: toGateway, clock: clock, random: random.split())
        return (ScriptedByteLink(incoming: up, outgoing: down), ScriptedByteLink(incoming: down, outgoing: up))
    }

    /// Creates both ends of a new link without faults, with the capacity of a Linux pipe.
    public static func pair(clock: GatewayClock) -> (gateway: ScriptedByteLink, device: ScriptedByteLink) {
        pair(capacity: defaultCapacity, clock: clock)
    }

    /// The number of bytes waiting to be read at this end.
    package var waiting: Int { incoming.count }

    /// Reads what the other end wrote.
    public func read(atMost limit: Int) async throws(LinkError) -> [UInt8] {
        try await incoming.read(atMost: limit)
    }

    /// Sends bytes to the other end, in one piece.
    public func write(_ bytes: [UInt8]) async throws(LinkError) {
        do {
            try await outgoing.write(bytes)
        } catch {
            // A connection breaks in both directions.
            if error.code == .broken { incoming.finish(.failure(error)) }
            throw error
        }
    }

    /// Closes the link: the other end reads the bytes already sent and then the end.
    public func close() {
        outgoing.finish(.success(()))
        incoming.finish(.success(()))
    }

    /// Breaks the link in both directions.
    package func breakLink(_ error: LinkError = LinkError(.broken, "The scripted link broke.")) {
        outgoing.finish(.failure(error))
        incoming.finish(.failure(error))
    }
}
