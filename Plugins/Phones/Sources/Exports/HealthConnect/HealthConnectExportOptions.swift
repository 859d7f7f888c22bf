package import GatewayKit
import Vitals

/// Where the exports of Health Connect appear, and whose records count.
///
/// - `path`: the exported file, or a folder, of which the newest export counts.
/// - `app`: the package of the app that wrote the records, or its name; may be missing where the export has one.
/// - `device`: the model of a device of this app, or its manufacturer and model; all of them if it is missing.
/// - `sources`: of several devices, which counts an interval.
package struct HealthConnectExportOptions: ExportFormat, Hashable {
    package static let app = "Health Connect"
    package static let driver = "health-connect-export"
    package static let section = "healthconnectexport"
    package static let entry = "health_connect_export.db"

    package var place: ExportPlace
    var app: String?
    var device: String?
    var order: SourceOrder

    init(path: String, app: String? = nil, device: String? = nil, order: SourceOrder = SourceOrder()) {
        place = Self.place(path)
        self.app = app
        self.device = device
        self.order = order
    }

    package init(_ options: inout ConfigurationReader) {
        let path = options.path("path", about: "The exported file, or a folder whose newest export counts.")
        let app = options.optionalString(
            "app", about: "Package or name of the app that wrote the records; may be missing where there is one.")
        let device = options.optionalString(
            "device", about: "The only device that is read: its model, or its manufacturer and model.")
        self.init(path: path, app: app, device: device, order: SourceOrder(&options))
    }

    package static func place(_ path: String) -> ExportPlace {
        // Android names its export `Health Connect.zip`, and a person may have unpacked it.
        ExportPlace(path: path, names: [], extensions: ["zip", "db"])
    }

    package static func devices(in database: ExportDatabase) throws(ExportError) -> [ExportedDevice] {
        var devices: [ExportedDevice] = []
        let apps = try App.all(in: database)
        for app in apps {
            let device = try app.device(in: database, named: nil, order: SourceOrder())
            // An export also names apps that only read.
            if !device.feeds.isEmpty || !device.unknownTables.isEmpty { devices.append(device) }
        }
        // Without a metric it gets no entry.
        let rest = try UnattributedRecords.withoutApp(apps, in: database)
        if !rest.isEmpty {
            var nobody = ExportedDevice(
                number: -1, name: "Records without an app", identity: DeviceIdentity(), feeds: [:])
            nobody.skippedRows = rest.mapValues { [.withoutApp: $0] }
            devices.append(nobody)
        }
        return devices
    }

    package func device(in database: ExportDatabase) throws(ExportError) -> ExportedDevice {
        try App.named(app, in: database).device(in: database, named: device, order: order)
    }
}

/// Reads the exports of Android's Health Connect.
package typealias HealthConnectExportDriver = ExportDriver<HealthConnectExportOptions>
