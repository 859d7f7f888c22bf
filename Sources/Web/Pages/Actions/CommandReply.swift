import Concurrency
import GatewayKit
import JSON
import Vitals

/// What a command of the contract answers, as far as the pages show it.
struct CommandReply: Sendable, Hashable {
    /// How long a form waits for an answer. What takes longer shows on the page, by events.
    static let patience: Duration = .seconds(5)
    /// The most characters of a message that a page shows.
    static let longestMessage = 500

    /// `accepted`, `done`, `failed`, `rejected` or `expired`.
    var status: String
    var code: String?
    var message: String?
    /// What is wrong, by the paths of arguments.
    var violations: [String: String] = [:]

    /// Reads an answer of the contract; one that cannot be read counts as failed.
    init(_ payload: [UInt8]) {
        let value = try? JSONValue(parsing: payload)
        status = value?["status"]?.asString ?? "failed"
        code = value?["code"]?.asString
        message = value?["message"]?.asString.map { String($0.prefix(Self.longestMessage)) }
        for violation in value?["violations"]?.asArray ?? [] {
            guard let path = violation["path"]?.asString, let text = violation["message"]?.asString else { continue }
            violations[path] = text
        }
    }

    /// Whether it was done, or is being done.
    var isTaken: Bool { status == "done" || status == "accepted" }

    /// The reply as a message of a page.
    /// - Parameter done: what is said if all is well.
    func notice(_ done: String) -> Notice {
        guard !isTaken else { return Notice(done, .good) }
        let reasons = violations.isEmpty ? "" : " " + violations.values.sorted().joined(separator: "; ")
        return Notice((message ?? "The gateway did not do it (\(code ?? status)).") + reasons, .bad)
    }

    /// Runs a command, and waits for its first answer, or for its final one.
    /// - Returns: `nil` if none comes within `patience`.
    static func of(
        _ name: String, _ device: DeviceID?, _ arguments: JSONValue, to commander: any GatewayCommander,
        isFinal wantsFinal: Bool = false, by clock: GatewayClock
    ) async -> CommandReply? {
        var writer = JSONWriter()
        arguments.write(to: &writer)
        let bytes = writer.bytes
        let answer = Promise<[UInt8]>()
        return await clock.withTimeout(patience) { () async -> CommandReply? in
            await commander.perform(name, of: device, arguments: bytes) { payload, isFinal in
                if isFinal || !wantsFinal { answer.fulfil(payload) }
            }
            return (try? await answer.wait()).map { CommandReply($0) }
        } ?? nil
    }
}
