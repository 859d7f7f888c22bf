import MQTT
import Synchronization
import Testing
import Vitals

@testable import Delivery

@Suite struct DocumentTopicsTests {
    /// Who got which topics, in their order.
    private final class Arrivals: Sendable {
        private let all = Mutex<[String]>([])
        var texts: [String] { all.withLock { $0 } }
        func add(_ text: String) { all.withLock { $0.append(text) } }
    }

    private static func message(_ topic: String) -> InboundMessage { InboundMessage(topic: topic, payload: [1]) }

    @Test func `a message goes to each device that takes its topic, once`() {
        let (topics, arrivals) = (DocumentTopics(), Arrivals())
        for (owner, subscription) in [("anna", "home/+/scale"), ("anna", "home/a/#"), ("ben", "home/a/scale")] {
            topics.add(subscription, for: owner) { arrivals.add("\(owner) \($0.topic)") }
        }
        #expect(topics.receive(Self.message("home/a/scale")) == .taken)
        #expect(arrivals.texts.sorted() == ["anna home/a/scale", "ben home/a/scale"])
        #expect(topics.receive(Self.message("home/b/scale")) == .taken)
        #expect(topics.receive(Self.message("vitals2mqtt/home/a/sync")) == .none)
        #expect(arrivals.texts.count == 3)
    }

    @Test func `a topic that is nobody's is named once, and a hundred of them at most`() {
        let (topics, arrivals) = (DocumentTopics(), Arrivals())
        topics.add("zigbee2mqtt/+", own: TopicFilter("zigbee2mqtt/scale"), for: "scale") { arrivals.add($0.topic) }
        topics.add("zigbee2mqtt/+", own: TopicFilter("zigbee2mqtt/cuff"), for: "cuff") { arrivals.add($0.topic) }
        #expect(topics.receive(Self.message("zigbee2mqtt/scale")) == .taken)
        #expect(topics.receive(Self.message("zigbee2mqtt/cuff")) == .taken)
        #expect(arrivals.texts == ["zigbee2mqtt/scale", "zigbee2mqtt/cuff"])
        for number in 1...DocumentTopics.maximumNamed {
            let isLast = number == DocumentTopics.maximumNamed
            #expect(topics.receive(Self.message("zigbee2mqtt/\(number)")) == .unknown(isLast: isLast))
            #expect(topics.receive(Self.message("zigbee2mqtt/\(number)")) == .taken)
        }
        #expect(topics.receive(Self.message("zigbee2mqtt/lamp")) == .taken)
        #expect(arrivals.texts.count == 2)
    }

    @Test func `what no device takes any more is ignored, and is no command`() {
        let (topics, arrivals) = (DocumentTopics(), Arrivals())
        topics.add("a/+", for: "anna") { arrivals.add($0.topic) }
        topics.add("a/+", for: "ben") { arrivals.add($0.topic) }
        topics.remove("a/+", for: "anna")
        #expect(topics.receive(Self.message("a/b")) == .taken)
        #expect(arrivals.texts == ["a/b"])
        topics.remove("a/+", for: "ben")
        #expect(topics.receive(Self.message("a/b")) == .taken)
        #expect(arrivals.texts == ["a/b"])
    }
}
