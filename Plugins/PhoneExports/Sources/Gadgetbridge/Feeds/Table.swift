/// A table of samples of an export, as far as its names say.
struct Table: Sendable {
    let name: String
    let columns: Set<String>
    /// The unit of TIMESTAMP, by most of its rows.
    let unit: TimeUnit

    /// Whether it has one row per minute with steps, heart rate and the kind of activity.
    var isActivity: Bool { Self.isActivity(name) }

    /// The same of a table with this name.
    static func isActivity(_ name: String) -> Bool { name.hasSuffix("ACTIVITY_SAMPLE") || name == "SONY_SWR12_SAMPLE" }

    /// What its rows must fulfil, in SQL: Huawei's table has every interval twice, at its start and at its end.
    var condition: String? { name == Self.huawei ? "OTHER_TIMESTAMP > TIMESTAMP" : nil }

    /// Whether it has the columns without which its rows cannot be distinguished.
    var isComplete: Bool { name != Self.huawei || columns.contains("OTHER_TIMESTAMP") }
    private static let huawei = "HUAWEI_ACTIVITY_SAMPLE"

    /// Whether a table can be read by the rule of names: samples of a device at a time.
    static func isReadable(_ name: String, _ columns: Set<String>) -> Bool {
        name.hasSuffix("_SAMPLE") && columns.isSuperset(of: ["TIMESTAMP", "DEVICE_ID"])
    }

    /// Of several names of a column, the one that the table has.
    func first(_ names: String...) -> String? { names.first { columns.contains($0) } }
}
