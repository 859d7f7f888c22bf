import Testing
import Vitals

@testable import Phones

/// Columns without a number: nothing there was not measured, and a text cannot be read. Each such row is counted once.
@Suite struct EmptyColumnTests {
    private let phone: GadgetbridgePhone
    private let midnight = GadgetbridgePhone.midnight
    init() throws { phone = try GadgetbridgePhone() }

    @Test func `a minute without steps was not measured`() throws {
        try phone.table(
            "PINE_TIME_ACTIVITY_SAMPLE", "RAW_KIND I!, STEPS I, HEART_RATE I!",
            [[midnight, 1, 12, 61], [midnight + 60, 1, "NULL", 62], [midnight + 120, 1, "'many'", 63]])
        #expect(try phone.values(.steps) == [Value(-60, 0, 12)])
        #expect(try phone.open().skippedRows == ["PINE_TIME_ACTIVITY_SAMPLE": [.notMeasured: 1, .unreadable: 1]])
    }

    @Test(arguments: 1...4) func `a running count goes on after a row without one`(page: Int) throws {
        try phone.table("CMF_ACTIVITY_SAMPLE", "RAW_INTENSITY I!, STEPS I, RAW_KIND I!, HEART_RATE I!")
        let counts: [Any] = [10, 15, "NULL", 25, "'many'", 40]
        for (index, count) in counts.enumerated() {
            try phone.insert("CMF_ACTIVITY_SAMPLE", [[midnight + Int64(index) * 60 + 60, 0, count, 0, 61]])
        }
        let steps = try phone.samples(.steps, limit: page).map { Value($0) }
        #expect(steps == [Value(0, 60, 10), Value(60, 120, 5), Value(180, 240, 10), Value(300, 360, 15)])
        #expect(try phone.open().skippedRows == ["CMF_ACTIVITY_SAMPLE": [.notMeasured: 1, .unreadable: 1]])
    }

    @Test func `an interval without steps was not measured, and one without energy counts`() throws {
        try phone.table(
            "HUAWEI_ACTIVITY_SAMPLE", "OTHER_TIMESTAMP I!, SOURCE I!, RAW_KIND I!, STEPS I, CALORIES I",
            key: ["TIMESTAMP", "DEVICE_ID", "OTHER_TIMESTAMP", "SOURCE"])
        try phone.insert(
            "HUAWEI_ACTIVITY_SAMPLE",
            [
                [midnight, midnight + 60, 11, -1, "NULL", 0],
                [midnight + 60, midnight + 120, 11, -1, 40, "NULL"],
            ])
        #expect(try phone.values(.steps) == [Value(60, 120, 40)])
        #expect(try phone.samples(.steps).map(\.reading) == [.count(Increment(count: 40))])
        #expect(try phone.open().skippedRows == ["HUAWEI_ACTIVITY_SAMPLE": [.notMeasured: 1]])
    }

    @Test func `steps without their duration were not measured`() throws {
        try phone.table(
            "WITHINGS_STEEL_HRACTIVITY_SAMPLE", "DURATION I, RAW_KIND I!, STEPS I",
            [
                [midnight, "NULL", 0, 80], [midnight + 90, 60, 0, "NULL"], [midnight + 180, 60, 0, 7],
                [midnight + 240, "'long'", 0, 9],
            ])
        #expect(try phone.values(.steps) == [Value(180, 240, 7)])
        #expect(
            try phone.open().skippedRows == ["WITHINGS_STEEL_HRACTIVITY_SAMPLE": [.notMeasured: 2, .implausible: 1]])
    }

    @Test func `an empty temperature was not measured, of whatever it would be`() throws {
        try phone.table("COLMI_TEMPERATURE_SAMPLE", "TEMPERATURE R, TEMPERATURE_TYPE I, TEMPERATURE_LOCATION I")
        func ms(_ second: Int64) -> Int64 { (midnight + second) * 1000 }
        try phone.insert(
            "COLMI_TEMPERATURE_SAMPLE",
            [
                // Of the body, of the skin, of the air, of an unknown kind, and without one.
                [ms(0), "NULL", 1, 4], [ms(1), "NULL", 2, 9], [ms(2), "NULL", 3, 0], [ms(3), "NULL", 0, 0],
                [ms(4), "NULL", "NULL", "NULL"], [ms(5), "'warm'", 1, 4],
                // The place alone says what it is of.
                [ms(6), 33.1, "NULL", 9], [ms(7), 36.9, 1, "NULL"],
            ])
        #expect(try phone.values(.temperature) == [Value(7, 36.9)])
        #expect(try phone.values(.skinTemperature) == [Value(6, 33.1)])
        #expect(try phone.open().skippedRows == ["COLMI_TEMPERATURE_SAMPLE": [.notMeasured: 5, .unreadable: 1]])
    }
}
