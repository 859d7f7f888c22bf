import GatewayKit

/// A device that bends a profile of the Bluetooth SIG: by what it is recognised, and how its values are read instead.
///
/// A device without a row is read as the profile says. The README has a line for each row.
struct Quirk: Sendable, Hashable {
    /// How the values of a device are read instead.
    enum Effect: Sendable, Hashable {
        /// The flags are a status, and a weighing sends many values: see `StatusScale`.
        case status(StatusWeight.Form)
    }

    /// The maker's name of the device, for people.
    var device: String
    /// The service that it bends. Only a device with this service is recognised.
    var service: BluetoothUUID
    /// Names that it advertises, each of which is enough.
    var names: Set<String> = []
    /// Characteristics of its maker that it has, each of which is enough: their 128 bits are unique.
    var characteristics: Set<BluetoothUUID> = []
    /// Model numbers of its device information, each of which is enough.
    var models: Set<String> = []
    /// What it does instead of what the profile says, for people.
    var deviation: String
    var effect: Effect
    /// Who says so: addresses, or the names of projects.
    var source: String

    static let all: [Quirk] = [
        Quirk(
            device: "Mi Smart Scale (XMTZC01HM, XMTZC04HM)", service: Assigned.weightService,
            names: ["MI_SCALE", "MI SCALE2", "MI_SCALE2"], characteristics: Assigned.miHistory,
            models: ["XMTZC01HM", "XMTZC04HM"],
            deviation:
                "sends each change of the load; the flags are a status: bit 0 pounds, 4 jin, 5 stable, 7 taken off",
            effect: .status(.weightScale),
            source: "https://github.com/oliexdev/openScale/wiki/Xiaomi-Bluetooth-Mi-Scale"),
        Quirk(
            device: "Mi Body Composition Scale (XMTZC02HM, XMTZC05HM)", service: Assigned.compositionService,
            names: ["MIBCS", "MIBFS"], characteristics: Assigned.miHistory, models: ["XMTZC02HM", "XMTZC05HM"],
            deviation:
                "sends each change of the load in 13 bytes, and no fat; bit 0 pounds, 13 stable, 14 jin, 15 taken off",
            effect: .status(.bodyComposition),
            source: "https://github.com/wiecosystem/Bluetooth/blob/master/doc/devices/huami.health.scale2.md"),
    ]

    /// The row of a device by what is known without asking it; `nil` if it has none.
    static func row(name: String?, services: [GATTService]) -> Quirk? {
        let found = services.flatMap(\.characteristics).map(\.uuid)
        return rows(for: services).first { row in
            name.map(row.names.contains) ?? false || !row.characteristics.isDisjoint(with: found)
        }
    }

    /// The row of a device with this model number; `nil` if it has none.
    static func row(model: String?, services: [GATTService]) -> Quirk? {
        model.flatMap { model in rows(for: services).first { $0.models.contains(model) } }
    }

    /// Whether the model number of a device with these services may name a row, so that it is read before the first value.
    static func dependsOnModel(_ services: [GATTService]) -> Bool {
        rows(for: services).contains { !$0.models.isEmpty }
    }

    private static func rows(for services: [GATTService]) -> [Quirk] {
        all.filter { row in services.contains { $0.uuid == row.service } }
    }
}
