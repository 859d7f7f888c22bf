import Testing
import Vitals

@testable import Phones

/// Tables that no other test has, with their documented columns: what the rule of names reads of a row.
@Suite struct RareTableTests {
    /// A table, its columns and what its row gives. `milliseconds` is the unit of its times; others have seconds.
    struct Case: Sendable, CustomTestStringConvertible {
        let table: String
        let columns: String
        let milliseconds: Bool
        let expected: [String]
        var testDescription: String { table }

        init(_ table: String, _ columns: String, milliseconds: Bool = false, _ expected: [String]) {
            (self.table, self.columns, self.milliseconds, self.expected) = (table, columns, milliseconds, expected)
        }
    }

    /// The documented columns of two apps for one maker's bands.
    private static let fitPro = """
        STEPS I!, RAW_KIND I!, HEART_RATE I!, CALORIES_BURNT I, DISTANCE_METERS I, SPO2_PERCENT I, PRESSURE_LOW_MM_HG I,
        PRESSURE_HIGH_MM_HG I, ACTIVE_TIME_MINUTES I
        """
    private static let withMetres = "STEPS I!, RAW_KIND I!, CALORIES_BURNT I, DISTANCE_METERS I, ACTIVE_TIME_MINUTES I"
    private static let rate = "heart_rate 0…0 71"
    private static let minute = [rate, "steps -60…0 12"]
    private static let way = "distance -60…0 9"
    private static let all = ["blood_oxygen 0…0 97", "blood_pressure 0…0 121/79", way, rate, "steps -60…0 12, 9 m"]

    static let cases: [Case] = [
        Case("FIT_PRO_ACTIVITY_SAMPLE", fitPro, all),
        Case("LAXAS_FIT_ACTIVITY_SAMPLE", fitPro, all),
        Case(
            "OVTOUCH26_ACTIVITY_SAMPLE",
            "STEPS I!, BP_SYSTOLIC I!, BP_DIASTOLIC I!, SLEEP I, RAW_KIND I!, HEART_RATE I!",
            ["blood_pressure 0…0 121/79", rate, "steps -60…0 12"]),
        Case(
            "AK102_ACTIVITY_SAMPLE", "STEPS I!, DISTANCE_CM I!, ACTIVE_CALORIES I!, RAW_KIND I!, HEART_RATE I!",
            ["active_energy -60…0 0.1", way, rate, "steps -60…0 12, 9 m"]),
        Case(
            "KEEPHEALTH_ACTIVITY_SAMPLE", "STEPS I!, RAW_KIND I!, DISTANCE_CM I!, ACTIVE_CALORIES I!, HEART_RATE I!",
            ["active_energy -60…0 0.1", way, rate, "steps -60…0 12, 9 m"]),
        Case(
            "KEEPHEALTH_BLOOD_PRESSURE_SAMPLE", "BP_SYSTOLIC I!, BP_DIASTOLIC I!", milliseconds: true,
            ["blood_pressure 0…0 121/79"]),
        Case(
            "MOYOUNG_BLOOD_PRESSURE_SAMPLE", "BP_SYSTOLIC I!, BP_DIASTOLIC I!", milliseconds: true,
            ["blood_pressure 0…0 121/79"]),
        Case("JYOU_ACTIVITY_SAMPLE", withMetres + ", HEART_RATE I!", [way, rate, "steps -60…0 12, 9 m"]),
        Case("ID115_ACTIVITY_SAMPLE", withMetres, [way, "steps -60…0 12, 9 m"]),
        Case(
            "ZE_TIME_ACTIVITY_SAMPLE", withMetres + ", HEART_RATE I!, RAW_INTENSITY I!",
            [way, rate, "steps -60…0 12, 9 m"]),
        Case(
            "HYBRID_HRACTIVITY_SAMPLE",
            """
            STEPS I!, CALORIES I!, VARIABILITY I!, MAX_VARIABILITY I!, HEARTRATE_QUALITY I!, ACTIVE I!, WEAR_TYPE I!,
            HEART_RATE I!
            """, minute),
        Case("HYBRID_HRSPO2_SAMPLE", "SPO2 I!", milliseconds: true, ["blood_oxygen 0…0 97"]),
        Case(
            "VIVOMOVE_HR_ACTIVITY_SAMPLE",
            "STEPS I!, RAW_KIND I!, RAW_INTENSITY I!, HEART_RATE I!, CALORIES_BURNT I, FLOORS_CLIMBED I", minute),
        Case(
            "WATCH_XPLUS_ACTIVITY_SAMPLE",
            """
            RAW_WATCH_XPLUS_HEALTH_DATA B, RAW_KIND I!, RAW_INTENSITY I!, STEPS I!, HEART_RATE I!, DISTANCE I, CALORIES I
            """, minute),
        Case("CASIO_GBX100_ACTIVITY_SAMPLE", "RAW_KIND I!, STEPS I!, CALORIES I!", ["steps -60…0 12"]),
        Case("SONY_SWR12_SAMPLE", "HEART_RATE I!, STEPS I!, RAW_KIND I!, RAW_INTENSITY I!", minute),
        Case("POLAR_H10_ACTIVITY_SAMPLE", "HEART_RATE I!", [rate]),
        Case("ULTRAHUMAN_ACTIVITY_SAMPLE", "RAW_KIND I!, HEART_RATE I!, RAW_INTENSITY I!, STEPS I!", minute),
        Case("WENA3_ACTIVITY_SAMPLE", "STEPS I!, RAW_KIND I!, HEART_RATE I!", minute),
        Case("WENA3_STRESS_SAMPLE", "TYPE_NUM I!, STRESS I!", milliseconds: true, ["stress 0…0 35"]),
        Case(
            "UNA_DAILY_SAMPLE", "RAW_KIND I!, STEPS I!, FLOORS_CLIMBED I!, RESTING_HEART_RATE I!, HEART_RATE I!",
            [rate, "resting_heart_rate 0…0 52"]),
        Case("WENA3_VO2_SAMPLE", "VO2 I!, DATAPOINT I!", milliseconds: true, ["vo2_max 0…0 44"]),
        Case("CMF_STRESS_SAMPLE", "STRESS I!", milliseconds: true, ["stress 0…0 35"]),
        Case("CMF_SPO2_SAMPLE", "SPO2 I!", milliseconds: true, ["blood_oxygen 0…0 97"]),
        Case("COLMI_STRESS_SAMPLE", "STRESS I!", milliseconds: true, ["stress 0…0 35"]),
        Case("COLMI_SPO2_SAMPLE", "SPO2 I!", milliseconds: true, ["blood_oxygen 0…0 97"]),
        Case("GARMIN_STRESS_SAMPLE", "STRESS I!", milliseconds: true, ["stress 0…0 35"]),
        Case("GARMIN_SPO2_SAMPLE", "SPO2 I!, TYPE_NUM I!", milliseconds: true, ["blood_oxygen 0…0 97"]),
        Case("MOYOUNG_STRESS_SAMPLE", "STRESS I!", milliseconds: true, ["stress 0…0 35"]),
        Case("MOYOUNG_SPO2_SAMPLE", "SPO2 I!", milliseconds: true, ["blood_oxygen 0…0 97"]),
        Case("HUAWEI_STRESS_SAMPLE", "STRESS I!, LEVEL I!, START_TIME I!", milliseconds: true, ["stress 0…0 35"]),
        Case(
            "HUAWEI_TEMPERATURE_SAMPLE",
            "LAST_TIMESTAMP I!, TEMPERATURE R!, TEMPERATURE_TYPE I!, TEMPERATURE_LOCATION I!", milliseconds: true,
            ["temperature 0…0 36"]),
        Case(
            "FEMOMETER_VINCA2_TEMPERATURE_SAMPLE", "TEMPERATURE R!, TEMPERATURE_TYPE I!, TEMPERATURE_LOCATION I!",
            milliseconds: true, ["temperature 0…0 36"]),
        Case(
            "HUAWEI_HRV_VALUE_SAMPLE", "LAST_TIMESTAMP I!, VALUE I!", milliseconds: true,
            ["heart_rate_variability 0…0 48"]),
        Case("COLMI_HRV_VALUE_SAMPLE", "VALUE I!", milliseconds: true, ["heart_rate_variability 0…0 48"]),
        Case("GENERIC_HRV_VALUE_SAMPLE", "VALUE I!", milliseconds: true, ["heart_rate_variability 0…0 48"]),
        Case("GARMIN_RESPIRATORY_RATE_SAMPLE", "RESPIRATORY_RATE R!", milliseconds: true, ["respiratory_rate 0…0 15"]),
        Case("GENERIC_RESPIRATORY_RATE_SAMPLE", "RESPIRATORY_RATE R!", milliseconds: true, ["respiratory_rate 0…0 15"]),
        Case("CMF_HEART_RATE_SAMPLE", "HEART_RATE I!", milliseconds: true, ["heart_rate 0…0 71"]),
        Case(
            "XIAOMI_DAILY_SUMMARY_SAMPLE",
            "TIMEZONE I, STEPS I, HR_RESTING I, HR_MAX I, HR_MAX_TS I, HR_MIN I, HR_AVG I", milliseconds: true,
            ["resting_heart_rate 0…0 52"]),
        Case(
            "XIAOMI_ACTIVITY_SAMPLE",
            """
            RAW_INTENSITY I!, STEPS I!, RAW_KIND I!, HEART_RATE I!, STRESS I, SPO2 I, DISTANCE_CM I!, ACTIVE_CALORIES I!,
            ENERGY I!
            """,
            [
                "active_energy -60…0 100", "blood_oxygen 0…0 97", way, rate, "steps -60…0 12, 9 m", "stress 0…0 35",
            ]),
        Case(
            "HUAMI_EXTENDED_ACTIVITY_SAMPLE",
            """
            RAW_INTENSITY I!, STEPS I!, RAW_KIND I!, HEART_RATE I!, UNKNOWN1 I, SLEEP I, DEEP_SLEEP I, REM_SLEEP I
            """, minute),
        Case(
            "HUAMI_HEART_RATE_RESTING_SAMPLE", "UTC_OFFSET I!, HEART_RATE I!", milliseconds: true,
            ["resting_heart_rate 0…0 71"]),
        Case("WENA3_HEART_RATE_SAMPLE", "HEART_RATE I!", milliseconds: true, [rate]),
        Case("BANGLE_JSACTIVITY_SAMPLE", "RAW_INTENSITY I!, STEPS I!, RAW_KIND I!, HEART_RATE I!", minute),
        Case(
            "HPLUS_HEALTH_ACTIVITY_SAMPLE",
            """
            RAW_HPLUS_HEALTH_DATA B, RAW_KIND I!, RAW_INTENSITY I!, STEPS I!, HEART_RATE I!, DISTANCE I, CALORIES I
            """, minute),
        Case("NO1_F1_ACTIVITY_SAMPLE", "STEPS I!, RAW_KIND I!, RAW_INTENSITY I!, HEART_RATE I!", minute),
        Case("XWATCH_ACTIVITY_SAMPLE", "STEPS I!, RAW_KIND I!, RAW_INTENSITY I!, HEART_RATE I!", minute),
        Case("TLW64_ACTIVITY_SAMPLE", "STEPS I!, RAW_KIND I!, RAW_INTENSITY I!", ["steps -60…0 12"]),
        Case("MAKIBES_HR3_ACTIVITY_SAMPLE", "STEPS I!, RAW_KIND I!, HEART_RATE I!", minute),
    ]

    /// The value of a column with this name; other columns have a 1.
    private static let values = [
        "STEPS": 12, "HEART_RATE": 71, "RESTING_HEART_RATE": 52, "SPO2": 97, "SPO2_PERCENT": 97, "STRESS": 35,
        "DISTANCE_METERS": 9, "DISTANCE_CM": 900, "BP_SYSTOLIC": 121, "BP_DIASTOLIC": 79, "PRESSURE_HIGH_MM_HG": 121,
        "PRESSURE_LOW_MM_HG": 79, "ACTIVE_CALORIES": 100, "VO2": 44, "VALUE": 48, "RESPIRATORY_RATE": 15,
        "TEMPERATURE": 36, "HR_RESTING": 52,
    ]

    @Test(arguments: cases) func `reads a row by the names of its columns, and skips what is not measured`(
        _ family: Case
    ) throws {
        let phone = try GadgetbridgePhone()
        try phone.table(family.table, family.columns)
        let names = family.columns.split(separator: ",").compactMap { $0.split(whereSeparator: \.isWhitespace).first }
        let unit: Int64 = family.milliseconds ? 1000 : 1
        try phone.insert(
            family.table,
            [
                [GadgetbridgePhone.midnight * unit] + names.map { Self.values[String($0)] ?? 1 },
                // A minute without any measurement.
                [(GadgetbridgePhone.midnight + 60) * unit] + names.map { Self.values[String($0)] == nil ? 1 : 0 },
            ])
        var found: [String] = []
        for metric in try phone.open().device.feeds.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
            found += try phone.samples(metric).map(Self.text)
        }
        #expect(found == family.expected)
    }

    /// A sample in short: its metric, times in seconds, and value.
    private static func text(_ sample: Sample) -> String {
        let value =
            switch sample.reading {
            case .value(let number): "\(Int(number))"
            case .bloodPressure(let pressure): "\(Int(pressure.systolic))/\(Int(pressure.diastolic))"
            case .count(let count):
                (Int(exactly: count.amount).map { "\($0)" } ?? "\(count.amount)")
                    + (count.distance.map { ", \(Int($0)) m" } ?? "")
            default: "\(sample.reading)"
            }
        let times = Value(sample)
        return "\(sample.metric.rawValue) \(times.start)…\(times.end) \(value)"
    }
}
