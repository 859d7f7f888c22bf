package import GatewayKit

/// A configured service of a plugin: what it is, and how to open it.
package struct ServiceSetup: Sendable {
    /// Opens the service, and keeps it open until `body` returns.
    package typealias Opener = @Sendable (_ body: @escaping @Sendable () async throws -> Void) async throws -> Void

    /// The plugin's name as in `plugins: {<name>: …}`.
    package var name: String
    package var service: any PluginService
    /// Changes if and only if the service's configuration changes.
    package var fingerprint: Int
    package var opener: Opener

    package init(name: String, service: any PluginService, fingerprint: Int, opener: @escaping Opener) {
        self.name = name
        self.service = service
        self.fingerprint = fingerprint
        self.opener = opener
    }
}
