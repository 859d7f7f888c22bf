import Concurrency
import GatewayKit
import Listening
import TestSupport
import Testing
import Vitals

@testable import Web

/// Answers that go on, on real sockets of loopback.
@Suite(.timeLimit(.minutes(3))) struct EventStreamTests {
    /// Seconds, and more for a busy machine.
    private static let soon: Duration = .seconds(20)
    private static let request = "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n"

    /// A page whose answer goes on as long as `stream` writes.
    private struct EventPage: WebPage {
        let path = "/events"
        let maximumBody = 10
        let stream: WebAnswer.Stream
        let begun = Recorder<Void>()
        let ended = Recorder<Void>()

        func answer(to request: WebRequest) async -> WebAnswer {
            let (stream, begun) = (stream, begun)
            var answer = WebAnswer("text/event-stream") { write in
                begun.append(())
                try await stream(write)
            }
            let ended = ended
            answer.onEnd = { ended.append(()) }
            return answer
        }
    }

    /// Runs `body` with a server that has this page, and its port.
    private func withPage(
        _ page: EventPage, answerTime: Duration = WebConnections.answerTime,
        streamOpener: @escaping WebServer.Settings.Opener = { try await $0() },
        _ body: @escaping @Sendable (WebServer, Int) async throws -> Void
    ) async throws {
        var settings = WebServer.Settings(
            clock: .system, logger: LogRecorder().logger, streamOpener: streamOpener)
        settings.answerTime = answerTime
        let server = WebServer(settings: settings) { _ in Router([page, HealthPage(of: ShownGateway(), .live)]) }
        let configuration = try webConfiguration()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await server.run(configuration) }
            defer { server.stop() }
            try await body(server, try await listeningPort(of: server))
        }
    }

    private func get(_ path: String, _ port: Int) async throws -> (status: Int, body: String) {
        try await LocalClient(try webConfiguration(listen: "127.0.0.1:\(port)").listen).get(path)
    }

    /// Writes an event, and waits for its end.
    private static let waiting: WebAnswer.Stream = { write in
        try await write(Array("data: 1\n\n".utf8))
        try await Promise<Void>().wait()
    }

    @Test func `a stream is sent part by part, and the connection ends with it`() async throws {
        let page = EventPage { write in
            try await write(Array("data: 1\n\n".utf8))
            try await write(Array("data: 2\n\n".utf8))
        }
        try await withPage(page) { _, port in
            try await SlowClients.with(port: port) { clients in
                clients.begin(1, from: "127.0.0.2", Self.request)
                let answers = try await clients.answers.wait(within: Self.soon) { $0.count == 1 }
                let answer = try #require(answers.first)
                #expect(answer.hasPrefix("HTTP/1.1 200 ") && answer.contains("text/event-stream"))
                #expect(answer.lowercased().contains("transfer-encoding: chunked"))
                #expect(answer.hasSuffix("9\r\ndata: 1\n\n\r\n9\r\ndata: 2\n\n\r\n0\r\n\r\n"), "\(answer)")
                clients.begin(1, from: "127.0.0.2", Self.request.replacing("GET", with: "HEAD"))
                try await page.ended.wait(within: Self.soon) { $0.count == 2 }
            }
        }
        // Nothing is written for a HEAD.
        #expect(page.begun.elements.count == 1)
    }

    @Test func `two hundred streams leave room for pages, one more is refused, and all end with their clients`()
        async throws
    {
        let page = EventPage(stream: Self.waiting)
        try await withPage(page) { server, port in
            try await SlowClients.with(port: port) { clients in
                // A connection is a stranger until its stream begins.
                let atOnce = WebConnections.strangersPerAddress / 2
                for count in stride(from: atOnce, through: WebConnections.maximumStreams, by: atOnce) {
                    clients.begin(atOnce, from: "127.0.0.2", Self.request)
                    try await page.begun.wait(within: Self.soon) { $0.count == count }
                }
                #expect(server.connections?.streams == WebConnections.maximumStreams)
                #expect(server.connections?.gate.shares.counts.strangers == 0)
                let refused = try await get("/events", port)
                #expect(refused.status == 503 && refused.body.contains("Close one"))
                #expect(try await get("/health/live", port).status == 200)
            }
            try await page.ended.wait(within: Self.soon) { $0.count == WebConnections.maximumStreams + 1 }
            while (server.connections?.streams ?? 0) != 0, !Task.isCancelled { await Task.yield() }
        }
    }

    @Test func `a request for a stream that sends something is refused, and gives its place back`() async throws {
        let page = EventPage(stream: Self.waiting)
        let head = "GET /events HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        try await withPage(page) { _, port in
            try await SlowClients.with(port: port) { clients in
                clients.begin(1, from: "127.0.0.2", head + "Content-Length: 5\r\n\r\nhello")
                clients.begin(1, from: "127.0.0.2", head + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")
                let answers = try await clients.answers.wait(within: Self.soon) { $0.count == 2 }
                #expect(answers.allSatisfy { $0.hasPrefix("HTTP/1.1 400 ") }, "\(answers)")
                try await page.ended.wait(within: Self.soon) { $0.count == 2 }
            }
        }
        #expect(page.begun.elements.isEmpty)
    }

    @Test func `a stream whose client does not take a part in time is closed, and delays no other`() async throws {
        let page = EventPage { write in
            while true { try await write([UInt8](repeating: UInt8(ascii: "x"), count: 64 << 10)) }
        }
        try await withPage(page, answerTime: .milliseconds(1_500)) { _, port in
            try await SlowClients.with(port: port) { clients in
                clients.begin(3, from: "127.0.0.2", Self.request, reads: false)
                try await page.begun.wait(within: Self.soon) { $0.count == 3 }
                #expect(try await get("/health/live", port).status == 200)
                try await page.ended.wait(within: Self.soon) { $0.count == 3 }
            }
        }
    }

    @Test func `a stop ends all streams at once, each with its last part`() async throws {
        let page = EventPage(stream: Self.waiting)
        try await withPage(page) { server, port in
            try await SlowClients.with(port: port) { clients in
                clients.begin(5, from: "127.0.0.2", Self.request)
                try await page.begun.wait(within: Self.soon) { $0.count == 5 }
                let begin = ContinuousClock.now
                server.stop()
                let answers = try await clients.answers.wait(within: Self.soon) { $0.count == 5 }
                #expect(ContinuousClock.now - begin < .seconds(5))
                #expect(answers.allSatisfy { $0.hasSuffix("\r\n0\r\n\r\n") }, "\(answers)")
            }
        }
    }

    @Test func `a stream for which there is no descriptor is refused`() async throws {
        let page = EventPage(stream: Self.waiting)
        try await withPage(page, streamOpener: { _ in throw Unexpected(text: "no descriptor") }) { server, port in
            let status = try await get("/events", port).status
            #expect(status == 503)
            #expect(server.connections?.streams == 0)
        }
        #expect(page.begun.elements.isEmpty)
    }
}
