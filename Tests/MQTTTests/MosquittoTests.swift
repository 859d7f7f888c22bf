import GatewayTesting
import Logging
import MQTT
import Mosquitto
import TestSupport
import Testing
import Vitals

/// Behaviour that only a real broker can show.
@Suite(.timeLimit(.minutes(2))) struct MosquittoTests {
    private func broker(
        _ servers: [BrokerServer], version: MQTTVersion = .v5, timeout: Duration = .seconds(10),
        _ change: (inout BrokerOptions) -> Void = { _ in }
    ) throws -> MosquittoBroker {
        var options = BrokerOptions(servers: servers, clientID: "gateway", version: version, timeout: timeout)
        change(&options)
        return try MosquittoBroker(options, logger: Logger(label: "test"))
    }

    @Test func `an independent subscriber sees topic, payload, flags and properties`() async throws {
        try await withMosquitto { server in
            try await server.withSubscriber("home/#") { subscriber in
                try await broker([server.server]).withConnection { connection in
                    var message = OutgoingMessage("home/answer", "{\"grüße\":1}")
                    message.correlationData = Array("c-81".utf8)
                    message.responseTopic = "home/back"
                    message.expiry = .seconds(60)
                    try await connection.deliver(message)
                }
                let message = try #require(try await subscriber.wait { !$0.isEmpty }.first)
                #expect(message.topic == "home/answer")
                #expect(message.text == "{\"grüße\":1}")
                #expect(message.correlationData == Array("c-81".utf8))
                #expect(message.responseTopic == "home/back")
                #expect(message.expiry.map { $0 > .seconds(50) } == true)
            }
        }
    }

    @Test func `the network thread answers, with a broker that hangs too, and without a connection there is none`()
        async throws
    {
        try await withMosquitto { server in
            let broker = try broker([server.server])
            await broker.answer()
            try await broker.withConnection { connection in
                try await connection.deliver(OutgoingMessage("t"))
                await broker.answer()
                server.freeze()
                try connection.publish(OutgoingMessage("t"))
                await broker.answer()
                server.thaw()
            }
            await broker.answer()
        }
    }

    @Test(arguments: MQTTVersion.allCases)
    func `names user and password when they are refused`(_ version: MQTTVersion) async throws {
        let options = MosquittoOptions(users: ["vitals": "right"])
        try await withMosquitto(options) { server in
            let wrong = try broker([server.server], version: version) { options in
                options.username = "vitals"
                options.password = "wrong-secret"
            }
            let error = await brokerError { try await wrong.withConnection { _ in } }
            #expect(error?.code == .notAuthorized || error?.code == .badCredentials)
            #expect(error?.message.contains("password") == true)
            #expect(error?.message.contains("wrong-secret") == false)
            let right = try broker([server.server], version: version) { options in
                options.username = "vitals"
                options.password = "right"
            }
            try await right.withConnection { try await $0.deliver(OutgoingMessage("t")) }
        }
    }

    @Test(arguments: MQTTVersion.allCases)
    func `says what to look for when another client takes the connection over`(_ version: MQTTVersion) async throws {
        try await withMosquitto { server in
            let error = await brokerError {
                try await broker([server.server], version: version).withConnection { connection in
                    try await connection.deliver(OutgoingMessage("t"))
                    try await broker([server.server], version: version).withConnection { other in
                        try await other.deliver(OutgoingMessage("t"))
                        _ = try await connection.events { _ in false }
                    }
                }
            }
            #expect(error?.code == .broken)
            #expect(error?.message.contains("same client id") == true, "\(String(describing: error))")
        }
    }

    @Test func `reports that nothing listens, and tries the next server the next time`() async throws {
        try await withMosquitto { server in
            let dead = BrokerServer(host: "127.0.0.1", port: try freePort())
            let client = try broker([dead, server.server])
            let error = await brokerError { try await client.withConnection { _ in } }
            #expect(error?.code == .unreachable)
            #expect(error?.message.contains("\(dead)") == true)
            #expect(error?.message.contains("refused") == true)
            for _ in 0..<2 {
                try await client.withConnection { try await $0.deliver(OutgoingMessage("t")) }
            }
        }
    }

    @Test func `reports that a host name does not exist`() async throws {
        let client = try broker([BrokerServer(host: "no-such-host.invalid", port: 1883)])
        let error = await brokerError { try await client.withConnection { _ in } }
        #expect(error?.code == .unreachable)
        #expect(error?.message.contains("no-such-host.invalid") == true)
    }

    @Test(arguments: [MosquittoOptions.Encryption.none, .server])
    func `gives a broker up that does not answer, also to the first message of TLS`(
        _ encryption: MosquittoOptions.Encryption
    ) async throws {
        try await withMosquitto(MosquittoOptions(encryption: encryption)) { server in
            server.freeze()
            defer { server.thaw() }
            let client = try broker([server.server], timeout: .milliseconds(200)) { options in
                if let certificates = server.certificates { options.tls = TLSOptions(caFile: certificates.ca) }
            }
            let error = await brokerError { try await client.withConnection { _ in } }
            #expect(error?.code == .timedOut)
        }
    }

    @Test func `leaves a broker that hangs within the time that a stop has`() async throws {
        try await withMosquitto { server in
            let client = try broker([server.server])
            let start = ContinuousClock.now
            try await client.withConnection { connection in
                try await connection.deliver(OutgoingMessage("t"))
                server.freeze()
            }
            server.thaw()
            #expect(ContinuousClock.now - start < .seconds(15), "it waited for the broker")
        }
    }

    @Test func `leaves a broker that hangs sooner without a graceful disconnect`() async throws {
        struct Failure: Error {}
        // More than all buffers on the way hold, so that the connection cannot drain.
        let message = OutgoingMessage(topic: "t", payload: [UInt8](repeating: 0, count: 32 << 20))
        let times = Recorder<Duration>()
        func leave() async throws {
            try await withMosquitto { server in
                let client = try broker([server.server])
                let start = Recorder<ContinuousClock.Instant>()
                await #expect(throws: Failure.self) {
                    try await client.withConnection { connection in
                        server.freeze()
                        try connection.publish(message)
                        start.append(.now)
                        throw Failure()
                    }
                }
                let end = ContinuousClock.now
                server.thaw()
                times.append(try #require(start.elements.first).duration(to: end))
            }
        }
        // A graceful disconnect would take two seconds each time. A busy machine may be as slow once, but hardly three
        // times.
        try await leave()
        while times.elements.count < 3, !times.elements.contains(where: { $0 < .seconds(2) }) { try await leave() }
        #expect(times.elements.contains { $0 < .seconds(2) }, "\(times.elements)")
    }

    @Test func `many tasks may publish while one waits for events`() async throws {
        try await withMosquitto { server in
            try await broker([server.server]).withConnection { connection in
                let count = 2_000
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for publisher in 0..<4 {
                        group.addTask {
                            for number in 0..<count / 4 {
                                let token = MessageToken(rawValue: Int64(publisher * count + number))
                                while true {
                                    do {
                                        try connection.publish(OutgoingMessage("t"), as: token)
                                        break
                                    } catch let error as BrokerError where error.code == .windowFull {
                                        await Task.yield()
                                    }
                                }
                            }
                        }
                    }
                    let events = try await connection.events { $0.acknowledged.count == count }
                    #expect(Set(events.acknowledged).count == count)
                    try await group.waitForAll()
                }
            }
        }
    }

    @Test func `starts and ends connections often without running out of anything`() async throws {
        try await withMosquitto { server in
            let client = try broker([server.server])
            for _ in 0..<50 {
                try await client.withConnection { try await $0.deliver(OutgoingMessage("t")) }
            }
        }
    }

    @Test func `a packet that is too large for the memory is not sent by the broker`() async throws {
        try await withMosquitto { server in
            try await broker([server.server]).withConnection { connection in
                try await connection.subscribe([Subscription("t")])
                let limit = BrokerOptions.maximumInboundPacket
                // Beside the payload the packet has some ten bytes: type, length, topic, number, properties.
                for size in [limit, limit - 100] {
                    try await server.publish(
                        OutgoingMessage(topic: "t", payload: Array(repeating: 0x61, count: size), qos: .atLeastOnce))
                }
                let messages = try await connection.events { !$0.received.isEmpty }.received
                #expect(messages.map(\.payloadSize) == [limit - 100])
            }
        }
    }
}
