import Concurrency
package import GatewayKit
package import Listening
package import Logging
import Synchronization
package import Vitals

/// The gateway's own listener, for its pages and for what devices post: it listens where the configuration says, and moves when that
/// changes. Devices wait for their documents meanwhile.
///
/// It shares no task with what delivers, and nothing waits for it.
package final class WebServer: Sendable {
    /// What a listener needs beside its configuration.
    package struct Settings: Sendable {
        /// Keeps what a listener or a stream needs, such as its descriptors, until `body` returns.
        /// - Throws: why it cannot be had.
        package typealias Opener =
            @Sendable (_ body: @escaping @Sendable () async throws -> Void) async throws -> Void

        let clock: GatewayClock
        let logger: Logger
        let opener: Opener
        let streamOpener: Opener
        /// Lets one costly answer be made at a time, of all listeners.
        let turns = AsyncMutex()
        /// What devices post; each listener has the same.
        let documents: DocumentRequests
        /// How long a head may take; a test has another time.
        var headTime = WebConnections.headTime
        /// How long an answer may take; a test has another time.
        var answerTime = WebConnections.answerTime

        /// - Parameters:
        ///   - senders: the devices that may post.
        ///   - opener: for each opening of the listener: `descriptors` at most.
        ///   - streamOpener: for each event stream: one more descriptor.
        package init(
            clock: GatewayClock, logger: Logger, senders: ExpectedSenders = ExpectedSenders(),
            opener: @escaping Opener = { try await $0() }, streamOpener: @escaping Opener = { try await $0() }
        ) {
            self.clock = clock
            self.logger = logger
            self.opener = opener
            self.streamOpener = streamOpener
            documents = DocumentRequests(senders, clock: clock, logger: logger)
        }
    }

    /// The thread's own (3), the listener, its connections without event streams, and one that is being accepted.
    package static let descriptors = 5 + WebConnections.maximum + WebConnections.maximumRefused

    /// How often the address that it just left is tried again, and the pause before each.
    private static let retries = 20
    private static let retryPause: Duration = .milliseconds(50)

    private struct State {
        /// The listener of the configuration.
        var current: WebListener?
        /// Also those that have to end.
        var running: [WebListener] = []
        var isStopping = false
    }
    private let state = Mutex(State())
    private let router: Mutex<Router>
    private let settings: Settings
    private let pages: @Sendable (WebConfiguration) -> Router
    private let launcher = TaskLauncher()
    /// Allows one change at a time.
    private let changing = AsyncMutex()

    /// - Parameter pages: the pages of a configuration.
    package init(settings: Settings, pages: @escaping @Sendable (WebConfiguration) -> Router) {
        self.settings = settings
        self.pages = pages
        router = Mutex(Router([]))
    }

    /// The port at which it listens now; `nil` if it does not.
    package var port: Int? { state.withLock { $0.current }?.port }

    /// The connections of the listener that is open.
    var connections: WebConnections? { state.withLock { $0.current }?.connections }

    /// Returns when the thread of all connections has taken a turn.
    package static func answer() async { await WebListener.eventLoops.answer() }

    /// Listens as `configuration` and later changes say, until `stop` is called or the task is cancelled. An address that is not free
    /// is tried again.
    package func run(_ configuration: WebConfiguration?) async {
        if let configuration {
            show(pages(configuration))
            begin(configuration)
        }
        await launcher.run()
    }

    /// Makes `run` end. Returns at once.
    package func stop() {
        let running = state.withLock { state in
            state.isStopping = true
            return state.running
        }
        for listener in running { listener.stop() }
        launcher.finish()
    }

    /// Listens as another configuration says; `nil` for no longer.
    /// - Throws: why the new address cannot be used. It listens as before then.
    package func change(to configuration: WebConfiguration?) async throws(ListenError) {
        try await changing.withLock { () async throws(ListenError) in try await replace(with: configuration) }
    }

    private func replace(with new: WebConfiguration?) async throws(ListenError) {
        let old = state.withLock { $0.current }
        if let new, old.map({ !$0.configuration.listensLike(new) }) ?? true { try await move(from: old, to: new) }
        guard let new else {
            await end(old)
            return
        }
        show(pages(new))
    }

    private func show(_ pages: Router) { router.withLock { $0 = pages } }

    /// Opens the new listener before the old one ends, unless the system lets only one of them listen.
    private func move(from old: WebListener?, to new: WebConfiguration) async throws(ListenError) {
        let address = new.listen.address
        let isSame = old.map { $0.configuration.listen.address.collides(with: address) } ?? false
        // With files that cannot be used, the old one is not touched.
        _ = try new.listen.tls?.serverContext()
        if isSame { await end(old) }
        guard var listener = begin(new, isTrial: true) else { return }
        var result = await listener.tried.waitUncancelled()
        // A program that was just started has copies of all sockets for a moment, until it runs.
        for _ in 0..<Self.retries where isSame && result.isTaken {
            await end(listener)
            guard (try? await settings.clock.sleep(for: Self.retryPause)) != nil, let next = begin(new, isTrial: true)
            else { return }
            listener = next
            result = await listener.tried.waitUncancelled()
        }
        if case .failure(let error) = result {
            await end(listener)
            if isSame, let old { begin(old.configuration) } else { state.withLock { $0.current = old } }
            throw error
        }
        if !isSame { await end(old) }
    }

    /// Begins to listen. Returns `nil` after a stop.
    @discardableResult
    private func begin(_ configuration: WebConfiguration, isTrial: Bool = false) -> WebListener? {
        let listener = WebListener(configuration, settings: settings, isTrial: isTrial) { [self] in
            router.withLock { $0 }
        }
        let isBegun = state.withLock { state in
            guard !state.isStopping else { return false }
            state.current = listener
            state.running.append(listener)
            return true
        }
        guard isBegun else { return nil }
        let isLaunched = launcher.launch { [self] in
            await listener.run()
            state.withLock { state in state.running.removeAll { $0 === listener } }
        }
        return isLaunched ? listener : nil
    }

    private func end(_ listener: WebListener?) async {
        guard let listener else { return }
        listener.stop()
        await listener.ended.waitUncancelled()
        state.withLock { state in if state.current === listener { state.current = nil } }
    }
}

extension Result<Void, ListenError> {
    /// Whether another socket has the address.
    fileprivate var isTaken: Bool {
        guard case .failure(let error) = self else { return false }
        return error.isTaken
    }
}
