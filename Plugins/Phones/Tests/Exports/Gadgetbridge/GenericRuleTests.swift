import Foundation
import GatewayKit
import Testing
import Vitals

@testable import Phones

/// The rule of names, on tables of several families.
@Suite struct GenericRuleTests {
    private let phone: GadgetbridgePhone
    private let midnight = GadgetbridgePhone.midnight
    init() throws { phone = try GadgetbridgePhone() }

    @Test func `reads heart rates and steps of minutes, and skips what is not measured`() throws {
        try phone.table(
            "PINE_TIME_ACTIVITY_SAMPLE", "RAW_KIND I!, STEPS I!, HEART_RATE I!",
            [
                [midnight, 1, 12, 61], [midnight + 60, 1, 0, 255], [midnight + 120, 1, 7, 0],
                [midnight + 180, 1, -1, -1], [midnight + 240, 1, 0, 19], [midnight + 300, 1, 0, 254],
            ])
        #expect(try phone.values(.heartRate) == [Value(0, 61), Value(300, 254)])
        #expect(try phone.values(.steps) == [Value(-60, 0, 12), Value(60, 120, 7)])
        #expect(try phone.open().skippedRows["PINE_TIME_ACTIVITY_SAMPLE"] == [.notMeasured: 3, .implausible: 1])
    }

    @Test func `what is empty was not measured, and what is no number cannot be read`() throws {
        try phone.table(
            "XIAOMI_ACTIVITY_SAMPLE", "RAW_INTENSITY I!, STEPS I!, RAW_KIND I!, HEART_RATE I!, STRESS I, SPO2 I")
        try phone.insert(
            "XIAOMI_ACTIVITY_SAMPLE",
            [
                [midnight, 0, 0, 0, 61, "NULL", "NULL"], [midnight + 60, 0, 0, 0, 62, 35, "NULL"],
                [midnight + 120, 0, 0, 0, 63, "'low'", 97],
            ])
        #expect(try phone.values(.heartRate) == [Value(0, 61), Value(60, 62), Value(120, 63)])
        #expect(try phone.values(.stress) == [Value(60, 35)])
        #expect(try phone.values(.bloodOxygen) == [Value(120, 97)])
        // One empty stress and two empty saturations.
        #expect(try phone.open().skippedRows["XIAOMI_ACTIVITY_SAMPLE"] == [.notMeasured: 3, .unreadable: 1])
    }

    @Test func `a record with its own time counts before the minute's value`() throws {
        try phone.table("MOYOUNG_ACTIVITY_SAMPLE", "STEPS I!, RAW_KIND I!, HEART_RATE I!")
        try phone.table("MOYOUNG_HEART_RATE_SAMPLE", "HEART_RATE I!")
        try phone.insert(
            "MOYOUNG_ACTIVITY_SAMPLE", [[midnight, 0, 1, 60], [midnight + 60, 0, 1, 62], [midnight + 120, 0, 1, 64]])
        try phone.insert("MOYOUNG_HEART_RATE_SAMPLE", [[(midnight + 75) * 1000, 63]])
        #expect(try phone.values(.heartRate) == [Value(0, 60), Value(75, 63), Value(120, 64)])
    }

    @Test func `knows who started a measurement by its type, or by the table`() throws {
        try phone.table("HUAMI_STRESS_SAMPLE", "TYPE_NUM I!, STRESS I!")
        try phone.table("HUAMI_SPO2_SAMPLE", "TYPE_NUM I!, SPO2 I!")
        try phone.table("HUAMI_HEART_RATE_MANUAL_SAMPLE", "UTC_OFFSET I!, HEART_RATE I!")
        try phone.table("HUAMI_HEART_RATE_MAX_SAMPLE", "UTC_OFFSET I!, HEART_RATE I!")
        try phone.insert("HUAMI_STRESS_SAMPLE", [[midnight * 1000, 1, 40], [(midnight + 60) * 1000, 0, 41]])
        try phone.insert("HUAMI_SPO2_SAMPLE", [[midnight * 1000, 2, 97], [(midnight + 1) * 1000, 0, 101]])
        try phone.insert("HUAMI_HEART_RATE_MANUAL_SAMPLE", [[midnight * 1000, 3600, 71]])
        try phone.insert("HUAMI_HEART_RATE_MAX_SAMPLE", [[midnight * 1000, 3600, 150]])
        let stress = try phone.samples(.stress)
        #expect(stress.map(\.isUserInitiated) == [false, true])
        #expect(stress.map(\.reading) == [.value(40), .value(41)])
        #expect(try phone.samples(.bloodOxygen).map(\.isUserInitiated) == [false])
        // The maximum of a day has no moment of its own.
        let rates = try phone.samples(.heartRate)
        #expect(rates.map(\.reading) == [.value(71)] && rates.map(\.isUserInitiated) == [true])
        #expect(try phone.open().device.unknownTables == ["HUAMI_HEART_RATE_MAX_SAMPLE"])
    }

    @Test func `reads blood pressures with pulse and person`() throws {
        try phone.table(
            "GENERIC_BLOOD_PRESSURE_SAMPLE",
            "BP_SYSTOLIC I!, BP_DIASTOLIC I!, USER_INDEX I, MEAN_ARTERIAL_PRESSURE I, PULSE_RATE I, MEASUREMENT_STATUS I"
        )
        try phone.insert(
            "GENERIC_BLOOD_PRESSURE_SAMPLE",
            [
                [midnight * 1000, 121, 79, 2, "NULL", 66, "NULL"],
                [(midnight + 60) * 1000, 70, 90, "NULL", "NULL", "NULL", "NULL"],
                [(midnight + 120) * 1000, 0, 0, "NULL", "NULL", "NULL", "NULL"],
            ])
        let samples = try phone.samples(.bloodPressure)
        #expect(samples.map(\.reading) == [.bloodPressure(BloodPressure(systolic: 121, diastolic: 79, pulse: 66))])
        #expect(samples.map(\.user) == [2])
        let pulses = try phone.samples(.heartRate)
        #expect(pulses.map(\.reading) == [.value(66)] && pulses.map(\.user) == [2])
    }

    @Test func `a temperature is one of the body, of the skin, or none of a person`() throws {
        try phone.table("COLMI_TEMPERATURE_SAMPLE", "TEMPERATURE R!, TEMPERATURE_TYPE I!, TEMPERATURE_LOCATION I!")
        try phone.table("MIJIA_LYWSD_REALTIME_SAMPLE", "TEMPERATURE R!, HUMIDITY I!")
        try phone.table("KEEPHEALTH_TEMPERATURE_SAMPLE", "TEMPERATURE R!")
        try phone.insert("MIJIA_LYWSD_REALTIME_SAMPLE", [[midnight * 1000, 30.5, 40]])
        try phone.insert(
            "KEEPHEALTH_TEMPERATURE_SAMPLE", [[(midnight + 5) * 1000, 36.6], [(midnight + 6) * 1000, 0]])
        try phone.insert(
            "COLMI_TEMPERATURE_SAMPLE",
            [
                [midnight * 1000, 36.9, 1, 4], [(midnight + 1) * 1000, 33.1, 2, 9],
                [(midnight + 2) * 1000, 33.2, 0, 9],
                [(midnight + 3) * 1000, 36.7, 0, 0], [(midnight + 4) * 1000, 21.5, 3, 0],
                // Of unknown kind, at a finger, a toe and an ear.
                [(midnight + 7) * 1000, 33.3, 0, 2], [(midnight + 8) * 1000, 30.4, 0, 7],
                [(midnight + 9) * 1000, 37.1, 0, 8],
            ])
        #expect(try phone.values(.temperature) == [Value(0, 36.9), Value(9, 37.1)])
        #expect(try phone.values(.skinTemperature) == [Value(1, 33.1), Value(2, 33.2), Value(7, 33.3), Value(8, 30.4)])
        // Without kind and place a value has no known meaning.
        #expect(try phone.open().skippedRows["COLMI_TEMPERATURE_SAMPLE"] == [.unspecified: 1, .ambient: 1])
        #expect(try phone.open().skippedRows["KEEPHEALTH_TEMPERATURE_SAMPLE"] == [.unspecified: 2])
        // Their owner may know; what has a kind or a place stays what it is.
        func with(_ choice: UnspecifiedTemperature) throws -> OpenExport {
            try OpenExport(
                try #require(FileStamp(of: phone.file.path)),
                GadgetbridgeOptions(path: phone.file.path, temperature: choice), GadgetbridgePhone.context())
        }
        let body = try with(.body)
        #expect(body.extents[.temperature]?.count == 4 && body.extents[.skinTemperature]?.count == 4)
        #expect(body.skippedRows["COLMI_TEMPERATURE_SAMPLE"] == [.ambient: 1])
        #expect(body.skippedRows["KEEPHEALTH_TEMPERATURE_SAMPLE"] == [.notMeasured: 1])
        let skin = try with(.skin)
        #expect(skin.extents[.temperature]?.count == 2 && skin.extents[.skinTemperature]?.count == 6)
        #expect(skin.device.options.last?.value == "skin")
    }

    @Test(arguments: [("body", nil), ("air", "body"), ("\"\"", "skin")])
    func `the option for temperatures is one of two words`(word: String, remedy: String?) {
        let members = [("path", "/phone"), ("temperature", word)].map {
            (key: ConfigurationKey($0.0), value: ConfigurationValue(.scalar($0.1, isQuoted: false)))
        }
        var reader = ConfigurationReader(ConfigurationValue(.map(members)))
        let options = GadgetbridgeOptions(&reader)
        let issues = reader.finish()
        #expect(issues.isEmpty == (remedy == nil) && options.temperature == .body)
        if let remedy { #expect(issues.first?.message.contains(remedy) == true, "\(issues)") }
    }

    @Test func `a resting heart rate is reported once per local day, and again when it changes`() throws {
        try phone.table("GARMIN_HEART_RATE_RESTING_SAMPLE", "HEART_RATE I!")
        // Berlin's midnight is 23:00 in UTC.
        try phone.insert(
            "GARMIN_HEART_RATE_RESTING_SAMPLE",
            [0, 3600, 7200, 22 * 3600, 23 * 3600].map { [(midnight + $0) * 1000, $0 == 7200 ? 51 : 52] })
        #expect(
            try phone.values(.restingHeartRate, zone: "Europe/Berlin")
                == [Value(0, 52), Value(7200, 51), Value(22 * 3600, 52), Value(23 * 3600, 52)])
        #expect(
            try phone.values(.restingHeartRate, zone: "UTC") == [Value(0, 52), Value(7200, 51), Value(22 * 3600, 52)])
    }

    @Test func `values of another type are counted, and a table without the ids is none of samples`() throws {
        try phone.table("GENERIC_SPO2_SAMPLE", "SPO2 I!")
        try phone.run("CREATE TABLE STRANGE_SAMPLE (TIMESTAMP INTEGER, HEART_RATE INTEGER)")
        try phone.run("INSERT INTO STRANGE_SAMPLE VALUES (\(midnight), 70)")
        try phone.insert(
            "GENERIC_SPO2_SAMPLE", [[midnight * 1000, "'97%'"], [(midnight + 1) * 1000, 97], ["'soon'", 98]])
        #expect(try phone.values(.bloodOxygen) == [Value(1, 97)])
        #expect(try phone.open().skippedRows["GENERIC_SPO2_SAMPLE"] == [.unreadable: 1, .withoutTime: 1])
        #expect(try phone.open().device.feeds[.heartRate] == nil)
    }

    @Test func `reads heart-rate variability, breaths, weight and glucose`() throws {
        try phone.table("GARMIN_HRV_VALUE_SAMPLE", "VALUE I!")
        try phone.table("HUAMI_SLEEP_RESPIRATORY_RATE_SAMPLE", "UTC_OFFSET I!, RATE I!")
        try phone.table("MI_SCALE_WEIGHT_SAMPLE", "WEIGHT_KG R!")
        try phone.table("GLUCOSE_SAMPLE", "VALUE_MG_DL R!")
        try phone.insert("GARMIN_HRV_VALUE_SAMPLE", [[midnight * 1000, 45], [(midnight + 1) * 1000, 201]])
        try phone.insert("HUAMI_SLEEP_RESPIRATORY_RATE_SAMPLE", [[midnight * 1000, 0, 14]])
        try phone.insert("MI_SCALE_WEIGHT_SAMPLE", [[midnight * 1000, 71.5]])
        try phone.insert("GLUCOSE_SAMPLE", [[midnight * 1000, 104.5]])
        #expect(try phone.values(.heartRateVariability) == [Value(0, 45)])
        #expect(try phone.values(.respiratoryRate) == [Value(0, 14)])
        #expect(try phone.values(.weight) == [Value(0, 71.5)])
        #expect(try phone.values(.bloodGlucose) == [Value(0, 104.5)])
    }
}
