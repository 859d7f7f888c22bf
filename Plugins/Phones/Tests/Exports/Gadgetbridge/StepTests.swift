import Testing
import Vitals

@testable import Phones

/// Steps: increments of rows, and differences of counts.
@Suite struct StepTests {
    private let phone: GadgetbridgePhone
    private let midnight = GadgetbridgePhone.midnight
    init() throws { phone = try GadgetbridgePhone() }

    @Test func `a count of the day gives the differences of its rows`() throws {
        try phone.table(
            "GARMIN_ACTIVITY_SAMPLE",
            "RAW_INTENSITY I!, STEPS I!, RAW_KIND I!, HEART_RATE I!, DISTANCE_CM I!, ACTIVE_CALORIES I!")
        let day: Int64 = 86_400
        try phone.insert(
            "GARMIN_ACTIVITY_SAMPLE",
            [
                [midnight + 60, 0, 10, 0, 0, 700, 0], [midnight + 120, 0, 10, 0, 0, 700, 0],
                [midnight + 180, 0, -1, 0, 0, -1, 0], [midnight + 240, 0, 25, 0, 0, 1750, 0],
                // A journey: the count begins anew within the day.
                [midnight + 300, 0, 5, 0, 0, 0, 0], [midnight + 360, 0, 8, 0, 0, 0, 0],
                // The next day.
                [midnight + day + 60, 0, 3, 0, 0, 0, 0],
            ])
        #expect(
            try phone.values(.steps) == [
                Value(0, 60, 10), Value(180, 240, 15), Value(300, 360, 3), Value(day, day + 60, 3),
            ])
        let distances = try phone.samples(.steps).map { sample -> Double? in
            if case .count(let steps) = sample.reading { steps.distance } else { nil }
        }
        #expect(distances == [7, 10.5, nil, nil])
        #expect(try phone.open().skippedRows["GARMIN_ACTIVITY_SAMPLE"]?[.countFell] == 1)
    }

    @Test func `a count that goes on over the gateway's midnight counts no step twice`() throws {
        // The phone is west of the gateway: its day continues when the gateway's ends at 23:00 in UTC.
        try phone.table(
            "CMF_ACTIVITY_SAMPLE", "RAW_INTENSITY I!, STEPS I!, RAW_KIND I!, HEART_RATE I!",
            [
                [midnight + 22 * 3600, 0, 7900, 0, 0], [midnight + 23 * 3600 + 60, 0, 8000, 0, 0],
                [midnight + 24 * 3600 + 60, 0, 12, 0, 0],
            ])
        let values = try phone.values(.steps, zone: "Europe/Berlin")
        #expect(values.map(\.number) == [7900, 100])
        #expect(try phone.values(.steps, zone: "UTC").map(\.number) == [7900, 100, 12])
    }

    /// Rows with a running count at these minutes after midnight.
    private func counts(_ rows: [(minute: Int64, steps: Int64)]) throws {
        try phone.table(
            "CMF_ACTIVITY_SAMPLE", "RAW_INTENSITY I!, STEPS I!, RAW_KIND I!, HEART_RATE I!",
            rows.map { [midnight + $0.minute * 60, 0, $0.steps, 0, 0] })
    }

    @Test func `the first row of a day counts as it is, also with more steps than the whole day before`() throws {
        // 300 steps of a day in bed, a night without a row, and 320 by nine o'clock.
        try counts([(20 * 60, 280), (22 * 60, 300), (33 * 60, 320), (34 * 60, 350)])
        #expect(try phone.values(.steps).map(\.number) == [280, 20, 320, 30])
    }

    @Test func `a count goes on over the gateway's midnight after a pause of two hours at most`() throws {
        // The phone's day begins two hours later than the gateway's.
        try counts([(23 * 60, 900), (25 * 60, 1000), (2 * 1440 - 60, 3000), (2 * 1440 + 61, 3100)])
        #expect(try phone.values(.steps).map(\.number) == [900, 100, 2000, 3100])
    }

    @Test func `on a day of 25 hours a count goes on to its end`() throws {
        try phone.table(
            "GARMIN_ACTIVITY_SAMPLE",
            "RAW_INTENSITY I!, STEPS I!, RAW_KIND I!, HEART_RATE I!, DISTANCE_CM I!, ACTIVE_CALORIES I!")
        // 2026-10-25 in Berlin begins at 22:00 in UTC, and ends 25 hours later. The first row is of ten past midnight, the second
        // of ten to midnight.
        let begin: Int64 = 1_792_879_200
        try phone.insert(
            "GARMIN_ACTIVITY_SAMPLE",
            [[begin + 600, 0, 3000, 0, 0, 0, 0], [begin + 25 * 3600 - 600, 0, 3500, 0, 0, 0, 0]])
        let steps = try phone.samples(.steps, zone: "Europe/Berlin").map { sample -> Int? in
            if case .count(let steps) = sample.reading { steps.count } else { nil }
        }
        #expect(steps == [3000, 500])
    }

    @Test func `a row of midnight has the count of the day that ends, unless it has begun anew`() throws {
        // The watch lies still until nine o'clock.
        try counts([(1438, 7990), (1439, 7995), (1440, 8000), (33 * 60, 320), (33 * 60 + 1, 330)])
        #expect(try phone.values(.steps).map(\.number) == [7990, 5, 5, 320, 10])
    }

    @Test func `a count that has begun anew at midnight itself loses no step`() throws {
        try counts([(1439, 7995), (1440, 3), (1441, 8), (2880, 0), (2881, 6)])
        #expect(try phone.values(.steps).map(\.number) == [7995, 3, 5, 6])
    }

    @Test func `after a day without rows a count is a new one`() throws {
        try phone.table(
            "CMF_ACTIVITY_SAMPLE", "RAW_INTENSITY I!, STEPS I!, RAW_KIND I!, HEART_RATE I!",
            [[midnight, 0, 100, 0, 0], [midnight + 86_400 + 60, 0, 250, 0, 0]])
        #expect(try phone.values(.steps).map(\.number) == [100, 250])
    }

    @Test func `steps that nobody makes in a minute have gathered since the row before, or since the day began`() throws
    {
        // Five steps of the evening, and the next morning without a row before.
        try counts([(20 * 60, 300), (20 * 60 + 30, 1000), (33 * 60, 1200), (33 * 60 + 1, 1800), (33 * 60 + 2, 1900)])
        let wanted = [
            Value((20 * 60 - 1) * 60, 20 * 3600, 300), Value(20 * 3600, 20 * 3600 + 1800, 700),
            // 600 steps of a minute are none.
            Value(86_400, 33 * 3600, 1200), Value((33 * 60 + 1) * 60, (33 * 60 + 2) * 60, 100),
        ]
        #expect(try phone.values(.steps) == wanted)
        // Also where a page ends between the beginning of such steps and their row.
        for limit in [1, 2, 50] { #expect(try phone.samples(.steps, limit: limit).map { Value($0) } == wanted) }
        // No row has a heart rate.
        #expect(try phone.open().skippedRows == ["CMF_ACTIVITY_SAMPLE": [.implausible: 1, .notMeasured: 5]])
    }

    @Test func `a row among seconds that has more steps than anybody makes is none`() throws {
        try phone.table("MI_BAND_ACTIVITY_SAMPLE", "RAW_INTENSITY I!, STEPS I!, RAW_KIND I!, HEART_RATE I!")
        let seconds = (1...9).map { second -> [Any] in
            [midnight + 120 + Int64(second), 0, second == 3 ? 2941 : -1, 1, 255]
        }
        let minutes = [(60, 6), (120, 18), (180, 10)].map { [midnight + Int64($0.0), 0, $0.1, 1, 255] as [Any] }
        try phone.insert("MI_BAND_ACTIVITY_SAMPLE", minutes + seconds)
        #expect(try phone.values(.steps).map(\.number) == [6, 18, 10])
        #expect(try phone.open().skippedRows["MI_BAND_ACTIVITY_SAMPLE"]?[.implausible] == 1)
    }

    @Test func `rows of other lengths have their own`() throws {
        try phone.table(
            "COLMI_ACTIVITY_SAMPLE", "RAW_KIND I!, STEPS I!, HEART_RATE I!, DISTANCE I!, CALORIES I!",
            [[midnight, 1, 300, 0, 1, 1]])
        #expect(try phone.values(.steps) == [Value(0, 900, 300)])

        let other = try GadgetbridgePhone()
        try other.table(
            "WITHINGS_STEEL_HRACTIVITY_SAMPLE",
            "DURATION I!, RAW_KIND I!, STEPS I!, DISTANCE I!, CALORIES I!, HEART_RATE I!, RAW_INTENSITY I!")
        try other.insert(
            "WITHINGS_STEEL_HRACTIVITY_SAMPLE",
            [[midnight, 90, 0, 80, 1, 1, 0, 0], [midnight + 90, -5, 0, 80, 1, 1, 0, 0]])
        #expect(try other.values(.steps) == [Value(0, 90, 80)])
    }

    @Test func `an interval of Huawei occurs twice and counts once`() throws {
        try phone.table(
            "HUAWEI_ACTIVITY_SAMPLE",
            """
            OTHER_TIMESTAMP I!, SOURCE I!, RAW_KIND I!, RAW_INTENSITY I!, STEPS I!, CALORIES I!, DISTANCE I!, SPO I!,
            HEART_RATE I!, RESTING_HEART_RATE I!
            """, key: ["TIMESTAMP", "DEVICE_ID", "OTHER_TIMESTAMP", "SOURCE"])
        try phone.insert(
            "HUAWEI_ACTIVITY_SAMPLE",
            [
                [midnight, midnight + 60, 11, -1, 0, 40, 2500, 30, -1, -125, 55],
                [midnight + 60, midnight, 11, -1, 0, 40, 2500, 30, -1, -125, 55],
                [midnight + 60, midnight + 120, 11, -1, 0, -1, -1, -1, 97, 72, 55],
            ])
        #expect(try phone.values(.steps) == [Value(0, 60, 40)])
        #expect(try phone.samples(.steps).map(\.reading) == [.count(Increment(count: 40, energy: 2.5))])
        // A signed byte that wrapped: 131.
        #expect(try phone.values(.heartRate) == [Value(0, 131), Value(60, 72)])
        #expect(try phone.values(.bloodOxygen) == [Value(60, 97)])
        #expect(try phone.values(.restingHeartRate) == [Value(0, 55)])
    }
}
