import ExportDrivers
package import GatewayKit

/// Wearables whose records Android's Health Connect collects and exports.
package enum HealthConnectExportPlugin: Plugin {
    package static let name = "HealthConnectExport"
    package static let summary = "Wearables whose apps write to Android's Health Connect, by the files that it exports."
    package static let drivers: [any DeviceDriver.Type] = [HealthConnectExportDriver.self]
    package static let service: (any PluginService.Type)? = ExportFolders<HealthConnectExportOptions>.self
    package static let sources: (any SourceInspector.Type)? = ExportInspector<HealthConnectExportOptions>.self
    package static let sample = """
        # A wearable whose app writes to Android's Health Connect, which exports the records. It needs no transport.
        devices:
          - id: anna-watch
            name: Anna's watch
            driver: health-connect-export
            options:
              path: /var/lib/vitals2mqtt/health-connect-export   # the exported file, or the folder in which exports appear
              # app: com.fitbit.FitbitMobile              # the package of the app that wrote the records; only if there are several
              # device: Google Pixel Watch                # a device of this app; only if the app has several that count the same
        """
}
