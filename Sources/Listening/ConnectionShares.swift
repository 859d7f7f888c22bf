import Synchronization

/// Shares the connections of a listener among the addresses that hold them, so that no stranger keeps out the others.
///
/// A connection is a stranger until it has proved a token. An address, or the 64 bits of IPv6 that one host has, gets a part of the
/// strangers' places only, and strangers never get all places. It knows no clock: how long a stranger may stay, the listener decides.
package final class ConnectionShares: Sendable {
    /// How many connections there may be at a time.
    package struct Limits: Sendable, Hashable {
        /// The most strangers.
        package var strangers: Int
        /// The most strangers of one address.
        package var strangersPerAddress: Int
        /// The most connections in all; `nil` where something else bounds those that have proved a token.
        package var all: Int?
        /// The most connections of one address that have proved a token; `nil` as above.
        package var provenPerAddress: Int?

        package init(strangers: Int, strangersPerAddress: Int, all: Int? = nil, provenPerAddress: Int? = nil) {
            self.strangers = strangers
            self.strangersPerAddress = strangersPerAddress
            self.all = all
            self.provenPerAddress = provenPerAddress
        }
    }

    /// The place of a connection.
    package struct Ticket: Sendable, Hashable { fileprivate let number: Int }

    /// Why a connection gets no place: a sentence for a person.
    package enum Refusal: String, Error, Sendable, CustomStringConvertible {
        case address = "Too many connections of this address are open."
        case all = "Too many connections are open."

        package var description: String { rawValue }
    }

    private struct Holder {
        /// `nil` for a connection of a proxy that has not said yet whose it is.
        var network: Network?
        var isProven = false
    }

    private struct Tally {
        var strangers = 0
        var proven = 0
    }

    private struct State {
        var holders: [Ticket: Holder] = [:]
        var tallies: [Network: Tally] = [:]
        var strangers = 0
        var last = 0

        /// Why one more stranger of a network gets no place.
        func refusal(of network: Network?, _ limits: Limits) -> Refusal? {
            if strangers >= limits.strangers { return .all }
            guard let network, let tally = tallies[network] else { return nil }
            return tally.strangers < limits.strangersPerAddress ? nil : .address
        }

        func hasRoom(_ limits: Limits) -> Bool {
            strangers < limits.strangers && limits.all.map { holders.count < $0 } ?? true
        }

        /// Counts a connection for another holder, or no longer.
        mutating func move(_ ticket: Ticket, to holder: Holder?) {
            if let earlier = holders[ticket] { count(earlier, -1) }
            holders[ticket] = holder
            if let holder { count(holder, 1) }
        }

        private mutating func count(_ holder: Holder, _ step: Int) {
            if !holder.isProven { strangers += step }
            guard let network = holder.network else { return }
            var tally = tallies[network] ?? Tally()
            if holder.isProven { tally.proven += step } else { tally.strangers += step }
            tallies[network] = tally.strangers + tally.proven == 0 ? nil : tally
        }
    }

    private let limits: Limits
    private let state = Mutex(State())

    package init(_ limits: Limits) { self.limits = limits }

    /// Whether a stranger of some address would get a place now.
    package var hasRoom: Bool { state.withLock { $0.hasRoom(limits) } }

    /// The connections now, and the addresses that hold them.
    package var counts: (strangers: Int, proven: Int, addresses: Int) {
        state.withLock { ($0.strangers, $0.holders.count - $0.strangers, $0.tallies.count) }
    }

    /// Gives a new connection a place among the strangers.
    /// - Parameter address: whose it is; `nil` for a trusted proxy, which has no share of its own and names the address later.
    /// - Throws: why it gets none.
    package func admit(_ address: String?) throws(Refusal) -> Ticket {
        let network = address.map { Network(of: $0) }
        let place = state.withLock { state -> Result<Ticket, Refusal> in
            if let refusal = state.refusal(of: network, limits) { return .failure(refusal) }
            guard state.hasRoom(limits) else { return .failure(.all) }
            state.last += 1
            let ticket = Ticket(number: state.last)
            state.move(ticket, to: Holder(network: network))
            return .success(ticket)
        }
        return try place.get()
    }

    /// Counts a connection for the address that its proxy names from now on. That of another address than before is a stranger again.
    /// - Throws: why that address gets no place. The connection is nobody's then, and has to end.
    package func name(_ ticket: Ticket, _ address: String) throws(Refusal) {
        let network = Network(of: address)
        let refusal = state.withLock { state -> Refusal? in
            guard let holder = state.holders[ticket], holder.network != network else { return nil }
            // It does not compete with itself.
            state.move(ticket, to: nil)
            let refusal = state.refusal(of: network, limits)
            state.move(ticket, to: Holder(network: refusal == nil ? network : nil))
            return refusal
        }
        if let refusal { throw refusal }
    }

    /// Counts a connection no longer as a stranger: it has proved a token.
    /// - Throws: `.address` if its address has as many of these as it may. It stays a stranger then.
    package func prove(_ ticket: Ticket) throws(Refusal) {
        let refusal = state.withLock { state -> Refusal? in
            guard var holder = state.holders[ticket], !holder.isProven else { return nil }
            if let most = limits.provenPerAddress, let network = holder.network,
                let tally = state.tallies[network], tally.proven >= most
            {
                return .address
            }
            holder.isProven = true
            state.move(ticket, to: holder)
            return nil
        }
        if let refusal { throw refusal }
    }

    /// Gives the place of a connection back. A second time changes nothing.
    package func release(_ ticket: Ticket) { state.withLock { $0.move(ticket, to: nil) } }
}
