import Conformance
import Foundation
import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

@testable import Phones

/// A folder of FIT files, and a gateway beside it.
@Suite struct FITSessionTests {
    private let folder: Folder
    init() throws {
        folder = try Folder()
        try FileManager.default.createDirectory(
            atPath: folder.path("2026/01"), withIntermediateDirectories: true)
    }

    private static let noon = Timestamp(rfc3339: "2026-01-05T12:00:00Z") ?? Timestamp(seconds: 0)
    /// Enough for a check of nested folders, and for the time in which a file must not change.
    private static let soon: Duration = .seconds(80)

    private static func file(_ second: Int64, rate: Int64 = 61) -> [UInt8] {
        var writer = FITWriter()
        writer.begin(at: second)
        writer.add(20, at: second, [(3, .uint8, rate)])
        return writer.file()
    }

    private static func context(_ clock: GatewayClock) throws -> SessionContext {
        var context = SessionContext.testing(try #require(DeviceID("fit")), clock: clock)
        context.services = RunningServices([ExportFolders<FITOptions>()])
        return context
    }

    private func run(
        log: LogRecorder = LogRecorder(), notes: DeviceNotes = DeviceNotes(),
        _ body: @escaping @Sendable (DriverRun) async throws -> Void
    ) throws {
        let options = FITOptions(path: folder.url.path)
        try DriverRun.run(
            start: Self.noon,
            { simulation in
                var context = try Self.context(simulation.gatewayClock)
                context.logger = log.logger
                context.notes = notes
                return (FITDriver(options, executor: simulation.executor.serialExecutor()), context)
            }, body)
    }

    @Test func `files of nested folders are read once they stand still, and each content once`() throws {
        let notes = DeviceNotes()
        try folder.write(Self.file(0), as: "a.FIT")
        try folder.write(Self.file(60), as: "2026/01/b.fit")
        try folder.write(Self.file(120), as: "2026/01/.c.fit")
        try folder.write(Array("no file of FIT".utf8), as: "notes.txt")
        // Only the body uses it from here on.
        nonisolated(unsafe) let folder = folder
        try run(notes: notes) { run in
            try await run.pass(.seconds(2))
            #expect(run.events.isEmpty)
            try await run.pass(Self.soon)
            #expect(run.events.count == 2 && run.endings.isEmpty)
            try folder.write(Self.file(60), as: "2026/01/copy.fit", at: 1_700_000_001)
            try folder.write(Self.file(180), as: "2026/01/d.fit")
            try await run.pass(Self.soon)
            #expect(run.events.count == 3)
        }
        // After a restart the notes say what is done.
        try run(notes: notes) { run in
            try await run.pass(Self.soon)
            #expect(run.events.isEmpty && run.skipped.isEmpty)
        }
        // Without notes all is read again.
        try run { run in
            try await run.pass(Self.soon)
            #expect(run.kept.samples(.heartRate).count == 3)
        }
    }

    @Test func `a damaged file is named and counted, the others are read, and it is when it is whole`() throws {
        let log = LogRecorder()
        try folder.write(Self.file(0), as: "a.fit")
        try folder.write(Self.file(60).dropLast(4), as: "b.fit")
        // Only the body uses it from here on.
        nonisolated(unsafe) let folder = folder
        try run(log: log) { run in
            try await run.pass(Self.soon)
            #expect(run.events.count == 1)
            #expect(run.skipped == [SkippedValues(reason: "torn", what: "FIT files", count: 1)])
            try await run.pass(.minutes(10))
            #expect(run.skipped.count == 1)
            try folder.write(Self.file(60), as: "b.fit", at: 1_700_000_002)
            try await run.pass(Self.soon)
            #expect(run.events.count == 2)
        }
        let lines = log.entries.filter { $0.message == "A FIT file is refused." }
        #expect(lines.count == 1)
    }

    @Test func `only the first of many refused files are named`() throws {
        let log = LogRecorder()
        for number in 0...FITLimits.reported { try folder.write([1, UInt8(number)], as: "\(number).fit") }
        try run(log: log) { run in
            try await run.pass(Self.soon)
            #expect(run.skipped == [SkippedValues(reason: "foreign", what: "FIT files", count: FITLimits.reported + 1)])
        }
        #expect(log.entries.filter { $0.message == "A FIT file is refused." }.count == FITLimits.reported)
    }

    @Test func `a folder has limits of files and depth`() throws {
        for number in 0..<3 { try folder.write([1], as: "\(number).fit") }
        let place = FITOptions(path: folder.url.path).place
        #expect(try place.files(limit: 3).count == 3 && FITLimits.files == 50_000)
        #expect { try place.files(limit: 2) } throws: { "\($0)".contains("has more than 2 FIT files") }
        let deep = (1...FITLimits.depth).map { "\($0)" }.joined(separator: "/")
        try FileManager.default.createDirectory(
            atPath: folder.path("\(deep)/more"), withIntermediateDirectories: true)
        try folder.write([1], as: "\(deep)/d.fit")
        try folder.write([1], as: "\(deep)/more/e.fit")
        #expect(try place.files().count == 4)
    }

    @Test func `notes keep as many digests as a folder may have files, and forget the older half`() async throws {
        let storage = DeviceNotes()
        var notes = try await FITNotes(storage)
        for number in 1...UInt64(FITLimits.files) { notes.add(number, FITCounts()) }
        try await notes.save(in: storage)
        var again = try await FITNotes(storage)
        #expect(again.contains(1) && again.contains(UInt64(FITLimits.files)) && !again.contains(0))
        again.add(1 << 40, FITCounts())
        try await again.save(in: storage)
        let last = try await FITNotes(storage)
        #expect(!last.contains(1) && last.contains(1 << 40) && last.contains(UInt64(FITLimits.files)))
    }

    @Test func `doctor and the command sources say what is there`() async throws {
        let options = FITOptions(path: folder.url.path)
        let driver = FITDriver(options, executor: Simulation(seed: 1).executor.serialExecutor())
        let context = try Self.context(.system)
        #expect(await driver.examine(from: nil, context: context).map(\.severity) == [.warning])
        #expect(
            try FITInspector.inspect(folder.url.path, calendar: LocalCalendar(timeZone: .gmt), now: Self.noon) == nil)
        try folder.write(Self.file(0), as: "a.fit")
        try folder.write([1, 2], as: "b.fit", at: 1_600_000_000)
        #expect(await driver.examine(from: nil, context: context).map(\.severity) == [.fine])
        let report = try #require(
            try FITInspector.inspect(folder.url.path, calendar: LocalCalendar(timeZone: .gmt), now: Self.noon))
        #expect(report.kind == "a folder of 2 FIT files" && report.devices.map(\.name) == ["garmin 3113 77"])
        #expect(report.devices[0].records.map(\.count) == [1] && report.devices[0].omissions.count == 1)
        #expect(throws: SourceError.self) {
            try FITInspector.inspect(folder.path("b.fit"), calendar: LocalCalendar(timeZone: .gmt), now: Self.noon)
        }
    }

    @Test func `does what every driver must do`() throws {
        try folder.write(Self.file(0), as: "a.fit")
        let options = FITOptions(path: folder.url.path)
        let violations = try Simulation.run(seed: 1, start: Self.noon, deadline: .days(10)) { simulation in
            let suite = DriverConformance(
                expecting: .init(history: [:], timeout: .hours(1)), clock: simulation.gatewayClock
            ) { body in
                let driver = FITDriver(options, executor: simulation.executor.serialExecutor())
                try await driver.withSession(over: .none, context: Self.context(simulation.gatewayClock)) { session in
                    let own = try #require(session as? FITSession)
                    try await body(
                        session,
                        DriverConformance.Peer(
                            disconnect: { own.close(DeviceError(.disconnected, "The folder is out of reach.")) }))
                }
            }
            return await suite.check()
        }
        #expect(violations.isEmpty, "\(violations)")
    }
}
