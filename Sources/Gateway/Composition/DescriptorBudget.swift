import GatewayKit
package import Logging
import Synchronization

/// Divides the process's file descriptors among the devices' links, so that the broker, the store and the programs
/// never lack one.
package final class DescriptorBudget: Sendable {
    /// The descriptors that no link gets: standard streams (3), store with its readers (10), broker with TLS and name
    /// look-up (6), event loops and signals (14), and some to spare. A gateway without links has 18 at rest.
    package static let reserve = 40

    /// The process's limit.
    package let limit: Int
    private let used = Mutex((descriptors: 0, links: 0))

    /// A budget for a process with this limit.
    package init(limit: Int) { self.limit = limit }

    /// Runs `body` with descriptors of its own.
    /// - Throws: `LinkError` `.unreachable` if there are not enough, else the error of `body`.
    package func with(_ count: Int, _ body: () async throws -> Void) async throws {
        let others = used.withLock { used -> Int? in
            guard used.descriptors + count <= limit - Self.reserve else { return used.links }
            used.descriptors += count
            used.links += 1
            return nil
        }
        if let others {
            throw LinkError(
                .unreachable,
                "No file descriptors are left for this link: the process may have \(limit), and \(others) other links "
                    + "have theirs. Raise LimitNOFILE of the service, or ulimit -n.")
        }
        defer {
            used.withLock { used in
                used.descriptors -= count
                used.links -= 1
            }
        }
        try await body()
    }

    /// Warns if the limit is too low for all devices at once.
    package func check(_ configuration: GatewayConfiguration, logger: Logger) {
        let shared = configuration.services.filter { service in
            configuration.devices.contains { $0.serviceNames.contains(service.name) }
        }
        let links = configuration.devices.compactMap { $0.transport.map { type(of: $0).descriptors } }
        let needed = Self.reserve + links.reduce(0, +) + shared.map { type(of: $0.service).descriptors }.reduce(0, +)
        guard needed > limit else { return }
        logger.warning(
            "The process may not have as many file descriptors as its devices need; some of them have to wait.",
            metadata: [
                "descriptors.limit": "\(limit)", "descriptors.needed": "\(needed)",
                "devices": "\(configuration.devices.count)",
            ])
    }
}
