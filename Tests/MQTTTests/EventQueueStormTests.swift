import GatewayTesting
import MQTT
import TestSupport
import Testing

/// The network thread and the reader of a connection, on real threads.
@Suite struct EventQueueStormTests {
    @Test func `a queue that is filled, read, ended and left at once lets everybody go`() async {
        await Storm.run("A queue of events") { number in
            let queue = BrokerEventQueue(maximumInbound: 4)
            let reader = Task { while (try? await queue.next()) != nil {} }
            let network = Task {
                for token: Int64 in 0..<4 { queue.acknowledge(MessageToken(rawValue: token)) }
                queue.wake()
                _ = queue.isFilling
            }
            let error = BrokerError(.broken, "over")
            return [
                { if number.isMultiple(of: 2) { reader.cancel() } }, { queue.end(error) }, { _ = queue.takeAll() },
                {
                    await network.value
                    await reader.value
                },
            ]
        }
    }
}
