import GatewayTesting
import MQTT
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct DeliveryTests {
    @Test(arguments: BrokerUnderTest.all)
    func `acknowledges every message once, in order, under the caller's token`(_ kind: BrokerUnderTest) async throws {
        try await kind.run { bench in
            try await bench.client("a").withConnection { connection in
                var next: Int64 = 0
                var acknowledged: [Int64] = []
                while acknowledged.count < 1_000 {
                    while next < 1_000, next - Int64(acknowledged.count) < connection.window {
                        try connection.publish(OutgoingMessage("t", "\(next)"), as: MessageToken(rawValue: next))
                        next += 1
                    }
                    acknowledged += try await connection.nextEvents().acknowledged.map(\.rawValue)
                }
                #expect(acknowledged == Array(0..<1_000))
            }
        }
    }

    @Test(arguments: BrokerUnderTest.all)
    func `hands retained messages to later subscribers, marked as such`(_ kind: BrokerUnderTest) async throws {
        try await kind.run { bench in
            try await bench.publish(OutgoingMessage("state/a", "old", retain: true))
            try await bench.client("a").withConnection { connection in
                try await connection.subscribe([Subscription("state/#")])
                let first = try await connection.events { !$0.received.isEmpty }
                #expect(first.received.map(\.text) == ["old"])
                #expect(first.received.map(\.isRetained) == [true])
                try await bench.publish(OutgoingMessage("state/a", "new", retain: true))
                let second = try await connection.events { !$0.received.isEmpty }
                #expect(second.received.map(\.text) == ["new"])
                #expect(second.received.map(\.isRetained) == [false])
            }
        }
    }

    @Test(arguments: BrokerUnderTest.v5)
    func `marks a live message published with retain, if asked to`(_ kind: BrokerUnderTest) async throws {
        try await kind.run { bench in
            try await bench.client("a").withConnection { connection in
                try await connection.subscribe([Subscription("command/#", retainsAsPublished: true)])
                try await bench.publish(OutgoingMessage("command/a", "1", retain: true))
                try await bench.publish(OutgoingMessage("command/a", "2"))
                let events = try await connection.events { $0.received.count == 2 }
                #expect(events.received.map(\.isRetained) == [true, false])
            }
        }
    }

    @Test(arguments: BrokerUnderTest.v5)
    func `does not bring back the client's own messages, if asked not to`(_ kind: BrokerUnderTest) async throws {
        try await kind.run { bench in
            try await bench.client("a").withConnection { connection in
                try await connection.subscribe([Subscription("#", isWithoutOwn: true)])
                try await connection.deliver(OutgoingMessage("t", "own"))
                try await bench.publish(OutgoingMessage("t", "other"))
                let events = try await connection.events { !$0.received.isEmpty }
                #expect(events.received.map(\.text) == ["other"])
            }
        }
    }

    @Test(arguments: BrokerUnderTest.all)
    func `brings what the filters match, and nothing else`(_ kind: BrokerUnderTest) async throws {
        try await kind.run { bench in
            try await bench.client("a").withConnection { connection in
                try await connection.subscribe([Subscription("home/+/set"), Subscription("exact", qos: .atMostOnce)])
                for topic in ["home/ring/set", "home/set", "home/a/b/set", "other", "exact", "end/x", "home/band/set"] {
                    try await bench.publish(OutgoingMessage(topic))
                }
                let events = try await connection.events { $0.received.count == 3 }
                #expect(events.received.map(\.topic) == ["home/ring/set", "exact", "home/band/set"])
                #expect(events.received.map(\.qos) == [.atLeastOnce, .atMostOnce, .atLeastOnce])
            }
        }
    }

    @Test(arguments: BrokerUnderTest.all)
    func `carries what an answer needs in version 5 only`(_ kind: BrokerUnderTest) async throws {
        try await kind.run { bench in
            try await bench.client("a").withConnection { connection in
                try await connection.subscribe([Subscription("#")])
                var message = OutgoingMessage("command", "{}")
                message.responseTopic = "answer/here"
                message.correlationData = Array("c-81".utf8)
                message.contentType = "application/json"
                message.isUTF8 = true
                message.expiry = .seconds(60)
                try await bench.publish(message)
                try connection.publish(message, as: .unnamed)
                let events = try await connection.events { $0.received.count == 2 }
                let isV5 = bench.version == .v5
                for received in events.received {
                    #expect(received.responseTopic == (isV5 ? "answer/here" : nil))
                    #expect(received.correlationData == (isV5 ? Array("c-81".utf8) : nil))
                    #expect(received.expiry.map { $0 > .seconds(50) && $0 <= .seconds(60) } == (isV5 ? true : nil))
                }
            }
        }
    }

    @Test(arguments: BrokerUnderTest.all)
    func `does not take more than the window allows, until the broker answers`(_ kind: BrokerUnderTest) async throws {
        try await kind.run { bench in
            try await bench.client("a", window: 3).withConnection { connection in
                #expect(connection.window == 3)
                bench.hold()
                defer { bench.release() }
                for token in 0..<3 {
                    try connection.publish(OutgoingMessage("t"), as: MessageToken(rawValue: Int64(token)))
                }
                let error = #expect(throws: BrokerError.self) { try connection.publish(OutgoingMessage("t")) }
                #expect(error?.code == .windowFull)
                bench.release()
                let events = try await connection.events { $0.acknowledged.count == 3 }
                #expect(events.acknowledged.map(\.rawValue) == [0, 1, 2])
                try await connection.deliver(OutgoingMessage("t"))
            }
        }
    }

    @Test(arguments: BrokerUnderTest.all)
    func `reports a message that the broker's rules forbid, as far as the protocol can`(
        _ kind: BrokerUnderTest
    ) async throws {
        try await kind.run(accessList: ["topic readwrite allowed"]) { bench in
            try await bench.client("a").withConnection { connection in
                try connection.publish(OutgoingMessage("forbidden"), as: MessageToken(rawValue: 7))
                let events = try await connection.nextEvents()
                if bench.version == .v5 {
                    let token = MessageToken(rawValue: 7)
                    #expect(events.refused == [RefusedMessage(token: token, reason: .notAuthorized)])
                } else {
                    #expect(events.acknowledged == [MessageToken(rawValue: 7)])
                }
                // mosquitto 2.0.11 answers and then breaks the connection, so the test ends here.
            }
        }
    }

    @Test(arguments: BrokerUnderTest.all)
    func `drops and counts what nobody takes, and still hears the broker`(_ kind: BrokerUnderTest) async throws {
        try await kind.run { bench in
            try await bench.client("a", maximumInbound: 10).withConnection { connection in
                try await connection.subscribe([Subscription("flood", qos: .atMostOnce)])
                for number in 0..<50 {
                    try connection.publish(OutgoingMessage("flood", "\(number)", qos: .atMostOnce))
                }
                // The answer comes after everything before it was delivered.
                try await connection.subscribe([Subscription("marker")])
                let events = try await connection.nextEvents()
                #expect(events.received.map(\.text) == (0..<10).map { "\($0)" })
                #expect(events.droppedCount == 40)
                try await connection.deliver(OutgoingMessage("t"))
            }
        }
    }

    @Test(arguments: BrokerUnderTest.all)
    func `cuts a payload that is too long, and says how long it was`(_ kind: BrokerUnderTest) async throws {
        try await kind.run { bench in
            try await bench.client("a", maximumInboundPayload: 4).withConnection { connection in
                try await connection.subscribe([Subscription("t")])
                try await bench.publish(OutgoingMessage("t", "12345"))
                try await bench.publish(OutgoingMessage("t", "1234"))
                let messages = try await connection.events { $0.received.count == 2 }.received
                #expect(messages.map(\.text) == ["1234", "1234"])
                #expect(messages.map(\.payloadSize) == [5, 4])
                #expect(messages.map(\.isCut) == [true, false])
            }
        }
    }

    @Test(arguments: BrokerUnderTest.all, ["", "a/+", "#", "a\0b"])
    func `refuses a topic that cannot be published on`(_ kind: BrokerUnderTest, _ topic: String) async throws {
        try await kind.run { bench in
            try await bench.client("a").withConnection { connection in
                let error = #expect(throws: BrokerError.self) { try connection.publish(OutgoingMessage(topic)) }
                #expect(error?.code == .invalidMessage)
                try await connection.deliver(OutgoingMessage("t"))
            }
        }
    }
}
