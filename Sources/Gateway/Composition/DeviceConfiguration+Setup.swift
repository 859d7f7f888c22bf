import Engines
import GatewayKit
import Logging
import Vitals

extension GatewayConfiguration {
    /// The names of the plugins' drivers and transports that are in use.
    var plugins: [String] {
        Set(devices.flatMap { [$0.info.driver] + ($0.info.transport.map { [$0] } ?? []) }).sorted()
    }

    /// The devices of a configuration that is read later.
    /// - Throws: where it changes what only a restart can change.
    func setups(after other: GatewayConfiguration, settings: CoreSettings) throws -> [DeviceSetup] {
        let parts = sectionsThatNeedRestart(comparedWith: other)
        guard parts.isEmpty else { throw RestartNeeded(parts: parts) }
        return other.devices.map { $0.setup(settings) }
    }
}

/// A changed file touches what only a restart can change; the devices are not touched either.
struct RestartNeeded: Error, CustomStringConvertible {
    let parts: [String]

    var description: String { "A change of \(parts.joined(separator: ", ")) needs a restart of the gateway." }
}

extension DeviceConfiguration {
    /// The device as the core runs it: its driver over its transport. Both outlive the sessions, so that a driver can keep
    /// what its device keeps.
    func setup(_ settings: CoreSettings) -> DeviceSetup {
        var logger = settings.logger
        logger[metadataKey: "device.id"] = "\(info.id)"
        let session = SessionContext(
            device: info.id, gateway: (name: "vitals2mqtt", version: settings.version), calendar: settings.calendar,
            clock: settings.clock, logger: logger)
        let link = LinkContext(device: info.id, logger: logger)
        let (driver, transport) = (driver, transport)
        return DeviceSetup(info: info, policy: policy, fingerprint: fingerprint) { body in
            guard let transport else { return try await driver.withSession(over: .none, context: session, body) }
            try await transport.withLink(context: link) { link in
                try await driver.withSession(over: link, context: session, body)
            }
        }
    }
}
