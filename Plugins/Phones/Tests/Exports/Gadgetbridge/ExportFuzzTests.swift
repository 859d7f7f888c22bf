import Foundation
import GatewayTesting
import TestSupport
import Testing
import Vitals

@testable import Phones

/// Damaged exports and records, by seeds: the same invariants as the fuzzers of `Tests/Fuzz/run`.
@Suite struct ExportFuzzTests {
    private static let inputs = FuzzInputs()

    @Test func `finds the inputs`() { #expect(Self.inputs.names.count >= 4) }

    @Test(arguments: inputs.names) func `takes what fuzzing begins with, and what once failed`(name: String) throws {
        let bytes = try Self.inputs.bytes(name)
        let place = FileManager.default.temporaryDirectory.appending(path: "input-\(UUID().uuidString)")
        #expect(ExportInput.result(of: bytes, at: place).issues == [])
        #expect(RecordInput.issues(in: bytes) == [])
    }

    /// A small export with several families, of which each byte counts.
    private static func export() throws -> (phone: GadgetbridgePhone, bytes: [UInt8]) {
        let phone = try GadgetbridgePhone()
        let midnight = GadgetbridgePhone.midnight
        try phone.run("PRAGMA page_size = 512; VACUUM;")
        try phone.table(
            "MI_BAND_ACTIVITY_SAMPLE", "RAW_INTENSITY I!, STEPS I!, RAW_KIND I!, HEART_RATE I!",
            (0..<60).map { [midnight + $0 * 60, 20, $0 % 9, $0 % 12, 60 + $0] })
        try phone.table(
            "CMF_ACTIVITY_SAMPLE", "STEPS I!, RAW_KIND I!, HEART_RATE I!",
            (0..<9).map { [midnight + $0 * 20_000, $0 % 4 * 300, 1, 70] })
        try phone.table("COLMI_SLEEP_SESSION_SAMPLE", "WAKEUP_TIME I")
        try phone.table("COLMI_SLEEP_STAGE_SAMPLE", "DURATION I!, STAGE I!")
        try phone.insert("COLMI_SLEEP_SESSION_SAMPLE", [[midnight * 1000, (midnight + 3600) * 1000]])
        try phone.insert("COLMI_SLEEP_STAGE_SAMPLE", [[midnight * 1000, 30, 2], [(midnight + 1800) * 1000, 30, 3]])
        try phone.table(
            "GENERIC_BLOOD_PRESSURE_SAMPLE", "BP_SYSTOLIC I!, BP_DIASTOLIC I!, USER_INDEX I, PULSE_RATE I",
            [[midnight * 1000, 121, 79, 2, 66]])
        try phone.table("GENERIC_WEIGHT_SAMPLE", "WEIGHT_KG R!", [[midnight * 1000, 71.5]])
        try phone.run(
            """
            INSERT INTO BASE_ACTIVITY_SUMMARY (START_TIME, END_TIME, ACTIVITY_KIND, DEVICE_ID, USER_ID, SUMMARY_DATA)
            VALUES (\(midnight * 1000), \((midnight + 1800) * 1000), 16, 1, 1, '{"steps":{"value":"4500"}}')
            """)
        return (phone, [UInt8](try Data(contentsOf: phone.file)))
    }

    @Test(arguments: [UInt64](0..<8)) func `a damaged database is refused, or gives possible samples only`(
        seed: UInt64
    ) throws {
        let (phone, whole) = try Self.export()
        #expect(ExportInput.result(of: whole, at: phone.file).refusal == nil)
        var random = SplitMix64(seed: seed)
        var (read, refused) = (0, 0)
        for _ in 0..<150 {
            var bytes = whole
            Damage.bytes(&bytes, &random)
            let result = ExportInput.result(of: bytes, at: phone.file)
            #expect(result.issues == [])
            if result.refusal == nil { read += 1 } else { refused += 1 }
        }
        // Both ways are taken.
        #expect(read > 20 && refused > 20, "\(read) \(refused)")
    }

    @Test(arguments: [UInt64](0..<8)) func `a damaged zip is refused, or gives what it had`(seed: UInt64) throws {
        let (phone, whole) = try Self.export()
        let rates = try phone.values(.heartRate)
        let zip = try Self.zip(whole)
        var random = SplitMix64(seed: seed)
        for _ in 0..<150 {
            var bytes = zip
            if Bool.random(using: &random) {
                bytes.removeLast(Int.random(in: 0..<bytes.count, using: &random))
            } else {
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
                }
            }
            guard ExportInput.result(of: bytes, at: phone.file).refusal == nil else { continue }
            // What a check sum of 32 bits lets through is what it was.
            try Data(bytes).write(to: phone.file)
            #expect(try phone.values(.heartRate) == rates)
        }
    }

    private static func zip(_ database: [UInt8]) throws -> [UInt8] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "zip-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data(database).write(to: folder.appending(path: "in"))
        let program = """
            import sys, zipfile
            with zipfile.ZipFile(sys.argv[2], "w", zipfile.ZIP_DEFLATED) as z: z.write(sys.argv[1], "database/Gadgetbridge")
            """
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "python3", "-c", program, folder.appending(path: "in").path, folder.appending(path: "out").path,
        ]
        try process.run()
        process.waitUntilExit()
        return [UInt8](try Data(contentsOf: folder.appending(path: "out")))
    }

    @Test(arguments: [UInt64](0..<8)) func `a damaged record is no impossible night, and no other summary`(seed: UInt64)
        throws
    {
        var random = SplitMix64(seed: seed)
        let texts = [
            #"{"averageHR":{"value":131,"unit":"bpm"},"steps":{"value":"4500"},"maxHR":{"value":1e308}}"#,
            #"{"distanceMeters":{"value":"1e999"},"steps":{"value":-4}}"#,
        ]
        let records = [HuamiSleepTests.night(GadgetbridgePhone.midnight).bytes] + texts.map { Array($0.utf8) }
        for _ in 0..<2000 {
            var bytes = try #require(records.randomElement(using: &random))
            for _ in 0..<Int.random(in: 1...8, using: &random) where !bytes.isEmpty {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                if Int.random(in: 0..<12, using: &random) == 0 {
                    bytes.removeSubrange(place...)
                } else {
                    bytes[place] = UInt8.random(in: 0...255, using: &random)
                }
            }
            #expect(RecordInput.issues(in: bytes) == [])
        }
    }
}
