package import HomeAssistant

/// Why a conversation with Home Assistant ended.
package enum HomeAssistantError: Error, Sendable, Hashable, CustomStringConvertible {
    /// No answer at the address, or the connection ended. A later attempt may succeed.
    case offline(String)
    /// It does not take the token. No later attempt can succeed with it.
    case token(String)
    /// It is older than `oldest`.
    case outdated(String)
    /// It refused a command.
    case refused(command: String, code: String, message: String)
    /// It did not answer as documented.
    case unexpected(String)
    /// It took a command, and its effect did not show in time.
    case late(String)
    /// An entity has got another name in the middle of its import. A later attempt finds it.
    case renamed(String)

    /// The most characters of a text of Home Assistant in an error, which goes to the log and to the gateway's state.
    package static let textLimit = 200

    /// The oldest release that the import is tried with.
    package static let oldest = HomeAssistantVersion(year: 2025, month: 4)

    package var description: String {
        switch self {
        case .offline(let why): "Home Assistant is offline: \(why)"
        case .token(let why):
            "Home Assistant does not take the token: \(why) Make a new one in its profile, under Security."
        case .outdated(let version):
            "Home Assistant \(version) is too old for the import of statistics: it needs \(Self.oldest) or later."
        case .refused(let command, let code, let message):
            code == "unauthorized"
                ? "Home Assistant does not allow \(command): the token must be an administrator's."
                : "Home Assistant refused \(command): \(message) (\(code))"
        case .unexpected(let what): "Home Assistant gave an unexpected answer: \(what)"
        case .renamed(let entity): "\(entity) was renamed or removed while its statistics were imported."
        case .late(let what): "Home Assistant did not store in time: \(what)"
        }
    }
}
