import Concurrency
import Foundation
import GatewayKit
import Listening
import NIOCore
import TestSupport
import Testing
import Vitals

@testable import Web

/// The listener on real sockets of loopback.
@Suite(.timeLimit(.minutes(3))) struct WebServerTests {
    /// Two seconds, and more for a busy machine.
    private static let soon: Duration = .seconds(20)

    /// Runs `body` while a server with the pages of a gateway listens.
    private func withServer(
        _ configuration: WebConfiguration?, _ gateway: ShownGateway = ShownGateway(),
        log: LogRecorder = LogRecorder(), change: (inout WebServer.Settings) -> Void = { _ in },
        _ body: @escaping @Sendable (WebServer) async throws -> Void
    ) async throws {
        var settings = WebServer.Settings(clock: .system, logger: log.logger)
        change(&settings)
        let server = WebServer(settings: settings) { Router(of: gateway, $0) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await server.run(configuration) }
            defer { server.stop() }
            if configuration != nil { _ = try await listeningPort(of: server) }
            try await body(server)
        }
    }

    private func get(_ path: String, _ port: Int) async throws -> (status: Int, body: String) {
        try await LocalClient(try webConfiguration(listen: "127.0.0.1:\(port)").listen).get(path)
    }

    @Test func `metrics and health are answered on a real socket`() async throws {
        let gateway = try ShownGateway.withBand()
        try await withServer(try webConfiguration(), gateway) { server in
            let port = try await listeningPort(of: server)
            let metrics = try await get("/metrics?x=1", port)
            #expect(metrics.status == 200 && metrics.body.contains("\nvitals2mqtt_devices 1\n"))
            #expect(try await get("/health/live", port).status == 200)
            gateway.set { $0.late = ["broker"] }
            let ready = try await get("/health/ready", port)
            #expect(ready.status == 503 && ready.body.contains("\"broker\""))
            #expect(try await get("/", port).status == 404)
        }
    }

    @Test func `without a configuration nothing listens, until a change says so, and no longer when it is gone`()
        async throws
    {
        try await withServer(nil) { server in
            #expect(server.port == nil)
            try await server.change(to: try webConfiguration())
            let port = try #require(server.port)
            #expect(try await get("/health/live", port).status == 200)
            try await server.change(to: nil)
            #expect(server.port == nil)
            await #expect(throws: ListenError.self) { try await get("/health/live", port) }
        }
    }

    @Test func `where nothing listens, the client says so without the words of a library`() async throws {
        let port = try freePort()
        let error = await #expect(throws: ListenError.self) { try await get("/health/live", port) }
        #expect(
            error?.description
                == "No gateway answers at 127.0.0.1:\(port): Connection refused. Is the gateway running?")
    }

    @Test func `a changed address moves it, and one that cannot be used leaves it where it was`() async throws {
        try await withServer(try webConfiguration()) { server in
            let first = try #require(server.port)
            let taken = try freePort()
            try await server.change(to: try webConfiguration(listen: "127.0.0.1:\(taken)"))
            #expect(server.port == taken)
            await #expect(throws: ListenError.self) { try await get("/health/live", first) }
            try await withServer(try webConfiguration()) { other in
                let busy = try #require(other.port)
                let wanted = try webConfiguration(listen: "127.0.0.1:\(busy)")
                await #expect {
                    try await server.change(to: wanted)
                } throws: {
                    "\($0)".contains("another program listens there")
                }
                #expect(server.port == taken)
                #expect(try await get("/health/live", taken).status == 200)
            }
        }
    }

    @Test func `a refused change says nothing of another try`() async throws {
        let log = LogRecorder()
        try await withServer(try webConfiguration()) { other in
            let busy = try #require(other.port)
            try await withServer(try webConfiguration(), log: log) { server in
                let wanted = try webConfiguration(listen: "127.0.0.1:\(busy)")
                await #expect(throws: ListenError.self) { try await server.change(to: wanted) }
            }
        }
        #expect(!log.entries.contains { $0.message.contains("trying again") })
    }

    @Test func `new options at the same address are used, and bad ones leave the old`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "vitals2mqtt-web-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let certificates = try await Certificates.make(in: folder.path())
        // While nothing listens for a moment, the system gives the port to no connection of another test.
        let held = try HeldPort()
        defer { withExtendedLifetime(held) {} }
        let port = held.port
        let address = "127.0.0.1:\(port)"
        let gateway = try ShownGateway.withBand()
        try await withServer(try webConfiguration(listen: address), gateway) { server in
            let vitals = ConfigurationValue(.scalar("true", isQuoted: false))
            try await server.change(to: try webConfiguration(listen: address, ["vital_metrics": vitals]))
            #expect(try await get("/metrics", port).body.contains("vital_value{"))
            let files = ConfigurationValue.section(
                ["certificate": certificates.server, "key": certificates.serverKey], isQuoted: true)
            let encrypted = try webConfiguration(listen: address, ["tls": files])
            try await server.change(to: encrypted)
            #expect(try await LocalClient(encrypted.listen).get("/health/live").status == 200)
            await #expect(throws: ListenError.self) { try await get("/health/live", port) }
            var unusable = encrypted
            unusable.listen.tls?.key = certificates.clientKey
            await #expect(throws: ListenError.self) { try await server.change(to: unusable) }
            #expect(try await LocalClient(encrypted.listen).get("/health/live").status == 200)
        }
    }

    @Test func `a port that is not free at the start is said, and tried again`() async throws {
        let log = LogRecorder()
        try await withServer(try webConfiguration()) { first in
            let busy = try #require(first.port)
            let server = WebServer(settings: WebServer.Settings(clock: .system, logger: log.logger)) {
                Router(of: ShownGateway(), $0)
            }
            let configuration = try webConfiguration(listen: "127.0.0.1:\(busy)")
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await server.run(configuration) }
                defer { server.stop() }
                try await log.wait { entries in
                    entries.contains { $0.metadata["error"]?.contains("another program listens there") ?? false }
                }
                #expect(server.port == nil)
                try await first.change(to: nil)
                #expect(try await listeningPort(of: server) == busy)
            }
        }
    }

    @Test func `does not answer while its thread is blocked`() async throws {
        let loops: any EventLoopGroup = WebListener.eventLoops
        let answered = try await countAnswers(to: [{ await WebServer.answer() }]) { block in
            loops.next().execute(block)
        }
        #expect(answered.meanwhile == 0)
        #expect(answered.all == 1)
    }

    // MARK: - Clients that take their time

    @Test func `an address that holds all that it may does not keep out another one`() async throws {
        let log = LogRecorder()
        try await withServer(try webConfiguration(), log: log, change: { $0.headTime = .seconds(300) }) { server in
            let port = try await listeningPort(of: server)
            try await SlowClients.with(port: port) { clients in
                clients.begin(WebConnections.strangersPerAddress + 12, from: "127.0.0.2", "GET /metrics HTTP/1.1\r\n")
                let answers = try await clients.answers.wait { $0.count == 12 }
                #expect(answers.contains { $0.hasPrefix("HTTP/1.1 503 ") }, "\(answers)")
                #expect(try await get("/health/live", port).status == 200)
            }
        }
        let lines = log.entries.filter { $0.message == "Connections were refused." }
        #expect(lines.map { $0.metadata["count"] } == ["1", "2", "4", "8"])
    }

    @Test func `beyond the connections that are open at once, others wait and are served then`() async throws {
        try await withServer(try webConfiguration(), change: { $0.headTime = .milliseconds(1_500) }) { server in
            let port = try await listeningPort(of: server)
            try await SlowClients.with(port: port) { clients in
                // Each address has as many as it may, and together they have all places twice.
                let each = WebConnections.strangersPerAddress
                let addresses = 2 * WebConnections.maximumStrangers / each
                for number in 2..<(2 + addresses) {
                    clients.begin(each, from: "127.0.0.\(number)", "GET /metrics HTTP/1.1\r\n")
                }
                #expect(try await get("/health/live", port).status == 200)
                let answers = try await clients.answers.wait { $0.count == addresses * each }
                #expect(answers.allSatisfy { !$0.hasPrefix("HTTP/1.1 2") }, "\(answers)")
            }
        }
    }

    @Test func `silent connections and slow heads are closed`() async throws {
        try await withServer(try webConfiguration(), change: { $0.headTime = .milliseconds(500) }) { server in
            let begin = ContinuousClock.now
            try await SlowClients.with(port: try await listeningPort(of: server)) { clients in
                clients.begin(1, from: "127.0.0.2", "")
                clients.begin(1, from: "127.0.0.3", "GET /health/live HTTP/1.1\r\n")
                let answers = try await clients.answers.wait { $0.count == 2 }
                #expect(answers == ["", ""])
            }
            #expect(ContinuousClock.now - begin >= .milliseconds(500))
        }
    }

    /// A page of megabytes, which no buffer of the system holds.
    private struct LargePage: WebPage {
        let path = "/large"
        let begun = Recorder<Void>()
        let ended = Recorder<Void>()

        func answer(to request: WebRequest) async -> WebAnswer {
            var answer = WebAnswer(200, "text/plain", [UInt8](repeating: UInt8(ascii: "x"), count: 16 << 20))
            answer.onEnd = { ended.append(()) }
            begun.append(())
            return answer
        }
    }

    @Test func `a client that does not read its answer is closed, and delays no other`() async throws {
        let large = LargePage()
        var settings = WebServer.Settings(clock: .system, logger: LogRecorder().logger)
        settings.answerTime = .milliseconds(1_500)
        let server = WebServer(settings: settings) { _ in
            Router([large, HealthPage(of: ShownGateway(), .live)])
        }
        let configuration = try webConfiguration()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await server.run(configuration) }
            defer { server.stop() }
            let port = try await listeningPort(of: server)
            try await SlowClients.with(port: port) { clients in
                let request = "GET /large HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
                clients.begin(3, from: "127.0.0.2", request, reads: false)
                try await large.begun.wait(within: Self.soon) { $0.count == 3 }
                #expect(try await get("/health/live", port).status == 200)
                try await large.ended.wait(within: Self.soon) { $0.count == 3 }
            }
        }
    }

    @Test func `a request that is too large or no request gets no further`() async throws {
        let long = "GET / HTTP/1.1\r\nX: \(String(repeating: "x", count: WebConnections.maximumHead))\r\n\r\n"
        let many = String(repeating: "X: x\r\n", count: WebConnections.maximumHeaders + 1)
        try await withServer(try webConfiguration()) { server in
            let port = try await listeningPort(of: server)
            try await SlowClients.with(port: port) { clients in
                for text in [long, "GET / HTTP/1.1\r\n\(many)\r\n", "\u{16}\u{3}\u{1}rubbish\r\n\r\n"] {
                    clients.begin(1, from: "127.0.0.2", text)
                }
                let answers = try await clients.answers.wait { $0.count == 3 }
                #expect(answers.allSatisfy { !$0.hasPrefix("HTTP/1.1 2") }, "\(answers)")
            }
            #expect(try await get("/health/live", port).status == 200)
        }
    }

    @Test(arguments: [
        (nil, true), ("127.0.0.1:8480", true), ("127.0.0.1", true), ("localhost:8480", true), ("[::1]:8480", true),
        ("evil.example:8480", false), ("localhost.evil.example", false),
    ]) func `a page of a stranger reads nothing by a name of its own`(host: String?, isLocal: Bool) {
        #expect(WebResponder.isLocal(host) == isLocal)
    }

    @Test func `a stop does not wait for an open connection`() async throws {
        let stopped = Recorder<ContinuousClock.Instant>()
        try await withServer(try webConfiguration(), change: { $0.headTime = .seconds(300) }) { server in
            let port = try await listeningPort(of: server)
            try await SlowClients.with(port: port) { clients in
                clients.begin(1, from: "127.0.0.2", "GET /metrics HTTP/1.1\r\n")
                try await withRealDeadline(Self.soon) {
                    while try await get("/health/live", port).status != 200 { try Task.checkCancellation() }
                } orThrow: {
                    Unexpected(text: "no answer")
                }
                stopped.append(.now)
                server.stop()
                _ = try await clients.answers.wait { $0.count == 1 }
            }
        }
        let begin = try #require(stopped.elements.first)
        #expect(ContinuousClock.now - begin < .seconds(5))
    }
}
