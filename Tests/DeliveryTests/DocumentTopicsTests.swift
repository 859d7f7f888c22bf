import Concurrency
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

    private static func message(_ topic: String, _ payload: [UInt8] = [1]) -> InboundMessage {
        InboundMessage(topic: topic, payload: payload)
    }

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

    @Test func `what no device takes is kept for the one that is made of it, with the time of its arrival`() async {
        let (topics, arrivals) = (DocumentTopics(), Arrivals())
        topics.add("a/+", own: TopicFilter("a/own"), for: "own") { arrivals.add($0.topic) }
        topics.hold("a/+", for: "template")
        #expect(topics.receive(Self.message("a/own"), at: Timestamp(seconds: 1)) == .taken)
        #expect(topics.receive(Self.message("a/new", [1]), at: Timestamp(seconds: 2)) == .held)
        #expect(topics.receive(Self.message("a/lamp"), at: Timestamp(seconds: 3)) == .held)
        #expect(topics.receive(Self.message("a/new", [2]), at: Timestamp(seconds: 4)) == .held)
        // The maker of devices is woken, and wants no lamp.
        await topics.hasHeld.wait()
        #expect(topics.held.map(\.message.topic) == ["a/new", "a/lamp", "a/new"])
        topics.discard(Set(topics.held.filter { $0.message.topic == "a/lamp" }.map(\.number)))
        let kept = topics.add("a/+", own: TopicFilter("a/new"), for: "new") { arrivals.add($0.topic) }
        #expect(kept.map(\.message.payload) == [[1], [2]])
        #expect(kept.map(\.receivedAt) == [Timestamp(seconds: 2), Timestamp(seconds: 4)])
        #expect(topics.held.isEmpty)
        #expect(topics.receive(Self.message("a/new"), at: Timestamp(seconds: 5)) == .taken)
        #expect(arrivals.texts == ["a/own", "a/new"])
    }

    @Test func `what is kept for devices that are not made yet has a limit, and of a topic the newest stay`() {
        let topics = DocumentTopics()
        topics.hold("a/+", for: "template")
        let count = DocumentTopics.maximumHeldOfTopic
        for number in 0..<count + 2 { _ = topics.receive(Self.message("a/b", [UInt8(number)])) }
        #expect(topics.held.map { $0.message.payload[0] } == (2..<UInt8(count + 2)).map { $0 })
        // One that only looks alike, in another form of Unicode, is another topic.
        for topic in ["a/\u{e9}", "a/e\u{301}"] {
            for _ in 0..<count { _ = topics.receive(Self.message(topic)) }
        }
        #expect(topics.held.count == 3 * count)
        topics.discard(Set(topics.held.suffix(2 * count).map(\.number)))
        // An empty one only deletes a retained message, and one that is cut is none.
        #expect(topics.receive(Self.message("a/c", [])) == .taken)
        #expect(topics.receive(InboundMessage(topic: "a/c", payload: [1], payloadSize: 2)) == .taken)
        let long = [UInt8](repeating: 1, count: DocumentTopics.maximumHeld / 16)
        let receptions = (0..<17).map { topics.receive(Self.message("a/\($0)", long)) }
        #expect(receptions.prefix(15).allSatisfy { $0 == .held } && receptions.suffix(2) == [.taken, .taken])
        #expect(topics.held.reduce(0) { $0 + $1.message.size } <= DocumentTopics.maximumHeld)
    }
}

extension DocumentTopics {
    /// Hands over a message that arrives at some time.
    fileprivate func receive(_ message: InboundMessage) -> Reception { receive(message, at: Timestamp(seconds: 0)) }
}
