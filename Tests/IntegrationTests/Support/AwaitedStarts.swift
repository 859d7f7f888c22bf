import JSON
import MQTT
import Synchronization

/// The starts of samples that a test waits for on a topic. It reads each message once, however often it is asked.
final class AwaitedStarts: Sendable {
    private let topic: String
    private let state: Mutex<(missing: Set<String>, read: Int)>

    init(_ starts: Set<String>, on topic: String) {
        self.topic = topic
        state = Mutex((starts, 0))
    }

    /// The starts that have not arrived.
    var missing: Set<String> { state.withLock { $0.missing } }

    /// Reads the new messages. Returns whether all starts have arrived.
    func haveArrived(in messages: [InboundMessage]) -> Bool {
        state.withLock { state in
            // Two threads may ask at the same time, one with fewer messages.
            for message in messages.dropFirst(state.read) where message.topic == topic {
                let samples = message.json["samples"]?.asArray ?? []
                state.missing.subtract(samples.compactMap { $0["start"]?.asString })
            }
            state.read = max(state.read, messages.count)
            return state.missing.isEmpty
        }
    }
}
