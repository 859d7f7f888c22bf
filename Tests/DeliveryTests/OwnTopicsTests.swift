import Contract
import MQTT
import Testing
import Vitals

@testable import Delivery

/// What comes back of the gateway's own topics.
@Suite struct OwnTopicsTests {
    private static let root = "vitals2mqtt/home"

    private static func topics() throws -> OwnTopics {
        OwnTopics(ContractTopics(gateway: try #require(DeviceID("home"))))
    }

    private static func message(_ topic: String, isKept: Bool, schema: String = "info") -> InboundMessage {
        InboundMessage(
            topic: "\(root)/\(topic)", payload: Array(#"{"schema":"vitals2mqtt.\#(schema)/1","x":1}"#.utf8),
            isRetained: isKept)
    }

    @Test func `an echo that does not come is missed once on each connection, and is said seldom`() throws {
        let own = try Self.topics()
        for (start, isDue) in [(0, true), (60, true), (120, false)] {
            own.connect()
            #expect(own.takeMissed(at: .seconds(start + 1_000)) == nil, "nothing is subscribed to")
            own.subscribed(expectsEcho: true, at: .seconds(start))
            let limit = Duration.seconds(start) + OwnTopics.echoLimit
            #expect(own.takeMissed(at: limit - .milliseconds(1)) == nil)
            #expect(own.takeMissed(at: limit)?.isDue == isDue)
            #expect(own.takeMissed(at: limit + .seconds(1)) == nil)
            #expect(own.isEchoMissing)
        }
        own.subscribed(expectsEcho: false, at: .seconds(500))
        #expect(!own.isEchoMissing)
    }

    @Test func `only an echo that comes live says that the broker takes what the gateway publishes`() throws {
        let own = try Self.topics()
        own.subscribed(expectsEcho: true, at: .zero)
        #expect(own.takeMissed(at: .seconds(10)) != nil)
        own.subscribed(expectsEcho: true, at: .seconds(20))
        #expect(own.receive(Self.message("gateway/info", isKept: true)))
        #expect(own.isEchoMissing)
        #expect(own.receive(Self.message("gateway/info", isKept: false)))
        #expect(!own.isEchoMissing)
        #expect(own.takeMissed(at: .seconds(100)) == nil)
        for topic in ["gateway/state", "band/link", "info", "a/b/info", "band/command/info"] {
            #expect(!own.receive(Self.message(topic, isKept: false)), "\(topic)")
        }
    }

    @Test func `finds the devices whose info the broker keeps, and nothing else below its topics`() async throws {
        let own = try Self.topics()
        #expect(own.receive(Self.message("band/info", isKept: false)))
        #expect(own.receive(Self.message("lamp/info", isKept: true, schema: "other")))
        #expect(own.receive(Self.message("No id/info", isKept: true)))
        #expect(own.receive(Self.message("ring/info", isKept: true)))
        #expect(await own.found().map(\.text) == ["ring"])
    }

    @Test func `finds a bounded number of devices at once`() async throws {
        let own = try Self.topics()
        for number in 0...OwnTopics.maximumFound {
            #expect(own.receive(Self.message("d\(number)/info", isKept: true)))
        }
        #expect(await own.found().count == OwnTopics.maximumFound)
    }
}
