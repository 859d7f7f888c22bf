/// The families of wearables that have tables of their own, by the names and in the order of the README.
enum Family {
    static let all: [(prefix: String, name: String)] = [
        ("MI_BAND_", "Huami, Amazfit with Mi Band protocol"), ("HUAMI_", "Huami, Zepp OS"), ("XIAOMI_", "Xiaomi"),
        ("GARMIN_", "Garmin"), ("HUAWEI_", "Huawei, Honor"), ("COLMI_", "Colmi, Yawell"), ("CMF_", "CMF"),
        ("MOYOUNG_", "Moyoung"), ("WITHINGS_", "Withings"), ("LEFUN_", "Lefun"), ("PEBBLE_", "Pebble"),
    ]

    /// The family of a wearable with rows in these tables; `nil` if they may be any wearable's.
    ///
    /// A wearable keeps its minutes in one table, which decides: a Mi Band has the records of its measurements in the tables of Zepp OS.
    /// Where minutes say nothing, or are those of several families, all of the families are named.
    static func name(of tables: Set<String>) -> String? {
        let minutes = names(of: tables.filter { Table.isActivity($0) })
        let found = minutes.isEmpty ? names(of: tables) : minutes
        return found.isEmpty ? nil : found.joined(separator: "; ")
    }

    private static func names(of tables: Set<String>) -> [String] {
        all.filter { family in tables.contains { $0.hasPrefix(family.prefix) } }.map(\.name)
    }
}
