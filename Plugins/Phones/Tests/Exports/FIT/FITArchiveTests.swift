import Foundation
import GatewayKit
import Testing
import Vitals

@testable import Phones

/// Archives of FIT files, laps, and what developers add.
@Suite struct FITArchiveTests {
    private static func file(_ second: Int64, rate: Int64 = 61) -> [UInt8] {
        var writer = FITWriter()
        writer.begin(at: second)
        writer.add(20, at: second, [(3, .uint8, rate)])
        return writer.file()
    }

    private static func report(_ folder: Folder, _ name: String) throws -> SourceReport? {
        try FITInspector.inspect(
            folder.path(name), calendar: LocalCalendar(timeZone: .gmt), now: Timestamp(seconds: 1_800_000_000))
    }

    @Test(arguments: [true, false]) func `the FIT files of an archive are read one by one`(isDeflated: Bool) throws {
        let folder = try Folder()
        var damaged = Self.file(120)
        damaged[20] ^= 1
        let archive = ZipFile(entries: [
            .init(name: "DI/2.fit", content: Self.file(60), isDeflated: isDeflated),
            .init(name: "DI/readme.txt", content: Array("no".utf8)),
            .init(name: "1.FIT", content: Self.file(0), isDeflated: isDeflated),
            .init(name: "3.fit", content: damaged, isDeflated: isDeflated),
        ])
        let stamp = try folder.write(archive.bytes, as: "garmin.zip")
        let sources = FITFile.inOrder(try FITSource.sources(of: stamp))
        #expect(
            sources.map(\.path).map { $0.split(separator: "/").last.map(String.init) } == ["1.FIT", "2.fit", "3.fit"])
        let report = try #require(try Self.report(folder, "garmin.zip"))
        #expect(report.devices.first?.records.map(\.count) == [2])
        #expect(report.devices.first?.omissions.contains { $0.reason.contains("garmin.zip/3.fit is damaged") } == true)
    }

    @Test func `an archive without FIT files is another's, and one with a wrong check sum is damaged`() throws {
        let folder = try Folder()
        try folder.write(ZipFile(entries: [.init(name: "a.txt", content: [1])]).bytes, as: "other.zip")
        #expect(try Self.report(folder, "other.zip") == nil)
        var bytes = ZipFile(entries: [.init(name: "a.fit", content: Self.file(0), hasDescriptor: false)]).bytes
        // The check sum of the list, 16 bytes into its entry.
        let list = try #require(bytes.indices.first { bytes[$0...].starts(with: [0x50, 0x4b, 1, 2]) })
        bytes[list + 16] ^= 1
        let stamp = try folder.write(bytes, as: "damaged.zip")
        let source = try #require(try FITSource.sources(of: stamp).first)
        #expect {
            let samples = FITSamples(FITCounts(), order: SourceOrder(), calendar: LocalCalendar(timeZone: .gmt))
            _ = try FITFile(source, samples)
        } throws: { "\($0)".contains("zip's check sum is wrong") }
    }

    @Test func `fields of developers are counted by their names, and so many of them`() throws {
        var writer = FITWriter()
        writer.begin()
        let name = Array("Leg \u{7}spring".utf8) + [0]
        writer.define(206, [(0, .uint8, 1), (1, .uint8, 1), (3, .string, name.count)])
        writer.records += [0, 0, 0] + name
        writer.define(20, [(253, .uint32, 4), (3, .uint8, 1)], developer: 2)
        for second in 0..<3 {
            writer.records += [0] + writer.bytes(FITWriter.midnight + Int64(second), 4) + [61, 9, 9]
        }
        let folder = try Folder()
        let stamp = try folder.write(writer.file(), as: "a.fit")
        let samples = FITSamples(FITCounts(), order: SourceOrder(), calendar: LocalCalendar(timeZone: .gmt))
        let file = try FITFile(FITSource(stamp: stamp), samples)
        #expect(file.foreign == ["Leg  spring": 3])
        #expect(try file.portion(10)?.compactMap(\.value) == [61, 61, 61])
        let report = try #require(try Self.report(folder, "a.fit"))
        #expect(
            report.devices.first?.omissions.contains { $0.place == "a developer's field Leg  spring" && $0.count == 3 }
                == true)
        // Of too many names the last ones are counted together.
        var many = FITWriter()
        many.begin()
        for field in 0...FITLimits.names {
            many.define(206, [(0, .uint8, 1), (1, .uint8, 1), (3, .string, 4)])
            many.records += [0, 0, UInt8(field)] + Array(String(format: "%03d", field).utf8) + [0]
            many.records += [0x60, 0, 0, 20, 0, 1, 3, 1, 2, 1, UInt8(field), 1, 0, 0, 61, 9]
        }
        let other = try FITFile(FITSource(stamp: try folder.write(many.file(), as: "b.fit")), samples)
        #expect(other.foreign.count <= FITLimits.names + 1 && other.foreign.values.reduce(0, +) == FITLimits.names + 1)
    }

    @Test func `a workout has at most so many laps, and the others are counted`() throws {
        var writer = FITWriter()
        writer.begin()
        for lap in 0...Int64(SampleLimits.laps) {
            writer.add(19, at: lap + 1, [(2, .uint32, FITWriter.midnight + lap)])
        }
        writer.add(
            18, at: 1000, [(2, .uint32, FITWriter.midnight), (5, .enumeration, 5), (7, .uint32, 1_000_000)])
        let place = FileManager.default.temporaryDirectory.appending(path: "fit-\(UUID().uuidString).fit")
        let (samples, file) = try FITInput.read(writer.file(), at: place)
        guard case .sport(let sport) = samples.last?.reading else {
            Issue.record("no workout")
            return
        }
        #expect(sport.laps.count == SampleLimits.laps && samples.last?.isValid == true)
        #expect(file.skipped.counts == ["lap": [.tooMany: 1]])
    }
}
