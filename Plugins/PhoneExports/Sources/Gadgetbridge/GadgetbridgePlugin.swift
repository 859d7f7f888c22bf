package import GatewayKit

/// Wearables whose records the phone app Gadgetbridge exports.
package enum GadgetbridgePlugin: Plugin {
    package static let name = "Gadgetbridge"
    package static let summary = "Wearables that the phone app Gadgetbridge reads, by the files that it exports."
    package static let drivers: [any DeviceDriver.Type] = [GadgetbridgeDriver.self]
    package static let service: (any PluginService.Type)? = ExportFolders<GadgetbridgeOptions>.self
    package static let sources: (any SourceInspector.Type)? = ExportInspector<GadgetbridgeOptions>.self
    /// The text of `gadgetbridge.yaml`.
    package static let sample = String(decoding: PackageResources.gadgetbridge_yaml, as: UTF8.self)
}
