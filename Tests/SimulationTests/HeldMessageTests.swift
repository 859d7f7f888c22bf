import Concurrency
import Delivery
import GatewayTesting
import MQTT
import TestSupport
import Testing
import Vitals

/// Messages of devices that are made of them, through a whole gateway.
@Suite struct HeldMessageTests {
    @Test func `what comes before its device is there is kept until it is`() throws {
        try Scenario.everyOrder(0..<5) { home in
            home.documents.hold("zig/+", for: "template")
            home.broker.publish(OutgoingMessage(topic: "zig/bed", payload: [1], isRetained: true))
            try await home.run([try home.device("band")]) {
                await home.documents.hasHeld.wait()
                let arrival = home.simulation.gatewayClock.now
                try await home.sleep(for: .seconds(2))
                let taken = Promise<[UInt8]>()
                let kept = home.documents.add("zig/+", own: TopicFilter("zig/bed"), for: "bed") {
                    taken.fulfil($0.payload)
                }
                #expect(kept.map(\.message.payload) == [[1]] && kept.first?.message.isRetained == true)
                #expect(kept.allSatisfy { $0.receivedAt <= arrival })
                home.broker.publish(OutgoingMessage(topic: "zig/bed", payload: [2]))
                let next = try await taken.wait()
                #expect(next == [2])
                // Neither is a command.
                #expect(!home.log.entries.contains { $0.metadata["topic"] == "zig/bed" })
            }
        }
    }
}
