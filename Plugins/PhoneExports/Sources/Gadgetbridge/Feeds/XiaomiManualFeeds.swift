import Vitals

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
