import GatewayKit
import MQTT
import Synchronization
import TestSupport
import Vitals

/// A consumer that requests what it misses with `replay`, once the broker takes everything.
final class Consumer: Sendable {
    private struct State {
        var deliveries = Deliveries()
        /// The messages that are read.
        var position = 0
        var requests = 0
    }

    private let broker: InMemoryBroker
    private let observation: BrokerObservation
    private let clock: GatewayClock
    private let rounds: Int
    private let trace: Trace?
    private let state = Mutex(State())

    /// - Parameter rounds: how often it checks, once a minute.
    init(_ broker: InMemoryBroker, observation: BrokerObservation, clock: GatewayClock, rounds: Int, trace: Trace?) {
        self.broker = broker
        self.observation = observation
        self.clock = clock
        self.rounds = rounds
        self.trace = trace
    }

    /// Requests what is missing, once a minute.
    func run() async throws {
        for _ in 0..<rounds {
            try await clock.sleep(for: .minutes(1))
            let (wanted, first) = state.withLock { state in
                read(&state)
                let wanted = state.deliveries.requests
                defer { state.requests += wanted.count }
                return (wanted, state.requests)
            }
            for (index, range) in wanted.enumerated() {
                trace?.note("consumer", "asks for \(range) again")
                let payload =
                    "{\"id\":\"r\(first + index)\",\"from_seq\":\(range.lowerBound),\"to_seq\":\(range.upperBound)}"
                broker.publish(
                    OutgoingMessage(topic: "vitals2mqtt/home/gateway/command/replay", payload: Array(payload.utf8)))
            }
        }
    }

    /// What it has by now.
    var deliveries: Deliveries {
        state.withLock { state in
            read(&state)
            return state.deliveries
        }
    }

    private func read(_ state: inout State) {
        let messages = observation.messages
        for message in messages[state.position...] { state.deliveries.read(message) }
        state.position = messages.count
    }
}
