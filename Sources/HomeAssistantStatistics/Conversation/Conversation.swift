import Concurrency
package import HomeAssistant
package import JSON
package import Vitals

/// A conversation over Home Assistant's WebSocket interface
/// (https://developers.home-assistant.io/docs/api/websocket): one command at a time, each with its answer.
package actor Conversation {
    /// The time that an answer may take: a registry of thousands of entities takes a second.
    static let answerTime: Duration = .seconds(60)

    private let stream: any MessageStream
    private let clock: GatewayClock
    private var lastID = 0

    package init(_ stream: any MessageStream, clock: GatewayClock) {
        self.stream = stream
        self.clock = clock
    }

    /// Shows the token. Returns the release of Home Assistant.
    package func authenticate(token: String) async throws -> HomeAssistantVersion {
        let request = try await receive()
        guard request["type"]?.asString == "auth_required" else { throw unexpected(request) }
        try await send(["type": "auth", "access_token": .string(token)])
        let answer = try await receive()
        switch answer["type"]?.asString {
        case "auth_ok": break
        case "auth_invalid":
            let message = answer["message"]?.asString?.prefix(HomeAssistantError.textLimit)
            throw HomeAssistantError.token(message.map { "\($0)." } ?? "")
        default: throw unexpected(answer)
        }
        let text = answer["ha_version"]?.asString ?? ""
        // A beta is 2026.11.0b3, a development version 2026.12.0.dev0.
        let parts = text.split(separator: ".").prefix(2).joined(separator: ".")
        guard let version = HomeAssistantVersion(parts) else {
            throw HomeAssistantError.unexpected("its version is \(text.prefix(40))")
        }
        guard version >= HomeAssistantError.oldest else {
            throw HomeAssistantError.outdated(String(text.prefix(HomeAssistantError.textLimit)))
        }
        return version
    }

    /// The result of a command.
    package func ask(_ command: String, _ members: [JSONValue.Member] = []) async throws -> Answer {
        lastID += 1
        let id = lastID
        try await send(
            .object(
                [JSONValue.Member("id", .number(Double(id))), JSONValue.Member("type", .string(command))] + members))
        while true {
            let bytes = try await receiveBytes()
            guard let answer = try Answer(bytes, to: id, command) else { continue }
            return answer
        }
    }

    private func send(_ message: JSONValue) async throws {
        let (stream, bytes) = (stream, message.bytes)
        try await limited("it takes no message within \(Self.answerTime)") { try await stream.send(bytes) }
    }

    private func receive() async throws -> JSONValue {
        let bytes = try await receiveBytes()
        do { return try JSONValue(parsing: bytes) } catch {
            throw HomeAssistantError.unexpected("no JSON: \(error)")
        }
    }

    private func receiveBytes() async throws -> [UInt8] {
        let stream = stream
        return try await limited("no answer within \(Self.answerTime)") { try await stream.receive() }
    }

    /// The value of an operation that may take as long as an answer.
    private func limited<Value: Sendable>(
        _ problem: String, _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let clock = clock
        let result = await race(against: { try await clock.sleep(for: Self.answerTime) }) { () async in
            do { return Result<Value, any Error>.success(try await operation()) } catch { return .failure(error) }
        }
        guard let result else { throw HomeAssistantError.offline(problem) }
        return try result.get()
    }

    private func unexpected(_ message: JSONValue) -> HomeAssistantError {
        .unexpected("a message of type \(message["type"]?.asString?.prefix(40) ?? "none")")
    }
}

/// A result, still as bytes: a registry has some megabytes, of which little is needed.
package struct Answer: Sendable {
    private let bytes: [UInt8]
    private let range: Range<Int>

    /// The answer to a command; `nil` if the message is another one.
    /// - Throws: `HomeAssistantError` if it is a refusal or not as documented.
    init?(_ bytes: [UInt8], to id: Int, _ command: String) throws {
        var (type, answered, success, error) = ("", 0, false, JSONValue.null)
        var result: Range<Int>?
        do throws(JSONError) {
            var reader = JSONReader(bytes)
            try reader.beginObject()
            while let key = try reader.nextKey() {
                switch key {
                case "id": answered = try reader.int()
                case "type": type = try reader.string()
                case "success": success = try reader.bool()
                case "result": result = try reader.raw()
                case "error": error = try JSONValue(from: &reader)
                default: try reader.skip()
                }
            }
            try reader.expectEnd()
        } catch {
            throw HomeAssistantError.unexpected("no answer to \(command): \(error)")
        }
        guard answered == id, type == "result" else { return nil }
        guard success else {
            throw HomeAssistantError.refused(
                command: command,
                code: String((error["code"]?.asString ?? "unknown").prefix(HomeAssistantError.textLimit)),
                message: String((error["message"]?.asString ?? "no reason").prefix(HomeAssistantError.textLimit)))
        }
        self.bytes = bytes
        range = result ?? 0..<0
    }

    /// A reader of the result.
    package var reader: JSONReader { JSONReader(bytes, range: range) }

    /// The whole result.
    package var value: JSONValue {
        get throws {
            var reader = reader
            do { return try JSONValue(from: &reader) } catch {
                throw HomeAssistantError.unexpected("no result: \(error)")
            }
        }
    }
}

/// Messages to and from Home Assistant, each a text of JSON.
package protocol MessageStream: Sendable {
    /// Sends a message.
    /// - Throws: `HomeAssistantError.offline` if the connection has ended.
    func send(_ message: [UInt8]) async throws
    /// The next message.
    /// - Throws: `HomeAssistantError.offline` if the connection has ended.
    func receive() async throws -> [UInt8]
}
