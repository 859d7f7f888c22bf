import Foundation
import TestSupport
import Testing
import Vitals

@testable import Phones

/// What new exports bring to a gateway that is running.
@Suite struct GadgetbridgeFollowTests {
    private let phone: GadgetbridgePhone
    private static let midnight = GadgetbridgePhone.midnight

    init() throws {
        phone = try GadgetbridgePhone()
        try phone.table(
            "XIAOMI_ACTIVITY_SAMPLE", "RAW_INTENSITY I!, STEPS I!, RAW_KIND I!, HEART_RATE I!, STRESS I, SPO2 I")
        try phone.table("COLMI_SLEEP_SESSION_SAMPLE", "WAKEUP_TIME I")
        try phone.table("COLMI_SLEEP_STAGE_SAMPLE", "DURATION I!, STAGE I!")
        try Self.minutes(0..<600, of: phone)
        try phone.insert(
            "COLMI_SLEEP_SESSION_SAMPLE", [[Self.ms(0), Self.ms(60)], [Self.ms(600), Self.ms(630)]])
        try phone.insert(
            "COLMI_SLEEP_STAGE_SAMPLE", [[Self.ms(0), 60, 2], [Self.ms(600), 30, 3]])
    }

    private static func ms(_ minute: Int64) -> Int64 { (midnight + minute * 60) * 1000 }

    private static func minutes(_ minutes: Range<Int64>, of phone: GadgetbridgePhone, steps: Int = 5) throws {
        try phone.insert(
            "XIAOMI_ACTIVITY_SAMPLE",
            minutes.map { [midnight + $0 * 60, 0, steps, 0, 60 + $0 % 20, "NULL", "NULL"] })
    }

    /// Enough for a check and for the time in which a file must not change.
    private static let soon: Duration = .seconds(80)

    @Test func `a new export comes within a minute and a half, and the same one again adds nothing`() throws {
        try Scenario.run(with: phone) { [phone] scenario in
            try await scenario.pass(Self.soon)
            #expect(scenario.kept.samples(.heartRate).count == 600 && scenario.kept.samples(.steps).count == 600)
            #expect(scenario.kept.samples(.sleep).count == 2)
            let before = scenario.kept.count
            try Data(contentsOf: phone.file).write(to: phone.file)
            try await scenario.pass(.minutes(5))
            #expect(scenario.kept.count == before && scenario.kept.corrected.isEmpty)
            try Self.minutes(600..<660, of: phone)
            try await scenario.pass(Self.soon)
            #expect(scenario.kept.samples(.heartRate).count == 660 && scenario.kept.corrected.isEmpty)
            #expect(scenario.endings.isEmpty)
        }
    }

    @Test func `a corrected night raises its own revision, and late rows come whenever they were measured`() throws {
        try Scenario.run(with: phone) { [phone] scenario in
            try await scenario.pass(Self.soon)
            try phone.run(
                """
                DELETE FROM COLMI_SLEEP_STAGE_SAMPLE WHERE TIMESTAMP = \(Self.ms(0));
                INSERT INTO COLMI_SLEEP_STAGE_SAMPLE VALUES (\(Self.ms(0)), 1, 1, 40, 2), (\(Self.ms(40)), 1, 1, 20, 4);
                """)
            // Three weeks before.
            try Self.minutes(-30240..<(-30230), of: phone)
            try await scenario.pass(Self.soon)
            #expect(scenario.kept.corrected.map { SleepTests.text($0) } == ["0…60: L0-40 R40-60"])
            #expect(scenario.kept.samples(.heartRate).count == 610)
        }
    }

    @Test func `a night that grows comes with its new end`() throws {
        try Scenario.run(with: phone) { [phone] scenario in
            try await scenario.pass(Self.soon)
            try phone.run(
                """
                UPDATE COLMI_SLEEP_SESSION_SAMPLE SET WAKEUP_TIME = \(Self.ms(700)) WHERE TIMESTAMP = \(Self.ms(600));
                INSERT INTO COLMI_SLEEP_STAGE_SAMPLE VALUES (\(Self.ms(630)), 1, 1, 70, 2);
                """)
            try await scenario.pass(Self.soon)
            let nights = scenario.kept.samples(.sleep).map { SleepTests.text($0) }
            // The gateway lets the longer one of both replace the other.
            #expect(nights == ["0…60: L0-60", "600…630: D600-630", "600…700: D600-630 L630-700"])
            #expect(scenario.kept.corrected.isEmpty)
        }
    }

    @Test func `a file with an older time is a new export all the same`() throws {
        try Scenario.run(with: phone) { [phone] scenario in
            try await scenario.pass(Self.soon)
            try Self.minutes(600..<610, of: phone)
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 1_000_000_000)], ofItemAtPath: phone.file.path)
            try await scenario.pass(Self.soon)
            #expect(scenario.kept.samples(.heartRate).count == 610)
            // The phone's clock is set back by an hour, and measures the hour again: the later rows replace the earlier.
            try Self.minutes(550..<610, of: phone, steps: 6)
            try await scenario.pass(Self.soon)
            #expect(scenario.kept.samples(.steps).count == 610 && scenario.kept.corrected.count == 60)
        }
    }

    @Test func `the state before stays while the file is gone or torn, and a new metric begins a new session`() throws {
        try Scenario.run(with: phone) { [phone] scenario in
            try await scenario.pass(Self.soon)
            let whole = try Data(contentsOf: phone.file)
            try FileManager.default.removeItem(at: phone.file)
            try await scenario.pass(.minutes(5))
            try whole.prefix(whole.count / 2).write(to: phone.file)
            try await scenario.pass(.minutes(5))
            #expect(scenario.endings.isEmpty)
            try whole.write(to: phone.file)
            try phone.table(
                "GENERIC_TEMPERATURE_SAMPLE", "TEMPERATURE R!, TEMPERATURE_TYPE I!, TEMPERATURE_LOCATION I!")
            try phone.insert("GENERIC_TEMPERATURE_SAMPLE", [[Self.ms(5), 36.5, 1, 4]])
            try await scenario.pass(.minutes(2))
            #expect(scenario.kept.samples(.temperature).map(\.reading) == [.value(36.5)])
            let endings = scenario.endings
            #expect(endings.count == 1 && endings.first?.contains("other kinds of records") == true, "\(endings)")
            #expect(scenario.kept.corrected.isEmpty)
        }
    }

    @Test func `a session begins when there is an export, and reports the charge of the last day`() throws {
        let whole = try Data(contentsOf: phone.file)
        try FileManager.default.removeItem(at: phone.file)
        try Scenario.run(with: phone, path: phone.folder.path) { [phone] scenario in
            try await scenario.pass(.minutes(1))
            #expect(scenario.kept.count == 0 && scenario.endings.first?.contains("has no export yet") == true)
            try whole.write(to: phone.file)
            try phone.run("INSERT INTO BATTERY_LEVEL VALUES (\(Self.midnight + 13 * 3600), 1, 64, 0)")
            try await scenario.pass(Self.soon)
            #expect(scenario.kept.samples(.heartRate).count == 600 && scenario.charges == [64])
        }
    }

    @Test(arguments: ["PK no zip", "something else that is no export"])
    func `a newer file that is no export does not hide an older one, also at a start`(other: String) throws {
        let file = phone.folder.appending(path: "Health Connect.zip")
        try Data([UInt8](other.utf8) + [UInt8](repeating: 0, count: 200)).write(to: file)
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: 60)], ofItemAtPath: file.path)
        try Scenario.run(with: phone, path: phone.folder.path) { [phone] scenario in
            try await scenario.pass(Self.soon)
            #expect(scenario.kept.samples(.heartRate).count == 600)
            try Self.minutes(600..<660, of: phone)
            try await scenario.pass(Self.soon)
            #expect(scenario.kept.samples(.heartRate).count == 660)
            // The other file is copied once, and the session continues.
            #expect(scenario.endings.isEmpty)
        }
    }

}
