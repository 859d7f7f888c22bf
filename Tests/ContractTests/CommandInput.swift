import Contract
import JSON
import MQTT
import Vitals

/// Invariants of the command parser, for any input. The fuzzer checks them with endless inputs, the tests with those
/// that once failed.
///
/// An input consists of the end of a topic, a response topic (or nothing), and the payload, separated by line feeds.
enum CommandInput {
    private static let commands = "vitals2mqtt/home/ring-1/command/"

    /// The violations after parsing an input. A trap is a violation of its own.
    static func issues(in bytes: [UInt8]) -> [String] {
        let parts = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3 else { return [] }
        let response = String(decoding: parts[1], as: UTF8.self)
        let topic = "vitals2mqtt/home/" + String(decoding: parts[0], as: UTF8.self)
        let incoming = Examples.parser.parse(
            topic: topic, payload: Array(parts[2]), isRetained: false,
            responseTopic: response.isEmpty ? nil : response, receivedAt: Examples.now)
        switch incoming {
        case .ignored:
            // A broker splits topics at each slash, also before a combining mark, which makes both one character.
            let name = topic.hasPrefix(Self.commands) ? topic.utf8.dropFirst(Self.commands.utf8.count) : nil
            let isCommand = name.map { !$0.contains(UInt8(ascii: "/")) } ?? false
            return isCommand || topic == "vitals2mqtt/home/ring-1/config/set" ? ["\(topic) was ignored"] : []
        case .device(let command, let envelope):
            let level = envelope.command == "config/set" ? "config/set" : "command/\(command.name)"
            let isRight = envelope.device.map { topic == "vitals2mqtt/home/\($0.text)/\(level)" } ?? false
            return (isRight ? [] : ["\(topic) was taken for \(command)"]) + check(command)
        case .gateway(let command, let envelope):
            let isRight = envelope.device == nil && topic.hasPrefix("vitals2mqtt/home/gateway/command/")
            return (isRight ? [] : ["\(topic) was taken for \(command)"]) + check(command)
        case .passkey(let passkey, let envelope):
            let isRight = envelope.device.map { topic == "vitals2mqtt/home/\($0.text)/command/passkey" } ?? false
            return isRight && passkey.number <= Passkey.greatest ? [] : ["\(topic) was taken for a passkey"]
        case .rejected(let answer, let envelope, let republishes): return check(answer, envelope, republishes)
        }
    }

    /// Checks that a refusal gives a reason, and goes to a permitted topic.
    private static func check(_ answer: Answer, _ envelope: CommandEnvelope, _ republishes: Bool) -> [String] {
        var issues: [String] = []
        if answer.code == nil || ![.rejected, .expired].contains(answer.status) { issues.append("\(answer)") }
        if !answer.violations.isEmpty, answer.code != .invalid { issues.append("violations with \(answer)") }
        if answer.violations.count > CommandLimits.violations {
            issues.append("\(answer.violations.count) violations")
        }
        if republishes, envelope.command != "config/set" { issues.append("\(envelope.command) republishes") }
        var encoder = Examples.encoder
        let message = encoder.answer(answer, to: envelope, about: nil, at: Examples.now)
        if (try? JSONValue(parsing: message.payload)) == nil { issues.append("the answer is no JSON") }
        if message.topic.contains("#") || message.topic.contains("+") {
            issues.append("answered on \(message.topic)")
        }
        return issues
    }

    /// Checks that the arguments of an accepted command are within their limits.
    private static func check(_ command: DeviceCommand) -> [String] {
        switch command {
        case .measure(_, let duration):
            return (Duration.seconds(5) ... .seconds(600)).contains(duration) ? [] : ["\(command)"]
        case .history(_, let from, let to, let limit, let page, _, _):
            let isRange = from.map { from in to.map { from < $0 } ?? true } ?? true
            let isRight = isRange && (1...500).contains(limit) && page?.utf8.count ?? 0 <= CommandLimits.pageLength
            return isRight ? [] : ["\(command)"]
        case .daily(_, let from, let to, _, _): return from <= to ? [] : ["\(command)"]
        case .sync(_, let from?, let to?): return from < to ? [] : ["\(command)"]
        case .configure(let patch, _, _): return check(patch)
        case .acknowledge(_, let person):
            let isOneLine = !person.contains(where: \.isNewline) && (1...512).contains(person.utf8.count)
            return isOneLine ? [] : ["\(command)"]
        default: return []
        }
    }

    private static func check(_ command: GatewayCommand) -> [String] {
        guard case .replay(let numbers) = command else { return [] }
        return numbers.lowerBound >= 1 && numbers.count <= CommandLimits.replay ? [] : ["\(command)"]
    }

    /// Checks that a patch either yields valid settings, which can be published and read back, or changes nothing.
    private static func check(_ patch: MonitorPatch) -> [String] {
        let settings: MonitorSettings
        do { settings = try patch.applied(to: Examples.settings, capabilities: nil) } catch {
            return error.list.isEmpty ? ["\(patch) was refused without a reason"] : []
        }
        let violations = settings.violations(capabilities: nil, changed: Set(MonitorSetting.all))
        guard violations.isEmpty else { return ["\(patch) left \(violations)"] }
        let message = Examples.encoder.config(
            TwinState(desired: settings, version: 2, updatedAt: Examples.now), of: Examples.device)
        let incoming = Examples.parser.parse(
            topic: message.topic + "/set", payload: message.payload, isRetained: false, receivedAt: Examples.now)
        guard case .device(.configure(let again, _, _), _) = incoming, again.changes == settings.values else {
            return ["\(settings) is published as \(String(decoding: message.payload, as: UTF8.self))"]
        }
        return []
    }
}
