import Synchronization

/// Which published messages are not acknowledged yet, by libmosquitto's packet identifier.
///
/// libmosquitto tells the identifier only when its publishing function returns, and the network thread may report the
/// acknowledgement before that. Such an early one is kept until the publisher comes to note its token.
final class InFlightLedger: Sendable {
    /// What became of a message.
    struct Settlement: Sendable, Equatable {
        /// The publisher's token; `nil` for quality of service 0, which is not reported.
        var token: MessageToken?
        /// Why the broker did not take it.
        var refusal: RefusalReason?
    }
    private struct State {
        var window: Int
        /// Messages of quality of service 1 and 0. Only the former count against the broker's limit; the latter have
        /// the configured one, so that the library's queue is bounded while the network does not move.
        var count = 0
        var unconfirmedCount = 0
        var tokens: [Int32: MessageToken?] = [:]
        var early: [Int32: RefusalReason?] = [:]

        mutating func giveBack(_ qos: QualityOfService) {
            switch qos {
            case .atLeastOnce: count -= 1
            case .atMostOnce: unconfirmedCount -= 1
            }
        }
    }
    private let state: Mutex<State>
    private let configuredWindow: Int

    /// An empty ledger for up to `window` messages.
    init(window: Int) {
        configuredWindow = window
        state = Mutex(State(window: window))
    }

    /// How many messages may be in flight.
    var window: Int { state.withLock { $0.window } }

    /// Lowers the window to what the broker accepts.
    func limit(to window: Int) { state.withLock { $0.window = min($0.window, window) } }

    /// Takes a place for a message that is about to be published; `false` when there is none.
    func reserve(_ qos: QualityOfService = .atLeastOnce) -> Bool {
        state.withLock { state in
            switch qos {
            case .atLeastOnce:
                guard state.count < state.window else { return false }
                state.count += 1
            case .atMostOnce:
                guard state.unconfirmedCount < configuredWindow else { return false }
                state.unconfirmedCount += 1
            }
            return true
        }
    }

    /// Gives the place of a message back that could not be published.
    func cancel(_ qos: QualityOfService = .atLeastOnce) { state.withLock { $0.giveBack(qos) } }

    /// Notes a message that was published, with its token or `nil` for quality of service 0; returns its settlement
    /// when that came first.
    func note(_ id: Int32, token: MessageToken?) -> Settlement? {
        state.withLock { state in
            guard let refusal = state.early.removeValue(forKey: id) else {
                state.tokens[id] = .some(token)
                return nil
            }
            state.giveBack(token == nil ? .atMostOnce : .atLeastOnce)
            return Settlement(token: token, refusal: refusal)
        }
    }

    /// Takes a message out that the broker answered, or that was sent; `nil` when its publisher has not noted it yet.
    func settle(_ id: Int32, refusal: RefusalReason?) -> Settlement? {
        state.withLock { state in
            guard let token = state.tokens.removeValue(forKey: id) else {
                state.early[id] = .some(refusal)
                return nil
            }
            state.giveBack(token == nil ? .atMostOnce : .atLeastOnce)
            return Settlement(token: token, refusal: refusal)
        }
    }
}
