package import Logging
package import ServiceLifecycle

/// An assembled gateway, ready to run.
package struct GatewayServices: Sendable {
    /// The services in order of dependency: the last one ends first.
    package var services: [any Service]
    /// Reads the configuration again and applies changes. If it has a mistake, it throws and changes nothing.
    package var reload: @Sendable () async throws -> Void

    /// The parts of a gateway.
    package init(services: [any Service], reload: @escaping @Sendable () async throws -> Void) {
        self.services = services
        self.reload = reload
    }

    /// Assembles a gateway from a checked configuration. `read` reads the configuration again for a reload; it logs and
    /// throws mistakes.
    package typealias Composition =
        @Sendable (
            _ configuration: GatewayConfiguration,
            _ read: @escaping @Sendable () throws(ConfigurationError) -> GatewayConfiguration, _ logger: Logger
        ) async throws -> GatewayServices
}
