import Concurrency
import GatewayKit
import JSON
import Listening
import Logging
import Subprocess
import TestSupport
import Vitals

@testable import Web

/// A listener on a free port, and curl as the phone.
struct Office: Sendable {
    let server: WebServer
    let settings: WebServer.Settings
    let port: Int
    var scheme = "http"

    /// Runs `body` while it listens. A clock of the test may replace the system's.
    static func with(
        _ options: KeyValuePairs<String, ConfigurationValue> = [:], clock: GatewayClock = .system,
        headTime: Duration = WebConnections.headTime, logger: Logger = Logger(label: "test"),
        _ body: @escaping @Sendable (Office) async throws -> Void
    ) async throws {
        let configuration = try webConfiguration(options)
        var settings = WebServer.Settings(clock: clock, logger: logger)
        settings.headTime = headTime
        let server = WebServer(settings: settings) { _ in Router([]) }
        let scheme = configuration.listen.tls == nil ? "http" : "https"
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await server.run(configuration) }
            defer { server.stop() }
            let port = try await listeningPort(of: server)
            try await body(Office(server: server, settings: settings, port: port, scheme: scheme))
        }
    }

    /// What the documents take of the memory for them.
    var budget: BodyBudget { settings.documents.budget }
    /// Who has the connections.
    var counts: (strangers: Int, proven: Int, addresses: Int) { server.connections?.gate.shares.counts ?? (0, 0, 0) }

    /// Lets a device post before the gateway's first attempt, so that the order of a test is certain.
    func expect(_ device: String, token: String) throws {
        guard let id = DeviceID(device) else { throw Unexpected(text: device) }
        _ = settings.documents.senders.expect(id, token: Secret(SecretHash.of(token)), presence: DevicePresence())
    }

    /// Answers each document of a device until the task is cancelled: with the number of its bytes as new samples.
    func serve(
        _ device: String, token: String,
        _ answer: @escaping @Sendable (Document) -> DocumentAnswer = { document in
            var report = DocumentReport()
            report.new = document.bytes.count
            return .stored(report)
        }
    ) async {
        while !Task.isCancelled {
            try? await connect(device, token: token) { link in
                while true {
                    let document = try await link.next()
                    document.answer(answer(document))
                }
            }
        }
    }

    /// The gateway's attempt to connect a device.
    func connect(
        _ device: String, token: String, _ body: @escaping @Sendable (any DocumentLink) async throws -> Void
    ) async throws {
        guard let id = DeviceID(device) else { throw Unexpected(text: device) }
        try await settings.documents.senders.withDocuments(
            of: id, token: Secret(SecretHash.of(token)), presence: DevicePresence(), clock: settings.clock, body)
    }

    /// What curl got.
    struct Answer: Sendable {
        var status: Int
        var headers: String
        var json: JSONValue
        var code: String? { json["error"]?["code"]?.asString }
    }

    /// Posts with curl, from an address of loopback. `token` is sent as a bearer's.
    func post(
        _ path: String, token: String? = nil, type: String? = "application/json", _ body: [UInt8] = Array("{}".utf8),
        from source: String = "127.0.0.1", more: [String] = []
    ) async throws -> Answer {
        var arguments = ["--silent", "--show-error", "--include", "--max-time", "50", "--data-binary", "@-"]
        arguments += ["--header", "Content-Type:" + (type.map { " \($0)" } ?? "")]
        if let token { arguments += ["--header", "Authorization: Bearer \(token)"] }
        arguments += more + ["--interface", source, "\(scheme)://127.0.0.1:\(port)\(path)"]
        let result = try await Subprocess.run(
            .name("curl"), arguments: Arguments(arguments), input: .array(body), output: .bytes(limit: 1 << 20),
            error: .string(limit: 1 << 16))
        guard result.terminationStatus.isSuccess else {
            throw Unexpected(text: "curl: \(result.terminationStatus) \(result.standardError)")
        }
        // An interim response (100) may come first.
        let text = String(decoding: result.standardOutput, as: UTF8.self)
        let blocks = text.replacing("\r\n", with: "\n").split(separator: "\n\n", omittingEmptySubsequences: false)
        guard let place = blocks.lastIndex(where: { $0.hasPrefix("HTTP/1.1 ") }),
            let status = Int(blocks[place].dropFirst("HTTP/1.1 ".count).prefix(3))
        else { throw Unexpected(text: "no response: \(text)") }
        let content = blocks[(place + 1)...].joined(separator: "\n\n")
        return Answer(
            status: status, headers: blocks[place].lowercased(),
            json: (try? JSONValue(parsing: Array(content.utf8))) ?? .null)
    }
}
