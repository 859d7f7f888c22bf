import Foundation
import GatewayKit
import Glibc
package import Logging
import ServiceLifecycle
import UnixSignals
import Vitals

/// The gateway as a process: reads the configuration, runs the services, and handles the signals to end and reload.
package struct GatewayProcess: Sendable {
    /// How long services may take to end after `SIGTERM` or `SIGINT`: devices get a graceful disconnect, the broker the messages in
    /// flight. Then their tasks are cancelled.
    static let gracePeriod: Duration = .seconds(4)
    /// How long after the cancellation the process ends in any case, five seconds after the signal in all. Committed
    /// data is on disk, so nothing is lost.
    static let cancellationPeriod: Duration = .seconds(1)

    /// The configuration file, read again for each reload.
    private let path: String
    private let loader: ConfigurationLoader
    private let log: ProcessLog
    private let fixedLevel: Logger.Level?
    private let notifier: ServiceNotifier?
    private let folder = DeviceFolderWatch()

    /// Creates a process with this configuration file. `logLevel` overrides the configuration's; `notifier` is the service
    /// manager.
    package init(
        path: String, loader: ConfigurationLoader, log: ProcessLog, logLevel: Logger.Level? = nil,
        notifier: ServiceNotifier? = nil
    ) {
        self.notifier = notifier
        self.path = path
        self.loader = loader
        self.log = log
        fixedLevel = logLevel
    }

    /// Runs a gateway with this configuration file and its log on standard error until a signal ends it. Call it once per process.
    package static func run(
        _ path: String, plugins: PluginCatalogue, logLevel: Logger.Level?,
        composition: GatewayServices.Composition
    ) async -> ExitStatus {
        let environment = ProcessInfo.processInfo.environment
        let log = ProcessLog(level: logLevel ?? .info, environment: environment)
        LoggingSystem.bootstrap { log.handler(label: $0) }
        // A closed peer or log reader makes that write fail, and does not end the process.
        signal(SIGPIPE, SIG_IGN)
        DescriptorLimit.raise()
        let process = GatewayProcess(
            path: path, loader: ConfigurationLoader(plugins: plugins, environment: environment), log: log,
            logLevel: logLevel, notifier: ServiceNotifier(environment: environment))
        let status = await process.run(composition)
        log.flush()
        return status
    }

    /// Runs the gateway until a signal ends it or it fails.
    package func run(_ composition: GatewayServices.Composition) async -> ExitStatus {
        // Runs first, since an early SIGHUP would end the process.
        let hangups = await UnixSignalsSequence(trapping: .sighup)
        let logger = log.logger()
        do {
            try await run(try await begin(composition), hangups)
            logger.notice("Ended.")
            return .success
        } catch is ConfigurationError {
            // Each error is already logged.
            return .configuration
        } catch {
            logger.critical("The gateway failed.", metadata: ["error": "\(error)"])
            return .internal
        }
    }

    /// Reads the configuration, and makes the gateway of it. What was read ends with this call: thousands of devices have megabytes of it.
    private func begin(_ composition: GatewayServices.Composition) async throws -> GatewayServices {
        let configuration = try read()
        let running = configuration.fixedPart
        let logger = log.logger()
        logger.info("The gateway starts.", metadata: configuration.introduction(path))
        return try await StartNotice.during(notifier) {
            try await composition(
                configuration, { () throws(ConfigurationError) in try read(after: running) }, logger)
        }
    }

    private func run(_ gateway: GatewayServices, _ hangups: UnixSignalsSequence) async throws {
        let logger = log.logger()
        let watch = Watchdog(
            gateway.probes, passing: gateway.passing, notifier: notifier, report: gateway.report, logger: logger)
        gateway.watched(watch)
        let deadline = StopDeadline(after: Self.gracePeriod + Self.cancellationPeriod) {
            watch.stopping()
        } expire: {
            // The names of what runs have the devices, the plugins and the import already.
            endNow(heldUpBy: gateway.running.names + watch.slow.filter { !$0.isOptional }.map(\.name))
        }
        let signals = deadline.armOnSignals()
        defer {
            deadline.end()
            for signal in signals { signal.cancel() }
        }
        let hangup = ProcessService.reloading(on: hangups, gateway.reload, logger)
        let changes = ProcessService.reloading(after: folder, gateway.reload, logger)
        let reloads: [(name: String?, service: any Service)] = [("reload", hangup), (DeviceFolder.key, changes)]
        let listed = (gateway.services + reloads).map { name, service in
            name.map { ListedService(name: $0, service: service, running: gateway.running) } ?? service
        }
        let services: [any Service] =
            [ProcessService.watching(watch)] + listed + [ProcessService.memory, StopService(deadline: deadline)]
        try await ServiceGroup(configuration: Self.group(of: services, logger: logger)).run()
    }

    /// The group of these services, which ends when one of them fails, when the stop begins, or at a signal.
    static func group(of services: [any Service], logger: Logger) -> ServiceGroupConfiguration {
        var configuration = ServiceGroupConfiguration(
            services: services.map { service in
                .init(
                    service: service,
                    successTerminationBehavior: service is StopService ? .gracefullyShutdownGroup : .cancelGroup,
                    failureTerminationBehavior: .gracefullyShutdownGroup)
            },
            gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        // After it the tasks are cancelled. The group would also end a process that takes still longer, by a crash that
        // names nothing; the deadline does that instead.
        configuration.maximumGracefulShutdownDuration = gracePeriod
        return configuration
    }

    /// Ends the process in the middle of its stop, and says what holds it up.
    private func endNow(heldUpBy names: [String]) {
        log.logger().critical(
            "The stop takes too long and is cut short.", metadata: ["stop.held_up_by": "\(GatewayCore.list(names))"])
        log.flush()
        _exit(ExitStatus.stopTimedOut.rawValue)
    }

    /// Reads the configuration, applies its log level, and logs its errors and warnings. Applies nothing if the
    /// gateway cannot take it while `running` is in force.
    private func read(after running: GatewayConfiguration? = nil) throws(ConfigurationError) -> GatewayConfiguration {
        let logger = log.logger()
        do throws(ConfigurationError) {
            let configuration = try loader.load(path)
            folder.follow(configuration.deviceFolder)
            if running?.sectionsThatNeedRestart(comparedWith: configuration).isEmpty ?? true {
                log.level = fixedLevel ?? configuration.logLevel
            }
            for warning in configuration.warnings + configuration.checkFileModes(of: path) {
                logger.warning("\(warning.text(file: path))")
            }
            return configuration
        } catch {
            for issue in error.issues { logger.error("\(issue.text(file: path))") }
            throw error
        }
    }
}

extension GatewayConfiguration {
    /// What the first line of the log says: which program serves which devices, with what. A password is never in an address.
    func introduction(_ file: String) -> Logger.Metadata {
        [
            "version": "\(GatewayVersion.current)", "configuration": "\(file)", "store": "\(store.path)",
            "broker": "\(mqtt.servers.map { "\($0)" }.joined(separator: ", "))",
            "devices": "\(devices.isEmpty ? "none" : GatewayCore.list(devices.map(\.info.id.text)))",
        ]
    }
}
