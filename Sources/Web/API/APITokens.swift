package import GatewayKit
import Vitals

/// `tokens` of `web:`: the programs that may use the API, and what each may do.
package struct APITokens: Sendable, Hashable {
    /// What a token allows. The raw value is the word in the configuration.
    package enum Scope: String, CaseIterable, Sendable, Hashable {
        /// To read devices, samples, days, nights, alerts and events.
        case read
        /// To send commands, whose answers may have samples, too.
        case command
    }

    /// A program that may use the API.
    package struct Token: Sendable, Hashable {
        /// Its name, for the log.
        package var name: String
        package var secret: Secret
        package var scopes: Set<Scope>
        /// Of whose samples it sees; `nil` for all.
        package var people: Set<String>?
    }

    /// The most tokens: each request is compared with all of them.
    package static let maximum = 32
    /// The most persons of a token: as many as can share a device.
    package static let maximumPeople = 100
    /// The most bytes of a token that is sent: a longer one is wrong.
    static let maximumLength = 1_024

    package private(set) var tokens: [Token]

    /// These tokens.
    init(_ tokens: [Token] = []) { self.tokens = tokens }

    /// Reads `tokens` of `web:`.
    package init(_ reader: inout ConfigurationReader) {
        let about =
            "The programs that may use the API. Without any, only this machine may, where `web` needs no password."
        var names: Set<String> = []
        let entries = reader.sections("tokens", limit: Self.maximum, about: about) { reader in
            let name = reader.string("name", about: "Which program it is, for the log.")
            if !name.isEmpty, !names.insert(name).inserted { reader.report("Another token has this name.", at: "name") }
            let secret = reader.token("token", about: "The token, of at least 16 characters that nobody can guess.")
            if secret == nil, !reader.isDescribing, !reader.keys.contains("token") {
                reader.report("token is missing: {file: PATH} or {env: NAME}.")
            }
            if let secret, secret.value.utf8.count > Self.maximumLength {
                reader.report("A token has at most \(Self.maximumLength) bytes.", at: "token")
            }
            let scopes = reader.scopes("scopes")
            let people = reader.oneOrMoreStrings(
                "people", limit: Self.maximumPeople,
                about: "Whose samples it sees, by the names at the devices; without it, everybody's.")
            return secret.map { Token(name: name, secret: $0, scopes: scopes, people: people.map { Set($0) }) }
        }
        tokens = entries.compactMap(\.self)
        for (index, token) in tokens.enumerated() where tokens[..<index].contains(where: { $0.secret == token.secret })
        {
            reader.report("Two entries have the same token: make one for each.", at: "tokens")
        }
    }

    /// The token that a program has sent. The time that it takes says nothing of how much of it is right.
    func token(_ text: String) -> Token? {
        let bytes = Array(text.utf8.prefix(Self.maximumLength + 1))
        var found: Token?
        for token in tokens where token.secret.matches(bytes) { found = token }
        return found
    }
}

extension ConfigurationReader {
    fileprivate mutating func scopes(_ key: String) -> Set<APITokens.Scope> {
        let words = APITokens.Scope.allCases.map(\.rawValue).joined(separator: ", ")
        let texts = oneOrMoreStrings(key, limit: APITokens.Scope.allCases.count)
        describe(key, "list of \(words)", default: "read", about: "What it may do.")
        guard let texts else { return [.read] }
        let scopes = texts.compactMap { APITokens.Scope(rawValue: $0) }
        if scopes.count < texts.count { report("The scopes are \(words).", at: key) }
        return Set(scopes)
    }
}
