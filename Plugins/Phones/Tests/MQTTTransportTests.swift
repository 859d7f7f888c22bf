import GatewayKit
import GatewayTesting
import Logging
import TestSupport
import Testing
import Vitals

@testable import Phones

@Suite struct MQTTTransportTests {
    private func transport(_ members: KeyValuePairs<String, String>) -> (MQTTTransport, issues: [String]) {
        var reader = ConfigurationReader(.section(members, isQuoted: true))
        let transport = MQTTTransport(options: &reader)
        return (transport, reader.finish().map(\.message))
    }

    @Test func `a device needs a topic`() {
        #expect(transport(["topic": "phones/anna"]).0.topics == ["phones/anna"])
        #expect(transport([:]).issues.first?.contains("topic is missing") == true)
    }

    @Test func `a session begins with a message, and ends ten seconds after the last one`() throws {
        let transport = transport(["topic": "phones/anna"]).0
        try Simulation.run(seed: 1, deadline: .days(1)) { simulation in
            guard let device = DeviceID("phone") else { return }
            var context = LinkContext(device: device, logger: Logger(label: "test"))
            context.clock = simulation.gatewayClock
            let queue = context.documents
            func message(_ text: String) -> Document {
                Document(Array(text.utf8), mediaType: "application/json", receivedAt: simulation.date)
            }
            let (first, second) = (message("1"), message("2"))
            #expect(queue.add(first))
            let begin = simulation.uptime
            await #expect(throws: LinkError(.ended, "The device has sent all that it had to send.")) {
                try await transport.withLink(context: context) { link in
                    guard case .documents(let documents) = link else { return }
                    #expect(try await documents.next() === first)
                    first.answer(.stored(DocumentReport()))
                    #expect(queue.add(second))
                    #expect(try await documents.next() === second)
                    _ = try await documents.next()
                }
            }
            #expect(simulation.uptime - begin == DocumentQueue.pause)
            // The session ended without an answer to the second.
            guard case .interrupted = try await second.answered() else {
                Issue.record("no answer")
                return
            }
        }
    }
}
