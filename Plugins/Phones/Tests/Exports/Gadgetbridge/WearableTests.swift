import Foundation
import Testing
import Vitals

@testable import Phones

/// Which wearable, what it says of itself, and its workouts.
@Suite struct WearableTests {
    private let phone: GadgetbridgePhone
    init() throws { phone = try GadgetbridgePhone() }

    @Test func `knows model, present firmware and charge`() throws {
        try phone.run(
            """
            INSERT INTO BATTERY_LEVEL VALUES (\(GadgetbridgePhone.midnight), 1, 80, 0), (\(GadgetbridgePhone.midnight + 60), 1, 79, 0),
                (\(GadgetbridgePhone.midnight + 120), 1, 30, 1), (\(GadgetbridgePhone.midnight + 180), 1, 101, 0),
                (\(GadgetbridgePhone.midnight + 240), 2, 5, 0)
            """)
        let export = try phone.open()
        #expect(export.identity.manufacturer == "Xiaomi" && export.identity.model == "M2239B1")
        #expect(export.identity.firmware == "2.3.4")
        #expect(export.battery?.percent == 79 && export.battery?.at == GadgetbridgePhone.at(0, 1))
    }

    @Test(arguments: ["c0:11:22:33:44:66", "Ring of Anna", "Ring"])
    func `finds one of several by address, alias and name`(wanted: String) throws {
        try phone.run(
            "INSERT INTO DEVICE VALUES (2, 'Ring', 'Colmi', 'C0:11:22:33:44:66', 0, 'R02', NULL, 'Ring of Anna', NULL)")
        try phone.table(
            "COLMI_HEART_RATE_SAMPLE", "HEART_RATE I!", device: 2, [[GadgetbridgePhone.midnight * 1000, 66]])
        try phone.insert("COLMI_HEART_RATE_SAMPLE", device: 1, [[(GadgetbridgePhone.midnight + 1) * 1000, 99]])
        #expect(try phone.values(.heartRate, wanted) == [Value(0, 66)])
        #expect(try phone.open(wanted).identity.model == "R02")
    }

    @Test func `says which there are where none or several fit`() throws {
        let file = phone.file.path
        #expect(throws: ExportError(.missing, "\(file): The export has no wearable Ring. It has: Band 8.")) {
            _ = try phone.open("Ring")
        }
        try phone.run(
            "INSERT INTO DEVICE VALUES (2, 'Band 8', 'Xiaomi', 'C0:11:22:33:44:66', 0, 'X', NULL, 'Ben', NULL)")
        let several = "\(file): The export has several wearables named Band 8. Use the address of one."
        #expect(throws: ExportError(.missing, several)) { _ = try phone.open("Band 8") }
        #expect(throws: ExportError.self) { _ = try phone.open() }
        // One of both was only paired.
        try phone.table(
            "GENERIC_HEART_RATE_SAMPLE", "HEART_RATE I!", device: 2, [[GadgetbridgePhone.midnight * 1000, 66]])
        #expect(try phone.values(.heartRate) == [Value(0, 66)])
    }

    @Test func `is chosen by its address, its alias or its name, and without any by being the only one`() throws {
        func chosen(_ name: String, _ address: String, _ alias: String) throws -> ExportedDevice {
            try phone.run("UPDATE DEVICE SET NAME = '\(name)', IDENTIFIER = '\(address)', ALIAS = \(alias)")
            return try phone.open().device
        }
        func options(_ device: ExportedDevice) -> [String] { device.options.map { "\($0.key)=\($0.value)" } }
        #expect(options(try chosen("Band", "C0:11", "'Mine'")) == ["device=C0:11"])
        #expect(options(try chosen("Band", "", "'Mine'")) == ["device=Mine"])
        let named = try chosen("Band", "", "NULL")
        #expect(options(named) == ["device=Band"] && named.remark == nil)
        let nameless = try chosen("", "", "NULL")
        #expect(options(nameless).isEmpty)
        #expect(nameless.remark?.contains("only if it is the export's only wearable") == true)
    }

    @Test func `a wearable's family is that of its tables, or else its type as the export has it`() throws {
        func family() throws -> String? { try phone.open().device.family }
        #expect(try family() == "MIBAND8")
        try phone.table("GENERIC_HEART_RATE_SAMPLE", "HEART_RATE I!", [[GadgetbridgePhone.midnight * 1000, 66]])
        #expect(try family() == "MIBAND8")
        try phone.table("XIAOMI_MANUAL_SAMPLE", "TYPE I, VALUE I", [[GadgetbridgePhone.midnight * 1000, 0x11, 66]])
        // Of another wearable.
        try phone.table("GARMIN_STRESS_SAMPLE", "STRESS I!", device: 2, [[GadgetbridgePhone.midnight * 1000, 35]])
        #expect(try family() == "Xiaomi")
        try phone.table("COLMI_SLEEP_SESSION_SAMPLE", "WAKEUP_TIME I")
        try phone.table(
            "COLMI_SLEEP_STAGE_SAMPLE", "DURATION I!, STAGE I!", [[GadgetbridgePhone.midnight * 1000, 20, 2]])
        #expect(try family() == "Xiaomi; Colmi, Yawell")
    }

    @Test func `a Mi Band with records in the tables of Zepp OS is of one family, that of its minutes`() throws {
        func family() throws -> String? { try phone.open().device.family }
        for table in ["HUAMI_STRESS_SAMPLE", "HUAMI_SPO2_SAMPLE"] {
            let column = table.contains("STRESS") ? "STRESS" : "SPO2"
            try phone.table(table, "TYPE_NUM I!, \(column) I!")
            try phone.insert(table, [[GadgetbridgePhone.midnight * 1000, 1, 35]])
        }
        #expect(try family() == "Huami, Zepp OS")
        try phone.table(
            "MI_BAND_ACTIVITY_SAMPLE", "RAW_INTENSITY I!, STEPS I!, RAW_KIND I!, HEART_RATE I!",
            [[GadgetbridgePhone.midnight, 0, 9, 1, 66]])
        #expect(try family() == "Huami, Amazfit with Mi Band protocol")
        // Minutes in both: nothing says which.
        try phone.table(
            "HUAMI_EXTENDED_ACTIVITY_SAMPLE", "STEPS I!, RAW_KIND I!, HEART_RATE I!",
            [[GadgetbridgePhone.midnight + 60, 9, 1, 66]])
        #expect(try family() == "Huami, Amazfit with Mi Band protocol; Huami, Zepp OS")
    }

    @Test func `a metric names each of its tables once`() throws {
        let start = GadgetbridgePhone.midnight * 1000
        try phone.table("GARMIN_SLEEP_STAGE_SAMPLE", "STAGE I!")
        try phone.table("GARMIN_EVENT_SAMPLE", "EVENT I!, EVENT_TYPE I, DATA I")
        try phone.table("PINE_TIME_ACTIVITY_SAMPLE", "RAW_KIND I!")
        try phone.insert("GARMIN_SLEEP_STAGE_SAMPLE", [[start, 2]])
        try phone.insert("PINE_TIME_ACTIVITY_SAMPLE", [[GadgetbridgePhone.midnight, 2]])
        let feed = try #require(try phone.open().device.feeds[.sleep]?.first)
        #expect(feed.tables == ["GARMIN_SLEEP_STAGE_SAMPLE", "PINE_TIME_ACTIVITY_SAMPLE"])
        #expect(feed.place == "GARMIN_SLEEP_STAGE_SAMPLE, PINE_TIME_ACTIVITY_SAMPLE")
    }

    @Test func `reads workouts with what their summaries say`() throws {
        let start = GadgetbridgePhone.midnight * 1000
        try phone.run(
            """
            INSERT INTO BASE_ACTIVITY_SUMMARY (START_TIME, END_TIME, ACTIVITY_KIND, DEVICE_ID, USER_ID, SUMMARY_DATA) VALUES
            (\(start), \(start + 1_800_000), 16, 1, 1,
             '{"averageHR":{"value":131,"unit":"bpm"},"distanceMeters":{"value":5012.0,"unit":"meters"},
               "steps":{"value":"4500","unit":"steps"},"maxHR":{"value":255},"caloriesBurnt":{"value":310,"unit":"calories_unit"}}'),
            (\(start + 3_600_000), \(start + 7_200_000), 67108901, 1, 1, 'no JSON'),
            (\(start + 9_000_000), \(start + 9_000_000), 32, 1, 1, NULL),
            (\(start + 9_000_000), \(start + 9_060_000), 32, 2, 1, NULL)
            """)
        let samples = try phone.samples(.sport)
        #expect(
            samples.map(\.reading) == [
                .sport(Sport(activity: "running", distance: 5012, energy: 310, steps: 4500, averageHeartRate: 131)),
                .sport(Sport(activity: "kind_4000025")),
            ])
        #expect(samples.map(\.value) == [30, 60])
        #expect(try phone.open().skippedRows["BASE_ACTIVITY_SUMMARY"] == [.incomplete: 1])
    }

    @Test func `a database of another app is none of Gadgetbridge`() throws {
        try GadgetbridgePhone.run("DROP TABLE DEVICE", at: phone.file.path)
        let foreign = "\(phone.file.path): The file has no table DEVICE: it is no export of Gadgetbridge."
        #expect(throws: ExportError(.foreign, foreign)) { _ = try phone.open() }
    }
}
