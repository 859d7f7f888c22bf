import JSON
package import Vitals

/// Turns a consumer's message into a command, or into the answer that says why it is invalid.
///
/// It does not know the devices or their capabilities. It is stateless, and no input makes it trap.
package struct CommandParser: Sendable {
    /// The topics of this gateway.
    package let topics: ContractTopics
    /// The prefix of Home Assistant's discovery, to which no answer may go; `nil` if discovery is off.
    package let discoveryPrefix: String?
    /// The calendar that defines today.
    package let calendar: LocalCalendar

    /// The members of a payload that belong to the command itself, not to its arguments.
    static let envelopeKeys = ["id", "issued_at", "expires_at"]
    /// The members that do not distinguish commands with the same `id`. A passkey is one: nothing of it is kept.
    private static let keysBesideContent = envelopeKeys + [DeviceCommandName.passkey.rawValue]

    /// The commands of a device, by their names in the topic, and those of the gateway.
    package static let deviceCommands = DeviceCommandName.allCases.map(\.rawValue)
    package static let gatewayCommands = GatewayCommandName.allCases.map(\.rawValue)
    /// What a change of the configuration is called where commands are named, such as in the API: it has a topic of its own.
    package static let configuration = "config"
    /// The commands whose `id` is that of an alert or a sample, and not their own.
    package static let aboutOthers = [DeviceCommandName.acknowledge, .assign, .withdraw].map(\.rawValue)

    /// A parser for a gateway.
    package init(topics: ContractTopics, discoveryPrefix: String?, calendar: LocalCalendar) {
        self.topics = topics
        self.discoveryPrefix = discoveryPrefix
        self.calendar = calendar
    }

    /// Parses a message.
    /// - Parameters:
    ///   - payloadSize: the length of the payload in bytes, if only its beginning was kept.
    ///   - isRetained: whether the message is retained. A retained command would run again at each connection, so it is
    ///     ignored.
    package func parse(
        topic: String, payload: [UInt8], payloadSize: Int? = nil, isRetained: Bool, responseTopic: String? = nil,
        correlation: [UInt8]? = nil, receivedAt: Timestamp
    ) -> Incoming {
        guard !isRetained, let inbound = topics.inbound(topic) else { return .ignored }
        let request = Request(inbound)
        var envelope = CommandEnvelope(
            device: request.device, command: request.name, responseTopic: responseTopic, correlation: correlation)
        let payloadSize = max(payloadSize ?? 0, payload.count)
        let parsed = payloadSize <= CommandLimits.payload ? Self.members(of: payload) : .success([])
        var arguments = Arguments()
        if case .success(let members) = parsed {
            arguments = Arguments(members)
            arguments.readEnvelope(&envelope)
        }
        func reject(_ answer: Answer) -> Incoming {
            .rejected(answer, envelope, republishesConfig: request.isConfig && envelope.device != nil)
        }
        if let responseTopic,
            let issue = topics.issue(inResponseTopic: responseTopic, discoveryPrefix: discoveryPrefix)
        {
            envelope.responseTopic = nil
            if correlation?.count ?? 0 > CommandLimits.correlation { envelope.correlation = nil }
            return reject(
                Answer(.rejected, code: .invalid, message: "The command was not run: its response topic \(issue)."))
        }
        if let size = correlation?.count, size > CommandLimits.correlation {
            envelope.correlation = nil
            let message = "The correlation data has \(size) bytes; at most \(CommandLimits.correlation) are taken."
            return reject(Answer(.rejected, code: .invalid, message: message))
        }
        if request.hasUnknownDevice {
            return reject(
                Answer(.rejected, code: .unknownDevice, message: "No device can have the name in the topic."))
        }
        if payloadSize > CommandLimits.payload {
            let message = "The payload has \(payloadSize) bytes; at most \(CommandLimits.payload) are taken."
            return reject(Answer(.rejected, code: .tooLarge, message: message))
        }
        if case .failure(let error) = parsed {
            return reject(Answer(.rejected, code: .badJSON, message: error.message))
        }
        let command = self.command(request, &arguments, at: receivedAt)
        guard let command else {
            return reject(Answer(.rejected, code: .unknownCommand, message: request.unknownMessage))
        }
        if case .device(.acknowledge) = command { envelope.isNamedByContent = true }
        switch command {
        case .device(.assign), .device(.withdraw): envelope.isRunEachTime = true
        default: break
        }
        if !arguments.violations.isEmpty {
            return reject(.invalid(arguments.violations, of: envelope.command))
        }
        if envelope.id != nil { envelope.content = arguments.content(without: Self.keysBesideContent) }
        if let expiresAt = envelope.expiresAt, expiresAt <= receivedAt {
            let message = "The command expired before it was received; is the sender's clock right?"
            return reject(Answer(.expired, code: .expired, message: message))
        }
        switch command {
        case .device(let command): return .device(command, envelope)
        case .gateway(let command): return .gateway(command, envelope)
        case .passkey(let passkey): return .passkey(passkey, envelope)
        }
    }

    /// The members of a payload; none if it is empty or the text that a button of Home Assistant sends.
    private static func members(of payload: [UInt8]) -> Result<[JSONValue.Member], PayloadError> {
        let isPress = payload.elementsEqual("PRESS".utf8)
        if isPress || payload.allSatisfy({ [0x09, 0x0A, 0x0D, 0x20].contains($0) }) { return .success([]) }
        do throws(JSONError) {
            let value = try JSONValue(parsing: payload)
            guard let members = value.asObject else {
                return .failure(PayloadError(message: "The payload must be a JSON object, such as {}."))
            }
            return .success(members)
        } catch {
            return .failure(PayloadError(message: "The payload is not the JSON that is taken. \(error)"))
        }
    }
}

/// Why a payload cannot be read, as text for a person.
private struct PayloadError: Error {
    var message: String
}

extension Answer {
    /// The answer to a command with errors, listing them up to a limit.
    fileprivate static func invalid(_ violations: [Violation], of command: String) -> Answer {
        let count = violations.count == 1 ? "one error" : "\(violations.count) errors"
        let limit = CommandLimits.violations
        let rest = violations.count > limit ? " The first \(limit) are listed." : ""
        return Answer(
            .rejected, code: .invalid, message: "\(command) was not run: its payload has \(count).\(rest)",
            violations: Array(violations.prefix(limit)))
    }
}

extension Arguments {
    /// Reads the members about the command itself.
    fileprivate mutating func readEnvelope(_ envelope: inout CommandEnvelope) {
        let length = CommandLimits.idLength
        envelope.id = member("id", "a text of 1 to \(length) bytes, or a whole number") { value in
            let text = value.asString ?? value.asInt64.map(String.init)
            return text.flatMap { (1...length).contains($0.utf8.count) ? $0 : nil }
        }
        _ = moment("issued_at")
        envelope.expiresAt = moment("expires_at")
        forgetKnown()
    }
}

/// The result of parsing a received message.
package enum Incoming: Sendable, Hashable {
    /// It is not a command, or is retained: it gets no answer.
    case ignored
    /// A command of a device. The parser does not check that the device exists and can do it.
    case device(DeviceCommand, CommandEnvelope)
    /// A command of the gateway.
    case gateway(GatewayCommand, CommandEnvelope)
    /// The passkey that a device shows. The waiting transport gets it, and it is kept nowhere.
    case passkey(Passkey, CommandEnvelope)
    /// It is not run. The answer is final. A refused configuration is published again, so that a control in a user
    /// interface returns to the accepted value.
    case rejected(Answer, CommandEnvelope, republishesConfig: Bool)

    /// Who asked, and where the answer goes; `nil` if it gets none.
    package var envelope: CommandEnvelope? {
        switch self {
        case .device(_, let envelope), .gateway(_, let envelope), .passkey(_, let envelope),
            .rejected(_, let envelope, _):
            envelope
        case .ignored: nil
        }
    }
}
