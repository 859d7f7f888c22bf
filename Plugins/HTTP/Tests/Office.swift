import GatewayKit
import GatewayTesting
import JSON
import Listening
import Logging
import Subprocess
import TestSupport
import Vitals

@testable import HTTP

struct Unexpected: Error { var text: String }

/// A listener on a free port, and curl as the phone.
struct Office: Sendable {
    let listener: HTTPListener
    let services: RunningServices
    let port: Int
    var scheme = "http"

    /// Runs `body` while it listens. A clock of the test may replace the system's.
    static func with(
        _ options: KeyValuePairs<String, ConfigurationValue> = [:], clock: GatewayClock = .system,
        headTime: Duration = HTTPListener.headTime, logger: Logger = Logger(label: "test"),
        _ body: @escaping @Sendable (Office) async throws -> Void
    ) async throws {
        var members = [(ConfigurationKey("listen"), ConfigurationValue(.scalar("127.0.0.1:0", isQuoted: true)))]
        members += options.map { (ConfigurationKey($0.key), $0.value) }
        var reader = ConfigurationReader(ConfigurationValue(.map(members)))
        let listener = HTTPListener(options: &reader, headTime: headTime)
        let issues = reader.finish()
        guard issues.isEmpty else { throw Unexpected(text: "\(issues)") }
        let context = ServiceContext(clock: clock, logger: logger)
        try await listener.withService(context: context) {
            guard let port = listener.port else { throw Unexpected(text: "no port") }
            let scheme = listener.options.tls == nil ? "http" : "https"
            try await body(
                Office(listener: listener, services: RunningServices([listener]), port: port, scheme: scheme))
        }
    }

    /// Lets a device post before the gateway's first attempt, so that the order of a test is certain.
    func expect(_ device: String, token: String) throws {
        guard let id = DeviceID(device) else { throw Unexpected(text: device) }
        _ = listener.requests.senders.expect(id, token: Secret(token), presence: DevicePresence())
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
        let place = ConfigurationPlace(environment: ["TOKEN": token])
        let secret = ConfigurationValue.section(["env": "TOKEN"], isQuoted: true)
        var reader = ConfigurationReader(ConfigurationValue(.map([(ConfigurationKey("token"), secret)])), place: place)
        let transport = HTTPTransport(options: &reader)
        let issues = reader.finish()
        guard issues.isEmpty, let id = DeviceID(device) else { throw Unexpected(text: "\(issues)") }
        let context = LinkContext(device: id, logger: Logger(label: "test"), services: services)
        try await transport.withLink(context: context) { link in
            guard case .documents(let documents) = link else { throw Unexpected(text: "no documents") }
            try await body(documents)
        }
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
