import ExportDrivers
package import GatewayKit

/// Wearables whose records the phone app Gadgetbridge exports.
package enum GadgetbridgePlugin: Plugin {
    package static let name = "Gadgetbridge"
    package static let summary = "Wearables that the phone app Gadgetbridge reads, by the files that it exports."
    package static let drivers: [any DeviceDriver.Type] = [GadgetbridgeDriver.self]
    package static let service: (any PluginService.Type)? = ExportFolders<GadgetbridgeOptions>.self
    package static let sources: (any SourceInspector.Type)? = ExportInspector<GadgetbridgeOptions>.self
    package static let sample = """
        # A wearable whose records come with the exports of the phone app Gadgetbridge. It needs no transport.
        devices:
          - id: anna-band
            name: Anna's band
            driver: gadgetbridge
            options:
              path: /var/lib/vitals2mqtt/phone   # the exported file, or the folder in which exports appear
              # device: "C0:11:22:33:44:55"      # its address, alias or name; only if the export has several
              # temperature: body                # or skin: what temperatures without kind and place are of
        """
}
