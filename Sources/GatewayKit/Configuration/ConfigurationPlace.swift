import Foundation

/// Where a configuration is: what its paths and its secrets refer to.
public struct ConfigurationPlace: Sendable {
    /// The folder of the configuration file, the base of relative paths.
    public var directory: String
    /// The environment, for secrets.
    public var environment: [String: String]

    /// A place; by default the working folder, with an empty environment.
    public init(directory: String = ".", environment: [String: String] = [:]) {
        self.directory = directory
        self.environment = environment
    }

    /// A path of the configuration as one from the root or from the working folder. `~` is not expanded.
    public func path(_ text: String) -> String {
        text.hasPrefix("/") ? text : URL(filePath: directory).appending(path: text).standardizedFileURL.path
    }

    /// Where container engines mount secrets. Their modes are often open, and the container has no other user.
    private static let mountedSecrets = "/run/secrets/"

    /// Whether systemd or a container engine keeps the file for this service only. The file may then look readable for a
    /// group, because an access control list grants access.
    func isCredential(_ path: String) -> Bool {
        if path.hasPrefix(Self.mountedSecrets) { return true }
        guard let directory = environment["CREDENTIALS_DIRECTORY"], !directory.isEmpty else { return false }
        return path.hasPrefix(directory + "/")
    }
}
