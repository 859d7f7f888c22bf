import GatewayKit
import GatewayTesting
import Logging
import MQTT
import TestSupport
import Testing
import Vitals

@testable import Delivery
@testable import Gateway

/// Documents that come as messages of the broker.
@Suite struct DocumentMessagesTests {
    /// Runs `body` in simulated time, with the messages of a device and what they log.
    private func run(
        _ body: @escaping @Sendable (DocumentMessages, LogRecorder) async throws -> Void
    ) throws {
        try Simulation.run(seed: 1, deadline: .days(1)) { simulation in
            let recorder = LogRecorder()
            let messages = DocumentMessages(
                topics: ["phones/anna"], documents: DocumentQueue(), presence: DevicePresence(),
                clock: simulation.gatewayClock, logger: recorder.logger)
            try await body(messages, recorder)
            messages.logDropped()
            #expect(messages.documents.count == 0)
        }
    }

    private static func message(_ text: String, size: Int? = nil) -> InboundMessage {
        InboundMessage(topic: "phones/anna", payload: Array(text.utf8), payloadSize: size)
    }

    @Test func `of too many messages the last ones are dropped, and one without an answer is tried again`() throws {
        try run { messages, recorder in
            for number in 0...DocumentMessages.maximumWaiting { messages.receive(Self.message("\(number)")) }
            #expect(messages.documents.count == DocumentMessages.maximumWaiting)
            let dropped = "Documents come faster than they are stored; one is not taken."
            #expect(recorder.entries.map(\.message) == [dropped])
            // The first one comes first again, until its tries are over.
            for attempt in 1...DocumentMessages.maximumTries {
                try await messages.documents.withSession(clock: messages.clock) { link in
                    let document = try await link.next()
                    #expect(document.bytes == Array("0".utf8), "\(attempt)")
                }
            }
            try await messages.documents.withSession(clock: messages.clock) { link in
                let next = try await link.next()
                #expect(next.bytes == Array("1".utf8))
                next.answer(.unreadable("It is torn."))
            }
            #expect(messages.documents.count == DocumentMessages.maximumWaiting - 2)
            #expect(recorder.entries.contains { $0.message == "A document could not be stored and is given up." })
            #expect(recorder.entries.last?.message == "A document cannot be read.")
            #expect(recorder.entries.last?.metadata["reason"] == "It is torn.")
        }
    }

    @Test func `the next document says how many were dropped, for which limit`() throws {
        try run { messages, _ in
            func next(_ answer: DocumentAnswer?) async throws -> [SkippedValues] {
                var dropped: [SkippedValues] = []
                try await messages.documents.withSession(clock: messages.clock) { link in
                    let document = try await link.next()
                    dropped = document.takeDropped()
                    if let answer { document.answer(answer) }
                }
                return dropped
            }
            for number in 0..<DocumentMessages.maximumWaiting + 2 { messages.receive(Self.message("\(number)")) }
            messages.receive(Self.message("cut", size: 2_000_000))
            let first = try await next(nil)
            #expect(
                first == [
                    SkippedValues(
                        reason: "too_long", what: "documents", count: 1, limit: BrokerOptions.maximumInboundPacket),
                    SkippedValues(
                        reason: "too_many", what: "documents", count: 2, limit: DocumentMessages.maximumWaiting),
                ])
            for _ in 1..<DocumentMessages.maximumTries {
                let none = try await next(nil)
                #expect(none.isEmpty)
            }
            let last = try await next(.stored(DocumentReport()))
            #expect(
                last == [
                    SkippedValues(
                        reason: "not_stored", what: "documents", count: 1, limit: DocumentMessages.maximumTries)
                ])
        }
    }

    @Test func `a document that is tried again keeps its place before eight others`() throws {
        try run { messages, recorder in
            messages.receive(Self.message("first"))
            try await messages.documents.withSession(clock: messages.clock) { link in
                _ = try await link.next()
                for number in 0..<DocumentMessages.maximumWaiting { messages.receive(Self.message("\(number)")) }
            }
            #expect(messages.documents.count == DocumentMessages.maximumWaiting + 1)
            try await messages.documents.withSession(clock: messages.clock) { link in
                let document = try await link.next()
                #expect(document.bytes == Array("first".utf8))
                document.answer(.stored(DocumentReport()))
            }
            #expect(!recorder.entries.contains { $0.level == .error })
            messages.logDropped()
            #expect(recorder.entries.last?.metadata["count"] == "\(DocumentMessages.maximumWaiting)")
        }
    }

    @Test func `an empty message is none, and one that is cut is not taken`() throws {
        try run { messages, recorder in
            messages.receive(Self.message(""))
            #expect(recorder.entries.isEmpty)
            messages.receive(Self.message("{", size: 2_000_000))
            #expect(recorder.entries.first?.metadata["bytes"] == "2000000")
            #expect(messages.documents.count == 0)
        }
    }

    @Test func `refused samples are logged with their reasons`() throws {
        try run { messages, recorder in
            messages.receive(Self.message("{}"))
            try await messages.documents.withSession(clock: messages.clock) { link in
                var report = DocumentReport()
                report.count(.refused(DeviceError(.invalid, "too high")))
                try await link.next().answer(.stored(report))
            }
            #expect(recorder.entries.map(\.message) == ["Samples of a document were refused."])
            #expect(recorder.entries.first?.metadata == ["count": "1", "reasons": "too high"])
        }
    }

    @Test func `a document of which nothing was taken is logged, and one without records is not`() throws {
        var nothing = DocumentReport()
        nothing.skip("an entry of metrics that is no object", count: 3)
        nothing.skip("heart_rate whose data is no list")
        var something = nothing
        something.count(.known)
        let reports = [nothing, something, DocumentReport()]
        try run { messages, recorder in
            for _ in reports { messages.receive(Self.message("{}")) }
            try await messages.documents.withSession(clock: messages.clock) { link in
                for report in reports { try await link.next().answer(.stored(report)) }
            }
            let entries = recorder.entries.filter { $0.level > .debug }
            // Their number has doubled with the second one.
            #expect(
                entries.map(\.message) == ["Nothing of a document was taken.", "Records of a document were skipped."])
            #expect(entries.allSatisfy { $0.level == .notice })
            #expect(
                entries.first?.metadata == [
                    "count": "4", "reasons": "an entry of metrics that is no object; heart_rate whose data is no list",
                ])
        }
    }

    /// A driver that takes messages itself.
    private struct Values: MessageDriver {
        static let name = "values"
        static let link = LinkKind.none
        static let maximumSize = 10
        static let maximumWaiting = 20
        let topics = [MessageTopic(subscription: TopicFilter("a/+"), own: TopicFilter("a/b"))]
        init() {}
        init(options: inout ConfigurationReader) {}
        func withSession(
            over link: Link, context: SessionContext, _ body: @Sendable (any DeviceSession) async throws -> Void
        ) async throws {}
    }

    @Test func `a device that is made of a message gets it, with the time of its arrival`() throws {
        try run { messages, _ in
            var messages = messages
            messages.share(Values())
            let (topics, arrival) = (DocumentTopics(), messages.clock.now - .seconds(2))
            topics.hold("a/+", for: "template")
            _ = topics.receive(InboundMessage(topic: "a/b", payload: [1]), at: arrival)
            messages.begin(in: topics)
            try await messages.documents.withSession(clock: messages.clock) { link in
                let document = try await link.next()
                #expect(document.bytes == [1] && document.receivedAt == arrival)
                document.answer(.stored(DocumentReport()))
            }
            messages.end(in: topics)
        }
    }

    @Test func `a driver of values gets each message with its topic, and of a long one only its size`() throws {
        try run { messages, recorder in
            var messages = messages
            messages.share(Values())
            let texts = ["0123456789", "0123456789a"]
            for text in texts {
                messages.receive(InboundMessage(topic: "a/b", payload: Array(text.utf8), isRetained: true))
            }
            messages.receive(Self.message("cut", size: 2_000_000))
            try await messages.documents.withSession(clock: messages.clock) { link in
                let first = try await link.next()
                #expect(first.bytes == Array(texts[0].utf8))
                #expect(first.message == DocumentMessage(topic: "a/b", isStored: true, size: 10))
                first.answer(.stored(DocumentReport()))
                let second = try await link.next()
                #expect(second.bytes.isEmpty && second.message?.size == 11)
                second.answer(.stored(DocumentReport()))
                let third = try await link.next()
                #expect(third.bytes.isEmpty && third.message?.size == 2_000_000 && third.message?.isStored == false)
                third.answer(.stored(DocumentReport()))
            }
            for number in 0...Values.maximumWaiting { messages.receive(Self.message("\(number)")) }
            #expect(messages.documents.count == Values.maximumWaiting)
            // The device's own log counts them.
            #expect(recorder.entries.isEmpty)
        }
    }
}
