import Concurrency
import GatewayKit
import HTTPTypes
import TestSupport
import Testing
import Vitals

@testable import Web

/// What a page gets of a request, on real sockets of loopback.
@Suite(.timeLimit(.minutes(3))) struct WebRequestTests {
    /// Says what it got, and takes ten bytes.
    private struct EchoPage: WebPage {
        let path = "/echo/"
        let maximumBody = 10

        func answer(to request: WebRequest) async -> WebAnswer {
            let body = String(decoding: request.body, as: UTF8.self)
            let words = [
                request.method, request.path, request.query, request.headers[.userAgent] ?? "", request.address,
                "\(request.isEncrypted)", request.base, body,
            ]
            var answer = WebAnswer(200, text: words.joined(separator: "|"))
            answer.headers = [("Set-Cookie", "a=1"), ("Set-Cookie", "b=2")]
            return answer
        }
    }

    /// Costs much: each answer waits for a sign, and notes when it begins and ends.
    private struct DrawnPage: WebPage {
        let path = "/drawn"
        let isCostly = true
        let steps = Recorder<String>()
        let sign = Promise<Void>()

        func answer(to request: WebRequest) async -> WebAnswer {
            steps.append("begin")
            await sign.waitUncancelled()
            steps.append("end")
            return WebAnswer(200, text: "drawn")
        }
    }

    /// What the listener sends for a request of `source`: all of it, as the connection ends then.
    private func answer(
        _ text: String, from source: String = "127.0.0.2", proxy: String? = nil, clock: GatewayClock = .system
    ) async throws -> String {
        let proxies = proxy.map { ConfigurationValue(.scalar($0, isQuoted: true)) }
        let configuration = try proxies.map { try webConfiguration(["trusted_proxies": $0]) } ?? webConfiguration()
        let server = WebServer(settings: WebServer.Settings(clock: clock, logger: LogRecorder().logger)) { _ in
            Router([EchoPage()])
        }
        let answers = Recorder<String>()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await server.run(configuration) }
            defer { server.stop() }
            try await SlowClients.with(port: try await listeningPort(of: server)) { clients in
                clients.begin(1, from: source, text)
                for answer in try await clients.answers.wait(within: .seconds(20), until: { $0.count == 1 }) {
                    answers.append(answer)
                }
            }
        }
        return try #require(answers.elements.first)
    }

    private static func request(
        _ line: String, host: String = "localhost", _ fields: String = "", body: String = ""
    ) -> String {
        "\(line) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\(fields)\r\n\(body)"
    }

    @Test func `a page gets method, path, query, headers and body, and may set a header twice`() async throws {
        let fields = "User-Agent: us\r\nContent-Length: 10\r\n"
        let text = try await answer(Self.request("POST /echo/a%20b?c=d?e", fields, body: "0123456789"))
        #expect(text.hasPrefix("HTTP/1.1 200 "), "\(text)")
        #expect(text.contains("POST|/echo/a%20b|c=d?e|us|127.0.0.2|false|/|0123456789\n"), "\(text)")
        #expect(text.lowercased().contains("set-cookie: a=1\r\nset-cookie: b=2\r\n"), "\(text)")
        let plain = try await answer(Self.request("GET /echo/"))
        #expect(plain.contains("GET|/echo/|||127.0.0.2|false|/|\n"), "\(plain)")
    }

    /// What a proxy says, and somebody else may.
    private static let forwarded =
        "X-Forwarded-For: 192.0.2.9, 192.0.2.1\r\nX-Forwarded-Proto: http, https\r\nX-Ingress-Path: /api/hassio_ingress/a-B_1\r\n"

    @Test func `what a trusted proxy says of address, encryption and path counts`() async throws {
        let text = try await answer(
            Self.request("GET /echo/", host: "gateway.example", Self.forwarded), from: "127.0.0.3", proxy: "127.0.0.3")
        #expect(text.contains("|192.0.2.1|true|/api/hassio_ingress/a-B_1/|"), "\(text)")
    }

    @Test func `what anybody else says of them does not`() async throws {
        let text = try await answer(
            Self.request("GET /echo/", Self.forwarded), from: "127.0.0.4", proxy: "127.0.0.3")
        #expect(text.contains("|127.0.0.4|false|/|"), "\(text)")
    }

    @Test func `nobody reads a page by a name of his own, also through a proxy that nobody named`() async throws {
        let text = try await answer(Self.request("GET /echo/", host: "gateway.example", Self.forwarded))
        #expect(text.hasPrefix("HTTP/1.1 421 ") && text.contains("trusted_proxies"), "\(text)")
    }

    @Test func `answers that cost much are made one after the other, and others meanwhile`() async throws {
        let page = DrawnPage()
        let server = WebServer(settings: WebServer.Settings(clock: .system, logger: LogRecorder().logger)) { _ in
            Router([page, EchoPage()])
        }
        let configuration = try webConfiguration()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await server.run(configuration) }
            defer { server.stop() }
            try await SlowClients.with(port: try await listeningPort(of: server)) { clients in
                clients.begin(3, from: "127.0.0.2", Self.request("GET /drawn"))
                try await page.steps.wait(within: .seconds(20)) { $0.count == 1 }
                clients.begin(1, from: "127.0.0.2", Self.request("GET /echo/"))
                let answers = try await clients.answers.wait(within: .seconds(20)) { $0.count == 1 }
                #expect(answers.first?.contains("GET|/echo/") == true)
                page.sign.fulfil(())
                try await clients.answers.wait(within: .seconds(20)) { $0.count == 4 }
            }
        }
        #expect(page.steps.elements == ["begin", "end", "begin", "end", "begin", "end"])
    }

    @Test func `a request that names two hosts is refused`() async throws {
        for hosts in ["localhost\r\nHost: gateway.example", "127.0.0.1\r\nHost: 127.0.0.1"] {
            let text = try await answer(Self.request("GET /echo/", host: hosts))
            #expect(text.hasPrefix("HTTP/1.1 400 "), "\(text)")
        }
    }

    @Test(arguments: [
        "Content-Length: 11\r\n\r\n01234567890", "Transfer-Encoding: chunked\r\n\r\nb\r\n01234567890\r\n0\r\n\r\n",
        "Content-Length: 99999999999\r\n\r\n",
    ]) func `a body beyond the page's limit is refused`(rest: String) async throws {
        let text = try await answer("POST /echo/ HTTP/1.1\r\nHost: localhost\r\n\(rest)")
        #expect(text.hasPrefix("HTTP/1.1 413 ") && text.contains("At most 10 bytes"), "\(text)")
    }

    @Test func `a body that does not arrive in time is refused`() async throws {
        // Ten seconds are half a second here.
        let text = try await answer(
            "POST /echo/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nab", clock: .scaled(by: 20))
        #expect(text.hasPrefix("HTTP/1.1 408 "), "\(text)")
    }
}
