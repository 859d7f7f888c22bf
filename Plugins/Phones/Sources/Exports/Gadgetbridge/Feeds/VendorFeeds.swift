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

/// Measurements that a person started on a Xiaomi wearable, by their code in XIAOMI_MANUAL_SAMPLE.
enum XiaomiManualFeeds {
    static let table = "XIAOMI_MANUAL_SAMPLE"

    private static let kinds: [(code: Int64, metric: Metric, range: ClosedRange<Double>)] = [
        (0x11, .heartRate, ValidRange.heartRate), (0x12, .bloodOxygen, ValidRange.bloodOxygen),
        (0x13, .stress, ValidRange.stress), (0x44, Metric.skinTemperature, ValidRange.skinTemperature),
    ]

    static func feeds(of table: Table) -> [any Feed] {
        guard table.name == Self.table, table.columns.isSuperset(of: ["TYPE", "VALUE"]) else { return [] }
        let known: [any Feed] = kinds.map { code, metric, range in
            ValueFeeds.value(
                metric, "VALUE", range, table, condition: "TYPE = \(code)", isUserInitiated: true
            ) { raw in
                // A temperature in hundredths of a degree, in the lower half of the number.
                guard code == 0x44, let number = Int64(exactly: raw) else { return raw }
                return Double(number & 0xffff) / 100
            }
        }
        return known + [ValueFeeds.unknownCodes(in: "TYPE", of: table, known: kinds.map(\.code), with: .heartRate)]
    }
}
