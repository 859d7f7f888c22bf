import Foundation
import GatewayKit
import Logging
import MQTT
import Store
package import Vitals

/// Checks everything that a gateway with a configuration needs, changes nothing, and says what to do.
package struct Doctor: Sendable {
    private let file: String
    private let loader: ConfigurationLoader
    private let clock: GatewayClock

    /// Checks what this configuration file needs.
    package init(of file: String, with loader: ConfigurationLoader, clock: GatewayClock = .system) {
        self.file = file
        self.loader = loader
        self.clock = clock
    }

    /// Checks everything, which takes as long as the slowest answer: ten seconds for each broker that is silent.
    package func report() async -> DoctorReport {
        let configuration: GatewayConfiguration
        do throws(ConfigurationError) { configuration = try loader.load(file) } catch {
            return DoctorReport(error.issues.map { Finding(.problem, "configuration", $0.text(file: file)) })
        }
        var findings = self.configuration(configuration)
        findings.append(ClockState.current(clock).finding(in: configuration.calendar))
        findings += store(configuration)
        findings += await brokers(configuration)
        // Also one with a section that no device uses yet: its author is about to add the device.
        for service in configuration.services {
            let context = ServiceContext(clock: clock, logger: Self.silent)
            findings += await service.service.examine(context: context)
        }
        return DoctorReport(findings)
    }

    /// The report has everything that a log would have.
    private static let silent = Logger(label: "doctor") { _ in SwiftLogNoOpLogHandler() }

    private func configuration(_ configuration: GatewayConfiguration) -> [Finding] {
        let count = configuration.devices.count
        let warnings = (configuration.warnings + configuration.checkFileModes(of: file)).map {
            Finding(.warning, "configuration", $0.text(file: file))
        }
        return [Finding(.fine, "configuration", "\(file) has \(count) \(count == 1 ? "device" : "devices").")]
            + warnings
    }

    private func store(_ configuration: GatewayConfiguration) -> [Finding] {
        let path = configuration.store.path
        let place = configuration.checkStorePath()
        var findings = place.issues.map { Finding(.problem, "store", $0.message) }
        findings += place.warnings.map { Finding(.warning, "store", $0.message) }
        if findings.isEmpty { findings.append(content(of: path)) }
        let folder = URL(filePath: StorePath.resolved(path)).deletingLastPathComponent().path
        if let space = DiskSpace(of: folder) { findings.append(space.finding(in: folder)) }
        return findings
    }

    private func content(of path: String) -> Finding {
        guard FileManager.default.fileExists(atPath: path) else {
            return Finding(.fine, "store", "\(path) will be made when the gateway runs.")
        }
        do throws(StoreError) {
            let inspection = try StoreInspection(of: path)
            return Finding(
                .fine, "store", "\(path) has \(inspection.bytes >> 10) KiB. vitals2mqtt store check reads all of it.")
        } catch {
            return Finding(.problem, "store", "\(error)")
        }
    }

    /// Each broker of the list. One that answers is enough: the gateway uses it.
    private func brokers(_ configuration: GatewayConfiguration) async -> [Finding] {
        var answers: [(server: BrokerServer, trouble: BrokerError?)] = []
        for server in configuration.mqtt.servers {
            answers.append((server, await BrokerCheck(configuration, server).trouble()))
        }
        let isReached = answers.contains { $0.trouble == nil }
        return answers.map { server, trouble in
            guard let trouble else {
                return Finding(.fine, "broker", "\(server) lets the gateway in, and subscribe to its commands.")
            }
            return Finding(isReached ? .warning : .problem, "broker", "\(server): \(trouble) \(trouble.remedy)")
        }
    }
}
