import Foundation
import GatewayKit
import Glibc
package import Logging
import ServiceLifecycle
import UnixSignals

/// The gateway as a process: reads the configuration, runs the services, and ends and reloads them by signals.
package struct GatewayProcess: Sendable {
    /// After `SIGTERM` or `SIGINT` services have so long to end by themselves: devices get a goodbye and the broker what is in
    /// flight. Then their tasks are cancelled.
    static let gracePeriod: Duration = .seconds(4)
    /// So long after the cancellation the process ends whatever happens, five seconds after the signal in all. What was
    /// committed is on disk, so nothing is lost.
    static let cancellationPeriod: Duration = .seconds(1)

    private let source: ConfigurationSource
    private let loader: ConfigurationLoader
    private let log: ProcessLog
    private let fixedLevel: Logger.Level?

    /// A process with this configuration. `logLevel` overrules the configuration's.
    package init(
        source: ConfigurationSource, loader: ConfigurationLoader, log: ProcessLog, logLevel: Logger.Level? = nil
    ) {
        self.source = source
        self.loader = loader
        self.log = log
        fixedLevel = logLevel
    }

    /// Runs a gateway on standard error's log until a signal ends it. To be called once in a process.
    package static func run(
        _ source: ConfigurationSource, plugins: PluginCatalogue, logLevel: Logger.Level?,
        composition: GatewayServices.Composition
    ) async -> ExitStatus {
        let environment = ProcessInfo.processInfo.environment
        let log = ProcessLog(level: logLevel ?? .info, environment: environment)
        LoggingSystem.bootstrap { log.handler(label: $0) }
        // A peer or a log reader that is gone is an error of that write, not the end of the process.
        signal(SIGPIPE, SIG_IGN)
        let loader = ConfigurationLoader(plugins: plugins, environment: environment)
        return await GatewayProcess(source: source, loader: loader, log: log, logLevel: logLevel).run(composition)
    }

    /// Runs the gateway until a signal ends it, or it fails.
    package func run(_ composition: GatewayServices.Composition) async -> ExitStatus {
        // First of all, since an early SIGHUP would end the process.
        let hangups = await UnixSignalsSequence(trapping: .sighup)
        let logger = log.logger()
        do throws(ConfigurationError) {
            let configuration = try read()
            do {
                try await run(
                    composition(
                        configuration, { () throws(ConfigurationError) in try read(after: configuration) }, logger),
                    hangups)
                logger.notice("Ended.")
                return .success
            } catch {
                logger.critical("The gateway failed.", metadata: ["error": "\(error)"])
                return .internal
            }
        } catch {
            // Each mistake was logged where it was found.
            return .configuration
        }
    }

    private func run(_ gateway: GatewayServices, _ hangups: UnixSignalsSequence) async throws {
        let logger = log.logger()
        var configuration = ServiceGroupConfiguration(
            services: gateway.services.map {
                .init(service: $0, failureTerminationBehavior: .gracefullyShutdownGroup)
            } + [.init(service: HangupService(signals: hangups, logger: logger, reload: gateway.reload))],
            gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        configuration.maximumGracefulShutdownDuration = Self.gracePeriod
        configuration.maximumCancellationDuration = Self.cancellationPeriod
        try await ServiceGroup(configuration: configuration).run()
    }

    /// Reads the configuration, applies its log level, and logs its mistakes and warnings. Of one that the gateway cannot
    /// take while `running` is in force, nothing is applied.
    private func read(after running: GatewayConfiguration? = nil) throws(ConfigurationError) -> GatewayConfiguration {
        let logger = log.logger()
        do throws(ConfigurationError) {
            let configuration = try loader.load(source)
            if running?.sectionsThatNeedRestart(comparedWith: configuration).isEmpty ?? true {
                log.level = fixedLevel ?? configuration.logLevel
            }
            for warning in configuration.warnings {
                logger.warning("\(warning.text(file: source.name))")
            }
            return configuration
        } catch {
            for mistake in error.mistakes { logger.error("\(mistake.text(file: source.name))") }
            throw error
        }
    }
}
