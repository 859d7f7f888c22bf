package import Logging
package import ServiceLifecycle

/// A gateway that was put together and can be run.
package struct GatewayServices: Sendable {
    /// What runs, in the order of dependency: the last one is asked to end first.
    package var services: [any Service]
    /// Reads the configuration again and applies what changed. It throws where there is a mistake, and then nothing has
    /// changed.
    package var reload: @Sendable () async throws -> Void

    /// What a gateway consists of.
    package init(services: [any Service], reload: @escaping @Sendable () async throws -> Void) {
        self.services = services
        self.reload = reload
    }

    /// Puts a gateway together from a checked configuration. `read` reads the configuration once more, for a reload; it logs
    /// mistakes and throws them.
    package typealias Composition =
        @Sendable (
            _ configuration: GatewayConfiguration,
            _ read: @escaping @Sendable () throws(ConfigurationError) -> GatewayConfiguration, _ logger: Logger
        ) async throws -> GatewayServices
}
