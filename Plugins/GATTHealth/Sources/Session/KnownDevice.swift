import GatewayKit
import Vitals

/// What a device said about itself in an earlier session, kept as notes: a link that ends early leaves no time to ask again.
struct KnownDevice: Sendable, Hashable {
    var identity = DeviceIdentity()
    /// Where the thermometer measures, if that is the same for all values.
    var site: TemperatureType?

    private static var texts: [(name: String, path: WritableKeyPath<DeviceIdentity, String?>)] {
        [
            ("manufacturer", \.manufacturer), ("model", \.model), ("serial", \.serial), ("firmware", \.firmware),
            ("hardware", \.hardware),
        ]
    }
    private static let siteName = "site"

    init(identity: DeviceIdentity, site: TemperatureType?) { (self.identity, self.site) = (identity, site) }

    /// Reads the notes. Without them nothing is known.
    init(_ notes: DeviceNotes) async {
        guard let all = try? await notes.all() else { return }
        for (name, path) in Self.texts {
            identity[keyPath: path] = all[name].map { String(decoding: $0, as: UTF8.self) }
        }
        site = all[Self.siteName]?.first.flatMap { TemperatureType(rawValue: $0) }
    }

    /// Keeps it, if it is new.
    func save(in notes: DeviceNotes) async throws(DeviceError) {
        guard await KnownDevice(notes) != self else { return }
        var changes: [String: [UInt8]?] = [Self.siteName: site.map { [$0.rawValue] }]
        for (name, path) in Self.texts { changes[name] = .some(identity[keyPath: path].map { Array($0.utf8) }) }
        try await notes.save(changes)
    }
}
