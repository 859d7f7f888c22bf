package import GatewayKit
package import Listening

/// `password`, `ingress` and `users` of `web:`: who may see the pages.
///
/// At an address that only programs of this machine reach, everybody may. Beyond it a person needs the password, or comes through the
/// ingress of Home Assistant, which knows who it is.
package struct AccessRule: Sendable, Hashable {
    /// Where the Supervisor asks from: its address in the network of all apps
    /// (https://developers.home-assistant.io/docs/add-ons/presentation#ingress).
    package static let supervisor = "172.30.32.2"
    /// What stands for everything, instead of the names of persons.
    package static let everything = "*"
    /// The most users of Home Assistant with persons of their own, and the most persons of one.
    package static let maximumUsers = 64

    /// `password: {file: …}`: the hash that `vitals2mqtt web-password` makes.
    private let password: Secret?
    /// `ingress`: whether Home Assistant's Supervisor may bring its users.
    package let hasIngress: Bool
    /// `users`: the persons whom each user of Home Assistant may see, by the user's id. Without it each may see everything.
    let users: [String: [String]]

    /// Whether there is a password.
    var hasPassword: Bool { password != nil }

    /// Everybody, as at loopback.
    package init() { (password, hasIngress, users) = (nil, false, [:]) }

    /// Reads the keys from `web:`.
    package init(_ reader: inout ConfigurationReader) {
        let secret = reader.secret(
            "password",
            about:
                "The hash of the pages' password, as vitals2mqtt web-password makes it. Required beyond this machine.")
        if let text = secret?.value {
            do throws(PasswordHash.Problem) { _ = try PasswordHash(text) } catch {
                reader.report(error.description, at: "password")
            }
        }
        password = secret
        hasIngress = reader.flag(
            "ingress", default: false,
            about: "Whether Home Assistant's Supervisor, \(Self.supervisor), brings its users to the pages.")
        users =
            reader.has("users")
            ? reader.section(
                "users",
                about: "The persons whom a user of Home Assistant may see, by the user's id; '*' for everything."
            ) { (reader: inout ConfigurationReader) -> [String: [String]] in
                var users: [String: [String]] = [:]
                guard reader.keys.count <= Self.maximumUsers else {
                    reader.report("At most \(Self.maximumUsers) users are taken here.")
                    reader.ignoreOtherKeys()
                    return users
                }
                for user in reader.keys {
                    users[user] = reader.oneOrMoreStrings(
                        user, limit: Self.maximumUsers, about: "Names of persons, or '*'.")
                }
                return users
            } : [:]
        if !users.isEmpty, !hasIngress {
            reader.report("users are those of Home Assistant, which need ingress: true.", at: "users")
        }
    }

    /// Warns of a listener that the network reaches, and whose pages nobody can see.
    /// - Parameter hasTokens: whether there are tokens, of the API or of phones.
    package func check(_ listen: ListenOptions, hasTokens: Bool, _ reader: inout ConfigurationReader) {
        guard !listen.address.isLoopback, password == nil, !hasIngress, !hasTokens else { return }
        reader.warn(
            "Beyond this machine the pages need a password: run vitals2mqtt web-password --write web-password, and set password: "
                + "{file: web-password}.", at: "listen")
    }

    /// The hash; `nil` without a password.
    var hash: PasswordHash? { password.flatMap { try? PasswordHash($0.value) } }

    /// Who asks.
    enum Visitor: Sendable, Hashable {
        /// Anybody at this machine, where there is no password.
        case anybody
        /// Somebody who has signed in, or has to.
        case password
        /// A user of Home Assistant, by its id there.
        case user(String)
        /// Nobody can sign in from there.
        case stranger
    }

    /// Who sends a request to a listener.
    func visitor(of request: WebRequest, isLoopback: Bool) -> Visitor {
        if request.isIngress {
            guard hasIngress, let user = request.header("X-Remote-User-Id"), (1...128).contains(user.utf8.count) else {
                return .stranger
            }
            return .user(user)
        }
        if password != nil { return .password }
        // A proxy on this machine brings others, too.
        return isLoopback && Self.isOwn(request.address) ? .anybody : .stranger
    }

    /// Whether an address is of this machine.
    private static func isOwn(_ address: String) -> Bool {
        address == "::1" || address.hasPrefix("127.") || address.hasPrefix("::ffff:127.")
    }

    /// What a visitor may see; `nil` for nothing.
    func rights(of visitor: Visitor) -> PageRights? {
        switch visitor {
        case .anybody, .password: return .everything
        case .stranger: return nil
        case .user(let user):
            guard !users.isEmpty else { return .everything }
            guard let persons = users[user] else { return nil }
            return persons.contains(Self.everything) ? .everything : PageRights(persons: Set(persons))
        }
    }
}

/// What a visitor may see.
struct PageRights: Sendable, Hashable {
    /// The persons; `nil` for all, and for the gateway itself.
    var persons: Set<String>?

    static let everything = PageRights(persons: nil)

    /// Whether the gateway itself belongs to it.
    var isEverything: Bool { persons == nil }

    /// Whether a device belongs to it: with each person who wears it.
    func covers(_ device: ConfiguredDevice) -> Bool {
        guard let persons else { return true }
        let wearers = Set(device.people.values).union([device.person].compactMap { $0 })
        return !wearers.isEmpty && wearers.isSubset(of: persons)
    }
}
