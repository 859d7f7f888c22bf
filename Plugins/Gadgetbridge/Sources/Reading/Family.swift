/// The families of wearables that have tables of their own, by the names and in the order of the README.
enum Family {
    static let all: [(prefix: String, name: String)] = [
        ("MI_BAND_", "Huami, Amazfit with Mi Band protocol"), ("HUAMI_", "Huami, Zepp OS"), ("XIAOMI_", "Xiaomi"),
        ("GARMIN_", "Garmin"), ("HUAWEI_", "Huawei, Honor"), ("COLMI_", "Colmi, Yawell"), ("CMF_", "CMF"),
        ("MOYOUNG_", "Moyoung"), ("WITHINGS_", "Withings"), ("LEFUN_", "Lefun"), ("PEBBLE_", "Pebble"),
    ]

    /// The family of a wearable with rows in these tables; `nil` if they may be any wearable's. Where tables of several families
    /// have its rows, all of them.
    static func name(of tables: Set<String>) -> String? {
        let found = all.filter { family in tables.contains { $0.hasPrefix(family.prefix) } }.map(\.name)
        return found.isEmpty ? nil : found.joined(separator: "; ")
    }
}
