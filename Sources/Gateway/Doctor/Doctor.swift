import CTimex
import Contract
import Engines
import Foundation
package import GatewayKit
import Listening
import Logging
import MQTT
import Mosquitto
import Store
package import Vitals
import Web

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

    /// Checks everything, which takes as long as the slowest answer: ten seconds for each broker that is silent, and five for one that
    /// drops what is published.
    package func report() async -> DoctorReport {
        let configuration: GatewayConfiguration
        do throws(ConfigurationError) { configuration = try loader.load(file) } catch {
            return DoctorReport(error.issues.map { Finding(.problem, "configuration", $0.text(file: file)) })
        }
        var findings = self.configuration(configuration)
        findings.append(ClockState.current(clock).finding(in: configuration.calendar))
        findings += store(configuration)
        if let notice = LibraryVersion.loaded.notice(for: configuration.mqtt.version) {
            findings.append(Finding(.warning, "library", notice))
        }
        findings += await brokers(configuration)
        findings += listeners(configuration)
        // Also one with a section that no device uses yet: its author is about to add the device.
        for service in configuration.services {
            let context = ServiceContext(clock: clock, logger: Self.silent)
            findings += await service.service.examine(context: context)
        }
        for device in configuration.devices {
            let context = SessionContext(
                device: device.info.id, gateway: (name: "vitals2mqtt", version: GatewayVersion.current),
                calendar: configuration.calendar, clock: clock, logger: Self.silent)
            let from = device.policy.sync.first.map { clock.now - $0 }
            findings += await device.driver.examine(from: from, context: context)
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
        var replies: [(server: BrokerServer, reply: Result<BrokerCheck.Reply, BrokerError>)] = []
        for server in configuration.mqtt.servers {
            let check = BrokerCheck(configuration, server, at: clock.now)
            replies.append((server, await check.reply(clock)))
        }
        let isReached = replies.contains { (try? $0.reply.get()) != nil }
        return replies.flatMap { server, reply -> [Finding] in
            switch reply {
            case .success(let reply): return self.findings(configuration, of: server, reply)
            case .failure(let trouble):
                // Most errors begin with the server.
                let text = "\(trouble)".contains("\(server)") ? trouble.advice : "\(server): \(trouble.advice)"
                return [Finding(isReached ? .warning : .problem, "broker", text)]
            }
        }
    }

    private func findings(
        _ configuration: GatewayConfiguration, of server: BrokerServer, _ reply: BrokerCheck.Reply
    ) -> [Finding] {
        let user = configuration.mqtt.username.map { "the user \($0)" } ?? "the gateway"
        var findings = reply.refused.map { topic -> Finding in
            let doubt = reply.version == .v311 ? ", or does not let it read that. Allow both" : ". Allow it"
            return Finding(
                .problem, "broker",
                "\(server) does not take what \(user) publishes at \(topic)\(doubt) in the broker's access list.")
        }
        if let store = reply.store, isForeign(store, to: configuration.store.path) {
            findings.append(
                Finding(
                    .problem, "broker",
                    "Another gateway is online at \(configuration.topics.root), with the store \(store). Set gateway.id, and "
                        + "mqtt.client_id if it has one, to another name."))
        }
        guard findings.isEmpty else { return findings }
        let isFree = configuration.mqtt.version == nil && !LibraryVersion.loaded.endsAtUnknownProperties
        if reply.version == .v311, isFree {
            return [
                Finding(
                    .warning, "broker",
                    "\(server) lets the gateway in, but speaks only MQTT 3.1.1. \(MQTTVersion.lossOf311)")
            ]
        }
        return [Finding(.fine, "broker", "\(server) lets the gateway in, and subscribe to its commands.")]
    }

    /// Whether it is not the store of this path. One that cannot be read has its own finding.
    private func isForeign(_ store: String, to path: String) -> Bool {
        guard FileManager.default.fileExists(atPath: path) else { return true }
        guard let inspection = try? StoreInspection(of: path) else { return false }
        return inspection.identity.lowercased() != store.lowercased()
    }

    /// Each address at which the gateway listens. One that it listens at now is taken, and as it should be.
    private func listeners(_ configuration: GatewayConfiguration) -> [Finding] {
        let used = Set(configuration.devices.flatMap(\.serviceNames))
        var listeners = configuration.web.map { [(name: "web", address: $0.listen.address)] } ?? []
        for service in configuration.services where used.contains(service.name) {
            guard let address = service.service.listens.flatMap({ ListenAddress($0) }) else { continue }
            listeners.append((name: service.name, address: address))
        }
        return listeners.map { name, address -> Finding in
            do throws(ListenError) { try address.tryListening() } catch {
                guard error.isTaken, configuration.isStoreInUse else { return Finding(.problem, name, "\(error)") }
                return Finding(.fine, name, "\(address) is in use, and the gateway runs.")
            }
            return Finding(.fine, name, "\(address) is free.")
        }
    }
}

/// The output of `vitals2mqtt doctor`.
package struct DoctorReport: Sendable, Hashable {
    /// What was found, in the order of the checks.
    package let findings: [Finding]

    /// A report of these findings.
    package init(_ findings: [Finding]) { self.findings = findings }

    /// Whether nothing is broken. Warnings are none.
    package var isSound: Bool { !findings.contains { $0.severity == .problem } }

    /// A line for each finding, and one that counts them.
    package var text: String {
        let width = findings.map(\.subject.count).max() ?? 0
        let lines = findings.map { finding in
            let severity = Self.padded(finding.severity.rawValue, to: 4)
            return "\(severity)  \(Self.padded(finding.subject, to: width))  \(finding.text)\n"
        }
        return lines.joined() + summary
    }

    private var summary: String {
        let problems = findings.count { $0.severity == .problem }
        let warnings = findings.count { $0.severity == .warning }
        guard problems > 0 else { return warnings > 0 ? "The gateway can run. See the warnings.\n" : "All is well.\n" }
        return "\(problems) \(problems == 1 ? "problem" : "problems"). The gateway does not work as it should.\n"
    }

    private static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}

/// The machine's clock, which dates every sample that a device does not date.
struct ClockState: Sendable, Hashable {
    /// Before it a date is certainly wrong: this program did not exist.
    static let earliest = Timestamp(seconds: 1_735_689_600)

    /// The date.
    var now: Timestamp
    /// Whether a time service keeps it right; `nil` if the system does not say it.
    var isSynchronised: Bool?

    /// The date and what the kernel knows of it (adjtimex(2)).
    static func current(_ clock: GatewayClock) -> ClockState {
        var state = timex()
        let answer = adjtimex(&state)
        return ClockState(now: clock.now, isSynchronised: answer < 0 ? nil : answer != TIME_ERROR)
    }

    /// What it means, in the zone of the configuration.
    func finding(in calendar: LocalCalendar) -> Finding {
        let text = "\(now), and days are those of \(calendar.identifier)"
        if now < Self.earliest {
            return Finding(
                .problem, "clock", "It is \(now) here, which cannot be. Set the clock: timedatectl set-ntp true.")
        }
        switch isSynchronised {
        case true?: return Finding(.fine, "clock", "It is \(text). A time service keeps it right.")
        case false?:
            return Finding(
                .warning, "clock",
                "It is \(text). No time service keeps it right, so samples may get wrong times: timedatectl set-ntp true."
            )
        case nil: return Finding(.fine, "clock", "It is \(text).")
        }
    }
}
