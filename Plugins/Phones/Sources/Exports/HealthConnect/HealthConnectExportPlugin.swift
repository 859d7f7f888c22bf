package import GatewayKit

/// Wearables whose records Android's Health Connect collects and exports.
package enum HealthConnectExportPlugin: Plugin {
    package static let name = "HealthConnectExport"
    package static let summary = "Wearables whose apps write to Android's Health Connect, by the files that it exports."
    package static let drivers: [any DeviceDriver.Type] = [HealthConnectExportDriver.self]
    package static let service: (any PluginService.Type)? = ExportFolders<HealthConnectExportOptions>.self
    package static let sources: (any SourceInspector.Type)? = ExportInspector<HealthConnectExportOptions>.self
    package static let limits: [OperatorLimit] = GadgetbridgePlugin.limits
    /// The text of `health-connect.yaml`.
    package static let sample = String(decoding: PackageResources.health_connect_yaml, as: UTF8.self)
}
