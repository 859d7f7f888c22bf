import Vitals

/// Measurements of Lefun wearables, by their code in LEFUN_BIOMETRIC_SAMPLE. The codes are those of the measurements in Gadgetbridge's
/// `LefunConstants`: 0 heart rate, 1 blood pressure, 2 blood oxygen.
///
/// Code 1 is a blood pressure. Which of its two numbers is the systolic one is not documented: it is skipped.
enum LefunFeeds {
    static let table = "LEFUN_BIOMETRIC_SAMPLE"

    static func feeds(of table: Table) -> [any Feed] {
        guard table.name == Self.table, table.columns.isSuperset(of: ["TYPE", "VALUE1"]) else { return [] }
        return [
            ValueFeeds.value(.heartRate, "VALUE1", ValidRange.heartRate, table, condition: "TYPE = 0"),
            ValueFeeds.value(.bloodOxygen, "VALUE1", ValidRange.bloodOxygen, table, condition: "TYPE = 2"),
            ValueFeeds.unknownCodes(in: "TYPE", of: table, known: [0, 2], with: .heartRate),
        ]
    }
}
