import GatewayKit
package import Logging
import Synchronization
import Web

/// Divides the process's file descriptors among the devices' links, so that the broker, the store and the programs
/// never lack one.
///
/// A program needs more of them at once than a connection, so small links would take all free ones before there are enough
/// for one. They leave room for one of the links that need the most.
package final class DescriptorBudget: Sendable {
    /// The descriptors that no link gets: standard streams (3), store with its readers (10), broker with TLS and name
    /// look-up (6), event loops and signals (14), and some to spare. A gateway without links has 18 at rest.
    package static let reserve = 40

    /// The process's limit.
    package let limit: Int
    private let state = Mutex(State())

    private struct State {
        /// How many links are open, by the descriptors of each.
        var links: [Int: Int] = [:]
        /// What the greatest link of the configuration needs.
        var greatest = 0

        /// The descriptors of all links.
        var used: Int { links.reduce(0) { $0 + $1.key * $1.value } }

        /// Whether one more link of `count` descriptors fits among so many.
        func fits(_ count: Int, into room: Int) -> Bool {
            guard count > 0 else { return true }
            guard used + count <= room else { return false }
            // Where even one of the greatest has no room, the others need not wait for it.
            guard count < greatest, greatest <= room else { return true }
            // One of the greatest may be open, and has what is kept for it.
            let kept = links[greatest, default: 0] > 0 ? greatest : 0
            return used - kept + count <= room - greatest
        }
    }

    /// A budget for a process with this limit.
    package init(limit: Int) { self.limit = limit }

    /// Keeps room for one link of so many descriptors from now on: links that need fewer leave it free.
    package func keepRoom(for greatest: Int) { state.withLock { $0.greatest = greatest } }

    /// Runs `body` with descriptors of its own.
    /// - Throws: `LinkError` `.unreachable` if there are not enough, else the error of `body`.
    package func with(_ count: Int, _ body: () async throws -> Void) async throws {
        let others = state.withLock { state -> Int? in
            guard state.fits(count, into: limit - Self.reserve) else { return state.links.values.reduce(0, +) }
            state.links[count, default: 0] += 1
            return nil
        }
        if let others {
            throw LinkError(
                .unreachable,
                "No file descriptors are left for this link: the process may have \(limit), and \(others) other links "
                    + "have theirs. Raise LimitNOFILE of the service, or ulimit -n.")
        }
        defer { state.withLock { $0.links[count, default: 1] -= 1 } }
        try await body()
    }

    /// Refuses a limit below the reserve. A store or a broker would fail somewhere in their work, and the event loops end the process
    /// where they get no descriptor.
    package func checkReserve() throws(DescriptorShortage) {
        guard limit >= Self.reserve else { throw DescriptorShortage(limit: limit) }
    }

    /// Warns if the limit is too low for all devices at once.
    package func check(_ configuration: GatewayConfiguration, logger: Logger) {
        let shared = configuration.services.filter { service in
            configuration.devices.contains { $0.serviceNames.contains(service.name) }
        }
        let needed = configuration.linkDescriptors + shared.map { type(of: $0.service).descriptors }
        let own = configuration.web == nil ? 0 : WebServer.descriptors
        let sum = Self.reserve + own + needed.reduce(0, +)
        guard sum > limit else { return }
        logger.warning(
            "The process may not have as many file descriptors as its devices need; some of them have to wait.",
            metadata: [
                "descriptors.limit": "\(limit)", "descriptors.needed": "\(sum)",
                "devices": "\(configuration.devices.count)",
            ])
    }
}

/// The process may not even have the descriptors that no link gets.
package struct DescriptorShortage: Error, Sendable, Hashable, CustomStringConvertible {
    /// The process's limit.
    package let limit: Int

    package var description: String {
        "The process may have \(limit) file descriptors, and the gateway itself needs \(DescriptorBudget.reserve), beside those of its "
            + "devices. Raise LimitNOFILE of the service, or ulimit -n."
    }
}

extension GatewayConfiguration {
    /// What the link of each device needs.
    var linkDescriptors: [Int] { devices.compactMap { $0.transport.map { type(of: $0).descriptors } } }
}
