import GatewayKit
package import MQTT
import Synchronization
package import Vitals

/// A deterministic broker without network, wall clock or threads. Its behaviour follows only from the calls, the given
/// clock and the given random numbers: the same seed gives the same run.
package final class InMemoryBroker: Sendable {
    struct Retained {
        var message: OutgoingMessage
        var expiresAt: Duration?
    }
    struct State {
        var sessions: [InMemorySession] = []
        var nextSession = 0
        var retained: [String: Retained] = [:]
        var published: [PublishedMessage] = []
        /// What ended sessions have received, by client.
        var received: [String: [ReceivedMessage]] = [:]
        var observations: [BrokerObservation] = []
        var faults = BrokerFaults()
        var dice: Dice
        var refusal: BrokerError?
        var isHolding = false
        var attempts = 0
        var forbidden: [(filter: TopicFilter, reason: BrokerRefusal)] = []
        var forbiddenSubscriptions: [String] = []
        var poisonedSubscription: String?
        var maximumPacketSize: Int?
        var poison: (@Sendable (OutgoingMessage) -> Bool)?
        var isSwallowed: (@Sendable (OutgoingMessage) -> Bool)?
    }
    let state: Mutex<State>
    let clock: GatewayClock

    /// Creates a broker without messages and clients.
    package init(clock: GatewayClock, generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()) {
        self.clock = clock
        state = Mutex(State(dice: Dice(generator)))
    }

    /// The broker for a client with these options.
    package func client(_ options: InMemoryClientOptions) -> any Broker {
        InMemoryClient(broker: self, options: options)
    }

    /// The broker for the client called `id`.
    package func client(id: String, will: OutgoingMessage? = nil) -> any Broker {
        client(InMemoryClientOptions(id: id, will: will))
    }

    // MARK: Observations

    /// Records every message published on `filter` from now on.
    package func observe(_ filter: String = "#") -> BrokerObservation {
        let observation = BrokerObservation(filter: TopicFilter(filter))
        state.withLock { $0.observations.append(observation) }
        return observation
    }

    /// Every message that the broker has accepted, in order.
    package var published: [PublishedMessage] { state.withLock { $0.published } }

    /// Every message that a client of this name has received, and not dropped.
    package func received(by client: String) -> [ReceivedMessage] {
        state.withLock { state in
            (state.received[client] ?? [])
                + state.sessions.filter { $0.options.id == client }.flatMap(\.received)
        }
    }

    /// The retained messages that a new subscriber of `filter` would get, by topic.
    package func retained(_ filter: String = "#") -> [OutgoingMessage] {
        let filter = TopicFilter(filter)
        let now = clock.uptime
        return state.withLock { state in
            state.forgetExpired(now)
            return state.retained.values.map(\.message).filter { filter.matches($0.topic) }
                .sorted { $0.topic < $1.topic }
        }
    }

    /// The names of the connected clients, the longest connected first.
    package var connectedClients: [String] { state.withLock { $0.sessions.map(\.options.id) } }

    /// The number of connection attempts.
    package var connectionAttempts: Int { state.withLock { $0.attempts } }

    // MARK: Control by the test

    /// Publishes without a client, for instance a command.
    package func publish(_ message: OutgoingMessage) {
        let now = clock.uptime
        state.withLock { $0.receive(message, from: nil, isWill: false, now: now) }
    }

    /// Sets the faults from now on.
    package func setFaults(_ faults: BrokerFaults) { state.withLock { $0.faults = faults } }

    /// Refuses every new connection with `error`; `nil` accepts them again.
    package func refuseConnections(_ error: BrokerError?) { state.withLock { $0.refusal = error } }

    /// Refuses messages on the topics of `filter`, like a broker's access list.
    package func forbid(_ filter: String, _ reason: BrokerRefusal = .notAuthorized) {
        state.withLock { $0.forbidden.append((TopicFilter(filter), reason)) }
    }

    /// Ends what `forbid` refuses.
    package func allowAll() { state.withLock { $0.forbidden = [] } }

    /// Refuses subscriptions with exactly this filter.
    package func forbidSubscription(_ filter: String) { state.withLock { $0.forbiddenSubscriptions.append(filter) } }

    /// Cuts the connection of a client that subscribes to exactly this filter; `nil` ends that.
    package func cutAtSubscription(_ filter: String?) { state.withLock { $0.poisonedSubscription = filter } }

    /// Takes no packet longer than this from now on: a client of MQTT 5 receives the limit when it connects, and any client that
    /// sends a longer one is cut.
    package func limitPackets(to size: Int?) { state.withLock { $0.maximumPacketSize = size } }

    /// The greatest packet that it takes, in bytes; `nil` without a limit.
    package var maximumPacketSize: Int? { state.withLock { $0.maximumPacketSize } }

    /// Cuts the connection of a client whenever it sends such a message, and does not store it; `nil` ends that.
    package func cutAt(_ isPoison: (@Sendable (OutgoingMessage) -> Bool)?) { state.withLock { $0.poison = isPoison } }

    /// Neither stores nor acknowledges such messages, and keeps the connection; `nil` ends that.
    package func swallow(_ isSwallowed: (@Sendable (OutgoingMessage) -> Bool)?) {
        state.withLock { $0.isSwallowed = isSwallowed }
    }

    /// Breaks the connection of `client`, or all connections, and publishes the wills.
    package func cut(_ client: String? = nil) {
        let now = clock.uptime
        state.withLock { state in
            for session in state.sessions where client == nil || session.options.id == client {
                state.end(session.id, .cut, now: now)
            }
        }
    }

    /// Holds back acknowledgements and messages on every connection from now on.
    package func hold() {
        state.withLock { state in
            state.isHolding = true
            for index in state.sessions.indices { state.sessions[index].isHeld = true }
        }
    }

    /// Releases what was held back.
    package func release() {
        let now = clock.uptime
        state.withLock { state in
            state.isHolding = false
            for index in state.sessions.indices { state.sessions[index].release(now: now) }
        }
    }
}

extension BrokerError {
    /// The error of a client of an `InMemoryBroker` when its connection is cut.
    static let cut = BrokerError(.broken, "The connection to the broker was lost.")
}
