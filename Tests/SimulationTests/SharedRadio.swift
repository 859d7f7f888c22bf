import Concurrency
import Gateway
import GatewayKit
import Logging
import Synchronization

/// What simulated wearables share: a radio that a test breaks.
final class SharedRadio: PluginService {
    static let sample = ""

    private struct State {
        var notes: [String] = []
        /// Whether it can be opened.
        var works = true
        /// Fulfilled when it breaks.
        var breaking = Promise<Void>()
        /// It does not answer before.
        var answering: Promise<Void>?
    }
    private let state = Mutex(State())

    init() {}
    convenience init(options: inout ConfigurationReader) { self.init() }

    /// What happened, in order.
    var notes: [String] { state.withLock { $0.notes } }

    func note(_ text: String) { state.withLock { $0.notes.append(text) } }

    /// Breaks it, and lets it open again or not.
    func fail(untilRepaired: Bool) {
        let breaking = state.withLock { state in
            state.works = !untilRepaired
            defer { state.breaking = Promise() }
            return state.breaking
        }
        breaking.fulfil(())
    }

    /// Lets it answer only when the promise is kept.
    func hang(until end: Promise<Void>) { state.withLock { $0.answering = end } }

    func answer() async { try? await state.withLock { $0.answering }?.wait() }

    func repair() { state.withLock { $0.works = true } }

    func withService(context: ServiceContext, _ body: @escaping @Sendable () async throws -> Void) async throws {
        let (works, breaking) = state.withLock { ($0.works, $0.breaking) }
        guard works else { throw LinkError(.unreachable, "The stick is not plugged in.") }
        note("open")
        defer { note("closed") }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await body() }
            group.addTask {
                try await breaking.wait()
                throw LinkError(.broken, "The stick was pulled out.")
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// The radio as a gateway keeps it open. Another number is another configuration.
    func setup(_ number: Int = 1) -> ServiceSetup {
        ServiceSetup(name: "radio", service: self, fingerprint: number) { body in
            try await self.withService(
                context: ServiceContext(clock: .system, logger: .init(label: "radio")), body)
        }
    }
}
