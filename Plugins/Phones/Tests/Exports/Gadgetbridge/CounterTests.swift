import Testing
import Vitals

@testable import Phones

/// Counters and values beside steps and heart rates: one export with each kind that is known, in different hours.
@Suite struct CounterTests {
    private let phone: GadgetbridgePhone
    private static let midnight = GadgetbridgePhone.midnight

    init() throws {
        phone = try GadgetbridgePhone()
        let midnight = Self.midnight
        try phone.table(
            "GARMIN_ACTIVITY_SAMPLE",
            "RAW_INTENSITY I!, STEPS I!, RAW_KIND I!, HEART_RATE I!, DISTANCE_CM I!, ACTIVE_CALORIES I!",
            [
                // Centimetres and kilocalories of the day so far. None, or -1, was not measured.
                [midnight + 600, 0, 100, 0, 0, 7000, 5], [midnight + 660, 0, 160, 0, 0, 11_500, 9],
                [midnight + 720, 0, 160, 0, 0, -1, 0], [midnight + 86_460, 0, 20, 0, 0, 1400, 1],
            ])
        // Centimetres and kilocalories of the minute.
        try phone.table(
            "XIAOMI_ACTIVITY_SAMPLE", "STEPS I!, RAW_KIND I!, HEART_RATE I!, DISTANCE_CM I!, ACTIVE_CALORIES I!",
            [[midnight + 3600, 30, 0, 0, 2500, 2], [midnight + 3660, 0, 0, 0, -1, -1]])
        // Metres and calories, each interval twice.
        try phone.table(
            "HUAWEI_ACTIVITY_SAMPLE",
            "OTHER_TIMESTAMP I!, SOURCE I!, RAW_KIND I!, STEPS I!, CALORIES I!, DISTANCE I!",
            key: ["TIMESTAMP", "DEVICE_ID", "OTHER_TIMESTAMP", "SOURCE"],
            [
                [midnight + 7200, midnight + 7260, 11, -1, 40, 2500, 30],
                [midnight + 7260, midnight + 7200, 11, -1, 40, 2500, 30],
            ])
        // Metres; nothing says in which unit the calories are.
        try phone.table(
            "COLMI_ACTIVITY_SAMPLE", "RAW_KIND I!, STEPS I!, HEART_RATE I!, DISTANCE I!, CALORIES I!",
            [[midnight + 10_800, 1, 300, 0, 210, 99]])
        // Centimetres and calories.
        try phone.table(
            "KEEPHEALTH_ACTIVITY_SAMPLE", "STEPS I!, RAW_KIND I!, DISTANCE_CM I!, ACTIVE_CALORIES I!, HEART_RATE I!",
            [[midnight + 14_400, 60, 0, 4000, 2400, 0]])
        // Metres.
        try phone.table(
            "LEFUN_ACTIVITY_SAMPLE", "RAW_KIND I!, STEPS I!, DISTANCE I!, CALORIES I!, HEART_RATE I!",
            [[midnight + 18_000, 1, 25, 18, 1, 0]])
        // Running counts of unknown units.
        try phone.table(
            "CMF_ACTIVITY_SAMPLE", "STEPS I!, RAW_KIND I!, HEART_RATE I!, DISTANCE I, CALORIES I",
            [[midnight + 21_600, 100, 0, 0, 70, 4]])
    }

    @Test func `a distance is in metres, from columns whose unit is known`() throws {
        let wanted = [
            Value(540, 600, 70), Value(600, 660, 45), Value(3540, 3600, 25), Value(7200, 7260, 30),
            Value(10_800, 11_700, 210), Value(14_340, 14_400, 40), Value(17_940, 18_000, 18),
            Value(86_400, 86_460, 14),
        ]
        for limit in [1, 3, 50] {
            #expect(try phone.samples(.distance, limit: limit).map { Value($0) } == wanted)
        }
        #expect(try phone.samples(.distance).allSatisfy { $0.violations.isEmpty && $0.qualifiers.isEmpty })
    }

    @Test func `active energy is in kilocalories, of the row or by a running count`() throws {
        #expect(
            try phone.values(.activeEnergy) == [
                Value(540, 600, 5), Value(600, 660, 4), Value(3540, 3600, 2), Value(7200, 7260, 2.5),
                Value(14_340, 14_400, 2.4), Value(86_400, 86_460, 1),
            ])
        #expect(try phone.samples(.totalEnergy).isEmpty)
    }

    @Test func `a distance or an energy that nobody makes in its time is implausible`() throws {
        let other = try GadgetbridgePhone()
        try other.table(
            "XIAOMI_ACTIVITY_SAMPLE", "STEPS I!, DISTANCE_CM I!, ACTIVE_CALORIES I!",
            [
                // 85 m and 3 kcal in a second.
                [Self.midnight, 1, 510_000, 180], [Self.midnight + 60, 1, 510_001, 181],
            ])
        #expect(try other.values(.distance) == [Value(-60, 0, 5100)])
        #expect(try other.values(.activeEnergy) == [Value(-60, 0, 180)])
        #expect(try other.open().skippedRows == ["XIAOMI_ACTIVITY_SAMPLE": [.implausible: 2]])
    }

    @Test func `a running distance that nobody walks in a minute has gathered since the row before`() throws {
        let other = try GadgetbridgePhone()
        try other.table(
            "GARMIN_ACTIVITY_SAMPLE", "STEPS I!, DISTANCE_CM I!",
            [
                // 3 km by nine o'clock, and 2 km in the quarter of an hour after it.
                [Self.midnight + 32_400, 4000, 300_000], [Self.midnight + 33_300, 6000, 500_000],
                // 1.2 km in a minute, on wheels.
                [Self.midnight + 33_360, 6000, 620_000],
            ])
        #expect(
            try other.values(.distance) == [
                Value(0, 32_400, 3000), Value(32_400, 33_300, 2000), Value(33_300, 33_360, 1200),
            ])
    }

    @Test func `a row of 0 within a day counts nothing, and steps, distance and energy go on behind it`() throws {
        let other = try GadgetbridgePhone()
        try other.table(
            "GARMIN_ACTIVITY_SAMPLE",
            "RAW_INTENSITY I!, STEPS I!, RAW_KIND I!, HEART_RATE I!, DISTANCE_CM I!, ACTIVE_CALORIES I!",
            [
                [Self.midnight + 60, 0, 60, 1, 70, 4000, 5], [Self.midnight + 120, 0, 0, 1, 70, 0, 0],
                [Self.midnight + 180, 0, 90, 1, 70, 6000, 7], [Self.midnight + 240, 0, 100, 1, 70, 7000, 9],
            ])
        for limit in [1, 2, 50] {
            let steps = try other.samples(.steps, limit: limit)
            #expect(steps.map(\.value) == [60, 30, 10])
            let beside = steps.map { sample -> Double? in
                if case .count(let count) = sample.reading { count.distance } else { nil }
            }
            #expect(beside == [40, 20, 10])
            #expect(try other.samples(.distance, limit: limit).map(\.value) == [40, 20, 10])
            #expect(try other.samples(.activeEnergy, limit: limit).map(\.value) == [5, 2, 2])
        }
    }

    @Test func `hydration is the sum of a day's entries, of which one may take back another`() throws {
        let day = Self.midnight + 86_400
        try phone.table("GENERIC_HYDRATION_SAMPLE", "DAY I!, VOLUME_ML R!")
        func ms(_ hour: Int64) -> Int64 { (Self.midnight + hour * 3600) * 1000 }
        try phone.insert(
            "GENERIC_HYDRATION_SAMPLE",
            [
                [ms(8), 20_231_115, 250.0], [ms(12), 20_231_115, 500.5], [ms(13), 20_231_115, -250.0],
                [(day + 32_400) * 1000, 20_231_116, 330.0], [(day + 86_400) * 1000, 20_231_117, -5.0],
            ])
        for limit in [1, 50] {
            #expect(
                try phone.samples(.hydration, limit: limit).map { Value($0) } == [
                    Value(28_800, 46_800, 500.5), Value(118_800, 330),
                ])
        }
    }

    @Test func `the hours in which somebody stood are bits of a day's summary`() throws {
        try phone.table("XIAOMI_DAILY_SUMMARY_SAMPLE", "TIMEZONE I, STANDING I")
        func ms(_ day: Int64) -> Int64 { (Self.midnight + day * 86_400) * 1000 }
        try phone.insert(
            "XIAOMI_DAILY_SUMMARY_SAMPLE",
            [
                // The hours from 7, 8 and 10 o'clock on; all; none; and the mixed-up bits of an older app.
                [ms(0), 0, 0b101_1000_0000], [ms(1), 0, 0xff_ffff], [ms(2), 0, 0], [ms(3), 0, "NULL"],
                [ms(4), 0, -128], [ms(5), 0, 0x100_0000],
            ])
        #expect(
            try phone.values(.standHours) == [Value(0, 36_060, 3), Value(86_400, 86_400 + 23 * 3600 + 60, 24)])
        #expect(try phone.open().skippedRows["XIAOMI_DAILY_SUMMARY_SAMPLE"]?[.unreadable] == 2)
    }

    @Test func `a day of Una has its steps and floors, and its means are no measurements`() throws {
        let other = try GadgetbridgePhone()
        try other.table(
            "UNA_DAILY_SAMPLE", "RAW_KIND I!, STEPS I!, FLOORS_CLIMBED I!, RESTING_HEART_RATE I!, HEART_RATE I!",
            [
                [Self.midnight + 30, 1, 8000, 12, 52, 70], [Self.midnight + 36_000, 1, 0, 0, -1, 66],
                [Self.midnight + 36_060, 1, 0, 0, -1, 67], [Self.midnight + 86_430, 1, 0, 0, 53, 71],
            ])
        #expect(try other.values(.steps) == [Value(0, 36_060, 8000)])
        #expect(try other.values(.floors) == [Value(0, 36_060, 12)])
        #expect(try other.values(.heartRate) == [Value(36_000, 66), Value(36_060, 67)])
        #expect(try other.values(.restingHeartRate) == [Value(30, 52), Value(86_430, 53)])
    }

    @Test func `a metabolic rate at rest is the energy of the time until the next one`() throws {
        try phone.table("GARMIN_RESTING_METABOLIC_RATE_SAMPLE", "RESTING_METABOLIC_RATE I!")
        func ms(_ hour: Int64) -> Int64 { (Self.midnight + hour * 3600) * 1000 }
        try phone.insert(
            "GARMIN_RESTING_METABOLIC_RATE_SAMPLE",
            [
                [ms(0), 1680], [ms(12), 1700], [ms(24), 0],
                // A day of 25 hours, and then a watch in a drawer.
                [ms(48), 1680], [ms(73), 1720], [ms(200), 1720],
            ])
        #expect(
            try phone.values(.basalEnergy) == [
                Value(0, 43_200, 840), Value(43_200, 86_400, 850), Value(172_800, 262_800, 1750),
            ])
    }

    @Test func `minutes of exercise are Garmin's, moderate and vigorous`() throws {
        try phone.table("GARMIN_INTENSITY_MINUTES_SAMPLE", "MODERATE I, VIGOROUS I")
        func ms(_ minute: Int64) -> Int64 { (Self.midnight + minute * 60) * 1000 }
        try phone.insert(
            "GARMIN_INTENSITY_MINUTES_SAMPLE",
            [[ms(10), 1, 0], [ms(11), 2, 1], [ms(12), 0, 0], [ms(13), "NULL", 1]])
        #expect(
            try phone.values(.exerciseMinutes) == [Value(540, 600, 1), Value(600, 780, 3), Value(720, 780, 1)])
    }

    @Test func `an uptake of oxygen is one of Gadgetbridge's metrics, or of a workout`() throws {
        try phone.table(
            "GENERIC_METRIC_SAMPLE", "METRIC_TYPE I!, METRIC_SCORE R!, METRIC_EXTRA I",
            key: ["TIMESTAMP", "DEVICE_ID", "METRIC_TYPE"])
        let start = Self.midnight * 1000
        try phone.insert(
            "GENERIC_METRIC_SAMPLE",
            [
                [start, 12, 51.45, "NULL"], [start + 60_000, 6, 49.0, 3],
                // A load of training, and nothing.
                [start + 120_000, 9, 44.0, "NULL"], [start + 180_000, 12, 0.0, "NULL"],
            ])
        // Of the same minute as a metric, later, and without one.
        for (begin, text) in [
            (-1_770_000, #"{"maximumOxygenUptake":{"value":51.45}}"#), (25_200_000, #"{"steps":{"value":9}}"#),
            (28_800_000, #"{"maximumOxygenUptake":{"value":"47.5","unit":"ml_kg_min"}}"#),
        ] as [(Int64, String)] {
            try phone.run(
                """
                INSERT INTO BASE_ACTIVITY_SUMMARY (START_TIME, END_TIME, ACTIVITY_KIND, DEVICE_ID, USER_ID, SUMMARY_DATA)
                VALUES (\(start + begin), \(start + begin + 1_800_000), 16, 1, 1, '\(text)')
                """)
        }
        #expect(try phone.values(.vo2Max) == [Value(0, 51.45), Value(60, 49), Value(30_600, 47.5)])
        #expect(try phone.values(.sport).map(\.number) == [30, 30, 30])
    }

    @Test func `workouts without an uptake of oxygen give no such metric`() throws {
        try phone.run(
            """
            INSERT INTO BASE_ACTIVITY_SUMMARY (START_TIME, END_TIME, ACTIVITY_KIND, DEVICE_ID, USER_ID)
            VALUES (\(Self.midnight * 1000), \((Self.midnight + 60) * 1000), 16, 1, 1)
            """)
        #expect(try phone.open().device.feeds[.vo2Max] == nil)
    }
}
