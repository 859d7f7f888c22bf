import MQTT
import Synchronization

/// The unacknowledged published messages by libmosquitto's packet identifier.
///
/// libmosquitto returns the identifier only at the end of its publish function, and the network thread may report the
/// acknowledgement before that. An early acknowledgement is kept until the publisher notes its token.
final class InFlightMessages: Sendable {
    /// The outcome of a message.
    struct Settlement: Sendable, Equatable {
        /// The publisher's token; `nil` for quality of service 0, which has no report.
        var token: MessageToken?
        /// The reason of the broker's refusal.
        var refusal: BrokerRefusal?
    }
    private struct State {
        var window: Int
        /// The numbers of messages of quality of service 1 and 0. Only the former count against the broker's limit; the
        /// configured limit applies to the latter and bounds the library's queue while the network is stalled.
        var count = 0
        var unconfirmedCount = 0
        var tokens: [Int32: MessageToken?] = [:]
        var early: [Int32: BrokerRefusal?] = [:]

        mutating func releaseSlot(_ qos: QualityOfService) {
            switch qos {
            case .atLeastOnce: count -= 1
            case .atMostOnce: unconfirmedCount -= 1
            }
        }
    }
    private let state: Mutex<State>
    private let configuredWindow: Int

    /// An empty set for up to `window` messages.
    init(window: Int) {
        configuredWindow = window
        state = Mutex(State(window: window))
    }

    /// The maximum number of messages in flight.
    var window: Int { state.withLock { $0.window } }

    /// Lowers the window to the broker's limit.
    func limit(to window: Int) { state.withLock { $0.window = min($0.window, window) } }

    /// Reserves a place for a message before publishing; `false` when there is none.
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

    /// Gives back the place of a message that could not be published.
    func cancel(_ qos: QualityOfService = .atLeastOnce) { state.withLock { $0.releaseSlot(qos) } }

    /// Notes a published message with its token, `nil` for quality of service 0; returns its settlement if that
    /// arrived first.
    func note(_ id: Int32, token: MessageToken?) -> Settlement? {
        state.withLock { state in
            guard let refusal = state.early.removeValue(forKey: id) else {
                state.tokens[id] = .some(token)
                return nil
            }
            state.releaseSlot(token == nil ? .atMostOnce : .atLeastOnce)
            return Settlement(token: token, refusal: refusal)
        }
    }

    /// Removes an answered or sent message; `nil` when its publisher has not noted it yet.
    func settle(_ id: Int32, refusal: BrokerRefusal?) -> Settlement? {
        state.withLock { state in
            guard let token = state.tokens.removeValue(forKey: id) else {
                state.early[id] = .some(refusal)
                return nil
            }
            state.releaseSlot(token == nil ? .atMostOnce : .atLeastOnce)
            return Settlement(token: token, refusal: refusal)
        }
    }
}
