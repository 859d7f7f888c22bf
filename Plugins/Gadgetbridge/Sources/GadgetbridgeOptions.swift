import Exports
import GatewayKit

/// Where the exports of a wearable appear.
///
/// - `path`: the exported file, or a folder, of which the newest export counts.
/// - `device`: the address, the alias or the name of the wearable; may be missing where the export has one.
struct GadgetbridgeOptions: Sendable, Hashable {
    var place: ExportPlace
    var device: String?

    /// The entry of a zip with the database. The others have the pairing keys of wearables, and are never read.
    static let entry = "database/Gadgetbridge"

    init(path: String, device: String? = nil) {
        // The app names its exports `Gadgetbridge`, `Gadgetbridge.db` or ends in `.zip`.
        place = ExportPlace(path: path, names: ["Gadgetbridge"], extensions: ["db", "sqlite", "zip"])
        self.device = device
    }

    init(_ options: inout ConfigurationReader) {
        let path = options.path("path")
        self.init(path: path, device: options.optionalString("device"))
    }
}
