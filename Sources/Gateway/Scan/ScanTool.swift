import Contract
import GatewayKit
package import Logging
package import Vitals

/// Scans for devices in reach without a running gateway.
package struct ScanTool: Sendable {
    /// How long a scan may take, in seconds.
    package static let seconds = CommandLimits.scanSeconds
    package static let defaultSeconds = CommandLimits.defaultScanSeconds

    private let services: [ServiceConfiguration]
    private let drivers: [any DeviceDriver.Type]
    private let configured: [DeviceConfiguration]
    private let logger: Logger

    /// Takes the plugins' services from a configuration file; without one, with their defaults.
    /// - Throws: `ConfigurationError` if the file has errors.
    package init(
        configuration file: String?, with plugins: PluginCatalogue, logger: Logger
    ) throws(ConfigurationError) {
        self.logger = logger
        drivers = plugins.drivers
        if let file {
            let configuration = try ConfigurationLoader(plugins: plugins).load(file)
            services = configuration.scanners
            configured = configuration.devices
        } else {
            services = [].scanners(of: plugins, ConfigurationPlace())
            configured = []
        }
    }

    /// The ids of the configuration.
    package var devices: [DeviceID] { configured.map(\.info.id) }

    /// The time of the scan.
    package func scan(for duration: Duration) async throws(ToolFailure) -> ScanReport {
        let scanners = Scanners()
        let context = ServiceContext(clock: .system, logger: logger)
        scanners.replace(
            with: services.map { configuration in
                let service = configuration.service
                return ServiceSetup(
                    name: configuration.name, service: service, fingerprint: configuration.fingerprint
                ) { try await service.withService(context: context, $0) }
            }, drivers: drivers)
        let answer = await scanners.scan(for: duration, with: RunningServices()) { _ in false }
        guard case .nearby(var report) = answer.data else {
            throw ToolFailure(answer.message ?? "Nothing could be scanned.")
        }
        for index in report.devices.indices where report.devices[index].device == nil {
            report.devices[index].device = known(report.devices[index])
        }
        return report
    }

    /// The device of the configuration that has the same `address` or `name` under `transport:`.
    private func known(_ device: ScanReport.Device) -> DeviceID? {
        configured.first { entry in
            guard let transport = entry.transportSource, let type = device.transport.first?.value,
                transport["type"] == type
            else { return false }
            if let address = transport["address"] { return address.uppercased() == device.address }
            return transport["name"] != nil && transport["name"] == device.name
        }?.info.id
    }
}

extension DeviceConfiguration {
    /// The texts of `transport:` as written.
    fileprivate var transportSource: [String: String]? {
        guard case .map(let members) = source.content,
            case .map(let keys)? = members.first(where: { $0.0.text == "transport" })?.1.content
        else { return nil }
        return Dictionary(
            keys.compactMap { key, value in
                if case .scalar(let text, _) = value.content { (key.text, text) } else { nil }
            }
        ) { first, _ in first }
    }
}
