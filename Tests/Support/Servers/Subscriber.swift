package import MQTT
import Vitals

/// A subscriber without any code of the gateway: the program `mosquitto_sub`.
package final class Subscriber: Sendable {
    /// The time limit for subscribing, on a busy machine.
    private static let limit = Duration.seconds(20)
    /// The first field of each line with a message; other lines are the program's own log.
    private static let mark = "message"

    private let program: ChildProgram
    private let received = Recorder<InboundMessage>()

    init(_ server: MosquittoServer, filter: String, account: MosquittoAccount?, session: String?) {
        // Topic, retain, quality of service, response topic, correlation data, expiry, payload in hexadecimal digits.
        let format = [Self.mark, "%t", "%r", "%q", "%R", "%D", "%E", "%x"].joined(separator: "\\t")
        // The program does not flush its output unless that is a terminal; `stdbuf` makes it write line by line.
        program = ChildProgram(
            "stdbuf",
            ["-oL", "mosquitto_sub"] + server.clientArguments(account) + [
                "-d", "-V", "mqttv5", "-q", "1", "-t", filter, "-F", format,
            ] + (session.map { ["-c", "-i", $0, "-x", "3600"] } ?? []))
    }

    /// The messages so far, in order.
    package var messages: [InboundMessage] { received.elements }

    /// Returns the messages as soon as they fulfil `condition`.
    /// - Throws: `DeadlinePassed` after `deadline`.
    @discardableResult
    package func wait(
        deadline: Duration = .seconds(20), until condition: @escaping @Sendable ([InboundMessage]) -> Bool
    ) async throws -> [InboundMessage] {
        try await limited(deadline) { try await self.received.wait(until: condition) }
    }

    /// Returns the first message from the position `start` on that fulfils `condition`, as soon as it has come.
    /// - Throws: `DeadlinePassed` after `deadline`.
    package func first(
        from start: Int = 0, deadline: Duration = .seconds(20),
        where condition: @escaping @Sendable (InboundMessage) -> Bool
    ) async throws -> InboundMessage {
        try await limited(deadline) { try await self.received.first(from: start, where: condition) }
    }

    private func limited<Value: Sendable>(
        _ deadline: Duration, _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withRealDeadline(deadline, operation) {
            DeadlinePassed(
                limit: deadline,
                last: self.messages.suffix(20).map {
                    "\($0.topic) \(String(decoding: $0.payload.prefix(300), as: UTF8.self))"
                })
        }
    }

    func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.program.run() }
            var count = 0
            while let events = try? await program.events.wait(until: { [count] in $0.count > count }) {
                for event in events[count...] {
                    if let message = Self.message(event.text) { received.append(message) }
                }
                count = events.count
                if events.last?.isEnd == true { break }
            }
            group.cancelAll()
        }
    }

    /// Returns once the broker has granted the subscription.
    func ready() async throws {
        let events = try await program.events.wait(within: Self.limit) { events in
            events.contains { $0.isEnd || $0.text.contains("SUBACK") }
        }
        guard !events.contains(where: \.isEnd) else {
            throw ProgramError(description: "mosquitto_sub: " + events.map(\.text).joined(separator: "\n"))
        }
    }

    private static func message(_ line: String) -> InboundMessage? {
        let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
        guard fields.count == 8, fields[0] == mark else { return nil }
        guard let payload = Hexadecimal.bytes(String(fields[7])) else { return nil }
        return InboundMessage(
            topic: String(fields[1]), payload: payload, qos: fields[3] == "0" ? .atMostOnce : .atLeastOnce,
            isRetained: fields[2] == "1", responseTopic: fields[4].isEmpty ? nil : String(fields[4]),
            correlationData: fields[5].isEmpty ? nil : Array(fields[5].utf8),
            expiry: Int(fields[6]).map { .seconds($0) })
    }
}

/// A user of a `MosquittoServer`.
package struct MosquittoAccount: Sendable, Hashable {
    /// The name.
    package var username: String
    /// The password.
    package var password: String

    /// A user.
    package init(username: String, password: String) {
        self.username = username
        self.password = password
    }
}

extension MosquittoServer {
    /// Runs `body` with a subscriber of `filter`, which receives every message published from the start of `body`.
    ///
    /// With a `session`, a persistent server stores messages for it while its connection is broken.
    package func withSubscriber(
        _ filter: String = "#", as account: MosquittoAccount? = nil, session: String? = nil,
        _ body: (Subscriber) async throws -> Void
    ) async throws {
        let subscriber = Subscriber(self, filter: filter, account: account, session: session)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await subscriber.run() }
            defer { group.cancelAll() }
            try await subscriber.ready()
            try await body(subscriber)
        }
    }

    /// Publishes with the program `mosquitto_pub`, and returns once the broker has the message.
    package func publish(_ message: OutgoingMessage, as account: MosquittoAccount? = nil) async throws {
        var arguments =
            clientArguments(account) + ["-V", "mqttv5", "-t", message.topic, "-q", "\(message.qos.rawValue)"]
        if message.isRetained { arguments.append("-r") }
        if let topic = message.responseTopic { arguments += ["-D", "publish", "response-topic", topic] }
        if let data = message.correlationData {
            arguments += ["-D", "publish", "correlation-data", String(decoding: data, as: UTF8.self)]
        }
        if let seconds = message.expirySeconds {
            arguments += ["-D", "publish", "message-expiry-interval", "\(seconds)"]
        }
        if let type = message.contentType { arguments += ["-D", "publish", "content-type", type] }
        arguments.append(message.payload.isEmpty ? "-n" : "-s")
        try await runProgram("mosquitto_pub", arguments, input: message.payload)
    }

    /// Publishes a text on each of these topics, as far as the server allows it. One shell does so, since to start a program from a
    /// process of many busy threads takes much longer.
    package func publish(_ text: String, onEachOf topics: [String], as account: MosquittoAccount?) async throws {
        let loop = #"while read -r topic; do mosquitto_pub "$@" -t "$topic" || :; done"#
        let arguments = clientArguments(account) + ["-V", "mqttv5", "-q", "1", "-m", text]
        let lines = topics.map { "\($0)\n" }.joined()
        try await runProgram("sh", ["-c", loop, "sh"] + arguments, input: Array(lines.utf8))
    }

    /// The arguments that connect any mosquitto program to this server.
    func clientArguments(_ account: MosquittoAccount?) -> [String] {
        var arguments = ["-h", "127.0.0.1", "-p", "\(port)"]
        if let account { arguments += ["-u", account.username, "-P", account.password] }
        if let certificates {
            arguments += ["--cafile", certificates.ca, "--cert", certificates.client, "--key", certificates.clientKey]
        }
        return arguments
    }
}
