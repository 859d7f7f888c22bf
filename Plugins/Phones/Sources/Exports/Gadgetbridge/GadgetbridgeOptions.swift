package import GatewayKit

/// Where the exports of a wearable appear.
///
/// - `path`: the exported file, or a folder, of which the newest export counts.
/// - `device`: the address, the alias or the name of the wearable; may be missing where the export has one.
/// - `temperature`: `body` or `skin`: what temperatures are of that have neither a kind nor a place. Without it they are skipped.
package struct GadgetbridgeOptions: ExportFormat, Hashable {
    package static let app = "Gadgetbridge"
    package static let driver = "gadgetbridge"
    package static let section = "gadgetbridge"
    /// The other entries have the pairing keys of wearables.
    package static let entry = "database/Gadgetbridge"

    package var place: ExportPlace
    var device: String?
    var temperature: UnspecifiedTemperature?

    init(path: String, device: String? = nil, temperature: UnspecifiedTemperature? = nil) {
        place = Self.place(path)
        self.device = device
        self.temperature = temperature
    }

    package init(_ options: inout ConfigurationReader) {
        let path = options.path("path", about: "The exported file, or a folder whose newest export counts.")
        let device = options.optionalString(
            "device", about: "Address, alias or name of the wearable; may be missing where the export has one.")
        let hasTemperature = options.has("temperature")
        let temperature = hasTemperature ? options.choice("temperature", default: UnspecifiedTemperature.body) : nil
        options.describe(
            "temperature", "one of \(UnspecifiedTemperature.allCases.map(\.rawValue).joined(separator: ", "))",
            about: "What temperatures are that have neither a kind nor a place; without it they are skipped.")
        self.init(path: path, device: device, temperature: temperature)
    }

    package static func place(_ path: String) -> ExportPlace {
        // The app names its exports `Gadgetbridge`, `Gadgetbridge.db` or ends in `.zip`.
        ExportPlace(path: path, names: ["Gadgetbridge"], extensions: ["db", "sqlite", "zip"])
    }

    package static func devices(in database: ExportDatabase) throws(ExportError) -> [ExportedDevice] {
        var devices: [ExportedDevice] = []
        for wearable in try Wearable.all(in: database) { devices.append(try wearable.device(in: database)) }
        return devices
    }

    package func device(in database: ExportDatabase) throws(ExportError) -> ExportedDevice {
        try Wearable.named(device, in: database).device(in: database, temperature: temperature)
    }
}

/// Reads the exports of the phone app Gadgetbridge.
package typealias GadgetbridgeDriver = ExportDriver<GadgetbridgeOptions>
