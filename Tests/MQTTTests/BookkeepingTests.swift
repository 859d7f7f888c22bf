import Testing

@testable import MQTT
@testable import Mosquitto

@Suite struct InFlightMessagesTests {
    private let token = MessageToken(rawValue: 9)

    @Test func `settles a message under its token, whichever side comes first`() {
        let inFlight = InFlightMessages(window: 2)
        let settlement = InFlightMessages.Settlement(token: token, refusal: .quotaExceeded)
        #expect(inFlight.reserve())
        #expect(inFlight.note(1, token: token) == nil)
        #expect(inFlight.settle(1, refusal: .quotaExceeded) == settlement)
        #expect(inFlight.reserve())
        #expect(inFlight.settle(2, refusal: .quotaExceeded) == nil)
        #expect(inFlight.note(2, token: token) == settlement)
    }

    @Test func `gives a place back when a message is settled or could not be published`() {
        let inFlight = InFlightMessages(window: 2)
        #expect(inFlight.reserve() && inFlight.reserve() && !inFlight.reserve())
        inFlight.cancel()
        #expect(inFlight.reserve() && !inFlight.reserve())
        #expect(inFlight.note(1, token: token) == nil)
        #expect(inFlight.settle(1, refusal: nil)?.token == token)
        #expect(inFlight.reserve() && !inFlight.reserve())
    }

    @Test func `the broker can make the window smaller and not larger`() {
        let inFlight = InFlightMessages(window: 100)
        inFlight.limit(to: 20)
        inFlight.limit(to: 65_535)
        #expect(inFlight.window == 20)
    }

    @Test func `messages without acknowledgement have places of their own, and are not reported`() {
        let inFlight = InFlightMessages(window: 2)
        inFlight.limit(to: 1)
        #expect(inFlight.reserve(.atLeastOnce) && !inFlight.reserve(.atLeastOnce))
        #expect(inFlight.reserve(.atMostOnce) && inFlight.reserve(.atMostOnce) && !inFlight.reserve(.atMostOnce))
        #expect(inFlight.note(1, token: nil) == nil)
        #expect(inFlight.settle(1, refusal: nil) == InFlightMessages.Settlement(token: nil, refusal: nil))
        #expect(inFlight.reserve(.atMostOnce) && !inFlight.reserve(.atMostOnce) && !inFlight.reserve(.atLeastOnce))
    }
}

@Suite(.timeLimit(.minutes(1))) struct BrokerEventQueueTests {
    @Test func `hands everything out at once, and nothing twice`() async throws {
        let inbox = BrokerEventQueue(maximumInbound: 2)
        for number in 0..<3 {
            inbox.acknowledge(MessageToken(rawValue: Int64(number)))
            inbox.receive(InboundMessage(topic: "\(number)", payload: []))
        }
        inbox.acknowledge(MessageToken(rawValue: 3), refusal: .notAuthorized)
        let events = try await inbox.next()
        #expect(events.acknowledged.map(\.rawValue) == [0, 1, 2])
        #expect(events.refused == [RefusedMessage(token: MessageToken(rawValue: 3), reason: .notAuthorized)])
        #expect(events.received.map(\.topic) == ["0", "1"])
        #expect(events.droppedCount == 1)
        inbox.receive(InboundMessage(topic: "4", payload: []))
        let further = try await inbox.next()
        #expect(further.received.map(\.topic) == ["4"])
        #expect(further.droppedCount == 0)
    }

    @Test func `drops what would take too much memory, until the rest is taken`() async throws {
        let inbox = BrokerEventQueue(maximumInbound: 10)
        let half = [UInt8](repeating: 0, count: BrokerEventQueue.maximumWaitingBytes / 2)
        // The topic adds a byte to each message, so that the last one fits exactly.
        let sizes = [half.count - 1, half.count - 2, 1, 0]
        for size in sizes { inbox.receive(InboundMessage(topic: "t", payload: Array(half.prefix(size)))) }
        let events = try await inbox.next()
        #expect(events.received.map(\.payload.count) == [half.count - 1, half.count - 2, 0])
        #expect(events.droppedCount == 1)
        inbox.receive(InboundMessage(topic: "t", payload: half))
        #expect(try await inbox.next().received.count == 1)
    }

    @Test(arguments: [(60_000, 0, 0), (0, 60_000, 0), (0, 0, 60_000)])
    func `counts what a message has beside its payload`(topic: Int, response: Int, correlation: Int) async throws {
        let inbox = BrokerEventQueue(maximumInbound: 200)
        let message = InboundMessage(
            topic: String(repeating: "t", count: topic), payload: [],
            responseTopic: String(repeating: "r", count: response),
            correlationData: [UInt8](repeating: 0, count: correlation))
        for _ in 0..<200 { inbox.receive(message) }
        let events = try await inbox.next()
        #expect(events.received.count == BrokerEventQueue.maximumWaitingBytes / 60_000)
        #expect(events.droppedCount == 200 - events.received.count)
    }

    @Test func `asks the network to wait while half of the room is taken, once there is a reader`() async throws {
        let inbox = BrokerEventQueue(maximumInbound: 10)
        for _ in 0..<10 { inbox.receive(InboundMessage(topic: "t", payload: [])) }
        #expect(!inbox.isFilling)
        #expect(try await inbox.next().received.count == 10)
        for _ in 0..<5 { inbox.receive(InboundMessage(topic: "t", payload: [])) }
        #expect(!inbox.isFilling)
        inbox.receive(InboundMessage(topic: "t", payload: []))
        #expect(inbox.isFilling)
        #expect(try await inbox.next().received.count == 6)
        #expect(!inbox.isFilling)
    }

    @Test func `wakes a reader that waits`() async throws {
        let inbox = BrokerEventQueue(maximumInbound: 1)
        async let reading = inbox.next()
        inbox.acknowledge(.unnamed)
        inbox.wake()
        let events = try await reading
        #expect(events.acknowledged == [.unnamed])
    }

    @Test func `gives what came before the end, then the first reason for ever`() async throws {
        let inbox = BrokerEventQueue(maximumInbound: 1)
        inbox.acknowledge(.unnamed)
        inbox.end(BrokerError(.broken, "first"))
        inbox.end(BrokerError(.broken, "second"))
        inbox.acknowledge(.unnamed)
        #expect(try await inbox.next().acknowledged == [.unnamed])
        for _ in 0..<2 {
            let error = await brokerError { _ = try await inbox.next() }
            #expect(error?.message == "first")
        }
    }

    @Test func `a cancelled reader takes nothing away`() async throws {
        let inbox = BrokerEventQueue(maximumInbound: 1)
        await withTaskGroup(of: BrokerError.Code?.self) { group in
            group.addTask { await brokerError { _ = try await inbox.next() }?.code }
            group.cancelAll()
            let code = await group.next()
            #expect(code == .cancelled)
        }
        inbox.acknowledge(.unnamed)
        #expect(try await inbox.next().acknowledged == [.unnamed])
    }
}

@Suite struct BrokerErrorTests {
    private static let server = BrokerServer(host: "h", port: 1883)

    @Test(arguments: [
        (Int32(1), MQTTVersion.v311, BrokerError.Code.unsupportedVersion, "protocol"), (2, .v311, .refused, "name"),
        (3, .v311, .refused, "unavailable"), (4, .v311, .badCredentials, "password"),
        (5, .v311, .notAuthorized, "access rules"), (0x84, .v5, .unsupportedVersion, "protocol"),
        (0x85, .v5, .refused, "name"), (0x86, .v5, .badCredentials, "password"),
        (0x87, .v5, .notAuthorized, "access rules"), (0x88, .v5, .refused, "unavailable"),
        (0x9F, .v5, .refused, "rate"),
    ])
    func `says why a broker refused the connection`(
        _ code: Int32, _ version: MQTTVersion, _ expected: BrokerError.Code, _ word: String
    ) {
        let error = BrokerError.connectionRefused(code, by: Self.server, version: version)
        #expect(error.code == expected)
        #expect(error.message.contains(word), "\(error)")
        #expect(error.message.contains("mqtt://h:1883"))
    }

    @Test func `says why a broker ended the connection`() {
        #expect(
            BrokerError.broken(0x8E, server: Self.server).message.contains("Another client uses the same client id"))
        #expect(BrokerError.broken(0x8B, server: Self.server).message.contains("shutting down"))
        #expect(BrokerError.broken(7, server: Self.server).message.contains("same client id"))
    }

    @Test func `guesses that a certificate is missing when a broker with TLS hangs up`() {
        func error(_ tls: TLSOptions?, isTLS: Bool) -> BrokerError {
            let server = BrokerServer(host: "h", port: 1, isTLS: isTLS)
            return .notOpened(7, systemError: 0, log: [], server: server, tls: tls)
        }
        #expect(error(TLSOptions(), isTLS: true).message.contains("certificate_file"))
        #expect(error(TLSOptions(certificateFile: "c", keyFile: "k"), isTLS: true).code == .unreachable)
        #expect(error(nil, isTLS: true).code == .unreachable)
        #expect(error(TLSOptions(), isTLS: false).code == .unreachable)
    }

    @Test func `a broker that does not answer has not hung up`() {
        let server = BrokerServer(host: "h", port: 1, isTLS: true)
        // 19 is libmosquitto's MOSQ_ERR_KEEPALIVE.
        let silent = BrokerError.notOpened(19, systemError: 0, log: [], server: server, tls: TLSOptions())
        #expect(silent.code == .unreachable)
        #expect(silent.message.contains("does not answer"))
    }

    @Test(arguments: [
        ("sslv3 alert bad certificate", true), ("sslv3 alert certificate expired", true),
        ("tlsv13 alert certificate required", true), ("tlsv1 alert unknown ca", true),
        ("tlsv1 alert decrypt error", true), ("tlsv1 alert access denied", true),
        ("tlsv1 alert protocol version", false), ("sslv3 alert handshake failure", false),
        ("tlsv1 alert internal error", false),
    ])
    func `distinguishes a refused certificate from a refused connection`(alert: String, isCertificate: Bool) {
        let server = BrokerServer(host: "h", port: 1, isTLS: true)
        let line = "OpenSSL Error[0]: error:0A000000:SSL routines::\(alert)"
        let tls = TLSOptions(certificateFile: "c", keyFile: "k")
        let error = BrokerError.notOpened(8, systemError: 0, log: [line], server: server, tls: tls)
        #expect(error.code == .tls)
        #expect(error.message.contains("did not accept this client's certificate") == isCertificate, "\(error)")
        #expect(error.message.contains("TLS 1.2 or 1.3") == !isCertificate, "\(error)")
        #expect(error.message.contains(alert))
    }

    @Test(arguments: [
        (UInt8(0), BrokerRefusal?.none), (0x10, nil), (0x7F, nil), (0x80, .other(0x80)), (0x87, .notAuthorized),
        (0x90, .invalidTopic), (0x95, .packetTooLarge), (0x97, .quotaExceeded), (0x99, .invalidPayload),
    ])
    func `knows the reasons of a refusal`(_ code: UInt8, _ reason: BrokerRefusal?) {
        #expect(BrokerRefusal(code: code) == reason)
    }
}
