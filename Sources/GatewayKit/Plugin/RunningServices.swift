import Concurrency
import Synchronization

/// The services of plugins that are open at the moment, for the drivers and transports that use them.
public final class RunningServices: Sendable {
    private enum State {
        /// The promise is fulfilled when the service is no longer open, with the reason.
        case open(any PluginService, ended: Promise<LinkError>)
        case failed(LinkError)
    }
    private let states = Mutex<[ObjectIdentifier: State]>([:])

    /// Services that are open, for tests of a driver or a transport; none by default.
    public init(_ open: [any PluginService] = []) {
        for service in open { opened(service) }
    }

    /// Runs `body` with the open service of this type. When the service breaks, `body` is cancelled.
    /// - Throws: what `body` throws; a `LinkError` if the service is not open (`unreachable`), or breaks (`broken`).
    public func with<Service: PluginService>(
        _ type: Service.Type, _ body: @escaping @Sendable (Service) async throws -> Void
    ) async throws {
        let state = states.withLock { $0[ObjectIdentifier(type)] }
        switch state {
        case .open(let service as Service, let ended):
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await body(service) }
                group.addTask { throw try await ended.wait() }
                defer { group.cancelAll() }
                try await group.next()
            }
        case .failed(let error): throw error
        default: throw LinkError(.unreachable, "It is not open: \(Service.shared).")
        }
    }

    /// Makes a service available.
    package func opened(_ service: any PluginService) {
        let key = ObjectIdentifier(Swift.type(of: service))
        states.withLock { $0[key] = .open(service, ended: Promise()) }
    }

    /// Ends the use of a service. Until it is open again, its users get an error with this reason.
    package func closed(_ type: any PluginService.Type, _ reason: String) {
        let before = states.withLock { states in
            defer { states[ObjectIdentifier(type)] = .failed(LinkError(.unreachable, reason)) }
            return states[ObjectIdentifier(type)]
        }
        if case .open(_, let ended) = before { ended.fulfil(LinkError(.broken, reason)) }
    }
}
