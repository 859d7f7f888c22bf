import Foundation
import GatewayTesting
import TestSupport
import Testing
import Vitals

@testable import Phones

/// The file as it may appear: a zip, a database, and parts of both.
@Suite struct TornExportTests {
    private let phone: HealthPhone
    private var archive: URL { phone.folder.appending(path: "Health Connect.zip") }

    init() throws {
        phone = try HealthPhone()
        try phone.interval("heart_rate_record_table", 1, HealthPhone.ms(0), HealthPhone.ms(20))
        try phone.run(
            """
            WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 1999)
            INSERT INTO heart_rate_record_series_table SELECT 1, 60 + i % 40, \(HealthPhone.ms(0)) + i * 1000 FROM n
            """)
    }

    /// Packs the database as Android does, by another program than the one under test.
    private func pack() throws {
        let program =
            "import sys, zipfile; zipfile.ZipFile(sys.argv[1], 'w', zipfile.ZIP_DEFLATED).write(sys.argv[2], sys.argv[3])"
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", "-c", program, archive.path, phone.file.path, "health_connect_export.db"]
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
    }

    private func rates(_ file: URL) throws -> Int {
        let stamp = try #require(FileStamp(of: file.path))
        let export = try OpenExport(stamp, HealthConnectExportOptions(path: file.path), HealthPhone.context())
        return try #require(export.extents[.heartRate]).count
    }

    @Test func `reads the zip of the phone, and the newest export of its folder`() throws {
        try pack()
        #expect(try rates(archive) == 2000)
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: 60)], ofItemAtPath: archive.path)
        let options = HealthConnectExportOptions(path: phone.folder.path)
        #expect(try options.place.newest().path == archive.path)
    }

    @Test(arguments: [true, false]) func `an export that is cut at any of two hundred points is not read`(isZip: Bool)
        throws
    {
        if isZip { try pack() }
        let file = isZip ? archive : phone.file
        let whole = try Data(contentsOf: file)
        var random = SplitMix64(seed: 41)
        for _ in 0..<200 {
            let length = Int.random(in: 0..<whole.count, using: &random)
            try whole.prefix(length).write(to: file)
            let error = #expect(throws: ExportError.self) { _ = try rates(file) }
            #expect(error?.code == .torn, "\(length): \(error?.message ?? "")")
        }
        try whole.write(to: file)
        #expect(try rates(file) == 2000)
    }

    @Test func `a zip that is overwritten slowly in place is read only when it is whole`() throws {
        try pack()
        let old = try Data(contentsOf: archive)
        try phone.instant("weight_record_table", 1, at: HealthPhone.ms(7), [("weight", "71500")])
        try pack()
        let new = try Data(contentsOf: archive)
        try old.write(to: archive)
        try FileManager.default.removeItem(at: phone.file)
        let place = archive
        try phone.simulate { run in
            try await run.pass(.seconds(80))
            #expect(run.kept.count == 2000)
            var random = SplitMix64(seed: 43)
            let file = try FileHandle(forUpdating: place)
            defer { try? file.close() }
            var written = 0
            while written < new.count {
                let length = min(Int.random(in: 1...(new.count / 8), using: &random), new.count - written)
                try file.seek(toOffset: UInt64(written))
                try file.write(contentsOf: new[written..<(written + length)])
                written += length
                guard written < new.count else { break }
                // Often longer than the time in which a file must not change, and than the time between two checks.
                try await run.pass(.seconds(Int.random(in: 1...150, using: &random)))
                #expect(run.kept.count == 2000)
            }
            try file.truncate(atOffset: UInt64(new.count))
            try await run.pass(.seconds(80))
            #expect(run.kept.samples(.weight).map(\.value) == [71.5])
            #expect(run.kept.samples(.heartRate).count == 2000 && run.kept.corrected.isEmpty)
            // The weight is a metric that the old zip had not, so that the session begins anew, once.
            #expect(run.endings == ["The export has other kinds of records now; a new session reads them."])
        }
    }

    @Test func `the state before stays while a torn export is there`() throws {
        try phone.simulate { [phone] run in
            try await run.pass(.seconds(80))
            #expect(run.kept.count == 2000)
            let whole = try Data(contentsOf: phone.file)
            try whole.prefix(whole.count / 3).write(to: phone.file)
            try await run.pass(.minutes(5))
            try whole.write(to: phone.file)
            try phone.instant("weight_record_table", 1, at: HealthPhone.ms(7), [("weight", "71500")])
            try await run.pass(.minutes(3))
            #expect(run.kept.samples(.weight).map(\.value) == [71.5])
            #expect(run.kept.samples(.heartRate).count == 2000 && run.kept.corrected.isEmpty)
        }
    }
}
