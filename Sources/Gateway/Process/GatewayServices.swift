package import Logging
package import ServiceLifecycle

/// An assembled gateway, ready to run.
package struct GatewayServices: Sendable {
    /// The services in order of dependency: the last one ends first. A service without a name lists itself in `running`.
    package var services: [(name: String?, service: any Service)]
    /// Reads the configuration again and applies changes. If it has an error, it throws and changes nothing.
    package var reload: @Sendable () async throws -> Void
    /// The parts that the watchdog checks.
    package var probes: [LivenessProbe]
    /// Those of them that come and go.
    package var passing: PassingParts
    /// Where their liveness is reported.
    package var report: LivenessReport
    /// What runs at the moment.
    package var running: RunningParts
    /// Called with the watch of these parts, before it begins.
    package var watched: @Sendable (Watchdog) -> Void = { _ in }

    /// The parts of a gateway.
    package init(
        services: [(name: String?, service: any Service)], reload: @escaping @Sendable () async throws -> Void,
        probes: [LivenessProbe], passing: PassingParts = PassingParts(), report: LivenessReport, running: RunningParts
    ) {
        self.services = services
        self.reload = reload
        self.probes = probes
        self.passing = passing
        self.report = report
        self.running = running
    }

    /// Assembles a gateway from a checked configuration. `read` reads the configuration again for a reload; it logs and
    /// throws errors.
    package typealias Composition =
        @Sendable (
            _ configuration: GatewayConfiguration,
            _ read: @escaping @Sendable () throws(ConfigurationError) -> GatewayConfiguration, _ logger: Logger
        ) async throws -> GatewayServices
}
