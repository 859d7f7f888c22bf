import Foundation
import GatewayKit
import GatewayTesting
import Logging
import Synchronization
import TestSupport
import Testing
import Vitals

@testable import Phones

/// Exports beside posts, in sessions.
@Suite struct ExportSessionTests {
    /// Runs sessions in simulated time, and stores what they send until `isOver`.
    private func run(
        _ path: String, notes: DeviceNotes = DeviceNotes(), log: LogRecorder = LogRecorder(), limit: Int = .max,
        documents: ScriptedDocuments = ScriptedDocuments(), metrics: [Metric] = HealthAutoExport.metrics
    ) throws -> (samples: [Sample], skipped: [SkippedValues], shares: [Double?]) {
        let found = Mutex<(samples: [Sample], skipped: [SkippedValues], shares: [Double?])>(([], [], []))
        try Simulation.run(seed: 1, start: Phone.at("2026-06-20T00:00:00Z"), deadline: .days(1)) { simulation in
            var context = try Phone.context(clock: simulation.gatewayClock, logger: log.logger)
            context.notes = notes
            let driver = PhoneDriver<HealthAutoExport>(metrics: metrics, export: path)
            try await driver.withSession(over: .documents(documents), context: context) { session in
                let clock = simulation.gatewayClock
                _ = await clock.withTimeout(.minutes(10)) {
                    while let events = try? await session.nextEvents() {
                        for event in events {
                            switch event {
                            case .samples(let samples, let receipts):
                                found.withLock { $0.samples += samples }
                                if found.withLock({ $0.samples.count }) > limit { return }
                                try? await session.settle(receipts.map { SettledReceipt($0, .new) })
                            case .skipped(let values): found.withLock { $0.skipped.append(values) }
                            case .progress(let share): found.withLock { $0.shares.append(share) }
                            default: break
                            }
                        }
                    }
                }
            }
        }
        return found.withLock { $0 }
    }

    private static let elements = (0..<9_000).map {
        HealthFile.record(
            "HeartRate", "\(50 + $0 % 100)", String(format: "%02d:%02d:%02d", $0 / 3600, $0 / 60 % 60, $0 % 60),
            unit: "count/min")
    }

    @Test func `an export is taken once, also after a restart, and a new one is taken`() throws {
        let folder = try Folder()
        try folder.write(HealthFile.zip(HealthFile.xml(Self.elements)), as: "export.zip")
        let (notes, log) = (DeviceNotes(), LogRecorder())
        let first = try run(folder.url.path, notes: notes, log: log)
        #expect(first.samples.count == 9_000)
        // How far it is, and that it is over.
        #expect(first.shares.count >= 2 && first.shares.last == .some(nil))
        #expect(first.shares.dropLast().allSatisfy { $0.map { (0...1).contains($0) } ?? false })
        #expect(log.entries.contains { $0.message == "The export was taken." && $0.metadata["new"] == "9000" })
        #expect(try run(folder.url.path, notes: notes).samples.isEmpty)
        try folder.write(
            HealthFile.zip(HealthFile.xml([HealthFile.record("BodyMass", "70", "10:00:00", unit: "kg")])),
            as: "export.zip",
            at: 1_800_000_000)
        #expect(try run(folder.url.path, notes: notes).samples.map(\.metric) == [.weight])
        // What is wanted of it counts, too.
        #expect(try run(folder.url.path, notes: notes, metrics: [.weight, .steps]).samples.count == 1)
    }

    @Test func `after an end in the middle the next session goes on where all was durable`() throws {
        let folder = try Folder()
        try folder.write(HealthFile.zip(HealthFile.xml(Self.elements)), as: "export.zip")
        let notes = DeviceNotes()
        let first = try run(folder.url.path, notes: notes, limit: 5_500).samples
        let second = try run(folder.url.path, notes: notes).samples
        #expect(first.count > 5_500 && first.count < 9_000 && second.count < 9_000)
        // What was not settled comes again, under the same times.
        #expect(Set((first + second).map(\.start)).count == 9_000)
    }

    @Test func `what is left out, broken and cut is counted and said`() throws {
        let folder = try Folder()
        try folder.write(
            Array(
                HealthFile.xml(
                    [
                        HealthFile.record("UVExposure", "1", "10:00:00"), " <Record <x",
                        HealthFile.record("BodyMass", "70", "10:00:00", unit: "kg"),
                    ],
                    isWhole: false
                ).utf8), as: "export.xml")
        let log = LogRecorder()
        let found = try run(folder.url.path, log: log)
        #expect(found.samples.count == 1)
        #expect(
            found.skipped.map { "\($0.reason) \($0.count)" } == ["malformed 1", "no_metric 1"], "\(found.skipped)")
        #expect(
            log.entries.contains {
                $0.level == .warning && $0.metadata["error"]?.contains("ends in the middle") == true
            })
        #expect(log.entries.contains { $0.metadata["types"] == "UVExposure: 1" })
    }

    @Test func `posts are taken while an export is read`() throws {
        let folder = try Folder()
        try folder.write(HealthFile.zip(HealthFile.xml(Self.elements)), as: "export.zip")
        let documents = ScriptedDocuments()
        documents.send(
            #"{"data":{"metrics":[{"name":"weight_body_mass","units":"kg","data":[{"date":"2026-01-01 00:00:00 +0000","qty":60}]}]}}"#
        )
        let found = try run(folder.url.path, documents: documents)
        #expect(found.samples.count == 9_001)
    }

    // MARK: - Which of two counts

    /// Records of a day: a watch from six to ten with pauses, and a phone all the time.
    static func records(_ hours: Range<Int>) -> [(source: String, start: Int, end: Int, steps: Int)] {
        var records: [(source: String, start: Int, end: Int, steps: Int)] = []
        var second = hours.lowerBound * 3600 + 13
        while second + 600 < hours.upperBound * 3600 {
            let length = 47 + second % 211
            if second % 5 != 0 { records.append((HealthFile.watch, second, second + length, 20 + second % 90)) }
            second += length + second % 2 * 7
        }
        for start in stride(from: hours.lowerBound * 3600, to: hours.upperBound * 3600, by: 600) {
            records.append(("iPhone", start, start + 600, 50))
        }
        return records
    }

    static func time(_ second: Int) -> String {
        String(format: "%02d:%02d:%02d", second / 3600, second / 60 % 60, second % 60)
    }

    /// The minutes into which the posts divide records, as a document.
    private static func posted(_ hours: Range<Int>) throws -> [Sample] {
        var minutes: [String: [Int: Double]] = [:]
        for record in records(hours) {
            for minute in record.start / 60...(record.end - 1) / 60 {
                let shared = min(record.end, minute * 60 + 60) - max(record.start, minute * 60)
                let part = Double(record.steps * shared) / Double(record.end - record.start)
                minutes[record.source, default: [:]][minute, default: 0] += part
            }
        }
        let entries = minutes.flatMap { source, minutes in
            minutes.map { #"{"date":"2026-06-12 \#(time($0 * 60)) +0200","qty":\#($1),"source":"\#(source)"}"# }
        }
        let text =
            #"{"data":{"metrics":[{"name":"step_count","units":"count","data":[\#(entries.joined(separator: ","))]}]}}"#
        return try Phone.records(Array(text.utf8), of: HealthAutoExport.self).samples
    }

    static func exported(_ hours: Range<Int>) throws -> [Sample] {
        try HealthFile.read(
            records(hours).map {
                HealthFile.record(
                    "StepCount", "\($0.steps)", time($0.start), time($0.end), unit: "count", source: $0.source)
            }
        ).samples
    }

    @Test func `posts before, during and after an export, in any order, give the same day`() async throws {
        let day = try #require(LocalDay("2026-06-12"))
        let export = try Self.exported(6..<12)
        let (before, during, after) = (try Self.posted(0..<6), try Self.posted(6..<12), try Self.posted(12..<20))
        // By hand: where the watch has anything, it counts.
        func total(_ samples: [Sample]) async throws -> Double? {
            let store = try ConsumedStore(HealthAutoExport.overlaps, device: try #require(DeviceID("phone")))
            try await store.ingest(samples)
            return try await store.total(.steps, of: day, in: Phone.berlin)
        }
        let alone = try await total(before) ?? 0, last = try await total(after) ?? 0,
            exported = try await total(export) ?? 0
        let watch = export.filter { $0.origin?.name.contains("Watch") == true }.compactMap(\.value).reduce(0, +)
        #expect(alone > 0 && last > 0 && exported >= watch && watch > 0)
        for order in [
            [export, before, during, after], [before, during, after, export], [before, export, during, after],
            [after, during, export, before], [during, export, during, before, after, export],
        ] {
            let store = try ConsumedStore(HealthAutoExport.overlaps, device: try #require(DeviceID("phone")))
            for samples in order { try await store.ingest(samples) }
            #expect(try await store.total(.steps, of: day, in: Phone.berlin) == alone + exported + last)
            // Each part of a minute is kept in thousandths.
            let held = store.held(.steps).compactMap(\.value).reduce(0, +)
            #expect(abs(held - (alone + exported + last)) < 0.05)
        }
    }

    @Test func `a value, a night and a workout that are in posts and export are one record`() async throws {
        let store = try ConsumedStore(HealthAutoExport.overlaps, device: try #require(DeviceID("phone")))
        let stage =
            #"{"startDate":"2026-06-12 00:30:00 +0200","endDate":"2026-06-12 02:00:00 +0200","value":"Core","source":"Watch"}"#
        let text =
            #"{"data":{"metrics":[{"name":"weight_body_mass","units":"kg","data":[{"date":"2026-06-12 08:00:12 +0200","qty":70,"source":"Scale"}]},{"name":"sleep_analysis","units":"hr","data":[\#(stage)]}],"workouts":[{"name":"Outdoor Run","start":"2026-06-12 10:00:00 +0200","end":"2026-06-12 10:30:00 +0200"}]}}"#
        let posts = try Phone.records(Array(text.utf8), of: HealthAutoExport.self).samples
        let export = try HealthFile.read([
            HealthFile.record("BodyMass", "70", "08:00:12", unit: "kg", source: "Scale"),
            HealthFile.record(
                "SleepAnalysis", "HKCategoryValueSleepAnalysisAsleepCore", "00:30:00", "02:00:00", source: "Watch"),
            " <Workout workoutActivityType=\"HKWorkoutActivityTypeRunning\" startDate=\"2026-06-12 10:00:00 +0200\" endDate=\"2026-06-12 10:30:00 +0200\"/>",
        ]).samples
        for samples in [posts, export, posts] { try await store.ingest(samples) }
        #expect(store.held.count == 3, "\(store.held.values)")
    }

    @Test func `a day that was posted as a whole gives way to the records of the export`() async throws {
        let day = try #require(LocalDay("2026-06-12"))
        let text =
            #"{"data":{"metrics":[{"name":"step_count","units":"count","data":[{"date":"2026-06-12","qty":9000,"source":"Watch"}]}]}}"#
        let posts = try Phone.records(Array(text.utf8), of: HealthAutoExport.self).samples
        let export = try Self.exported(6..<12)
        for order in [[posts, export], [export, posts]] {
            let store = try ConsumedStore(HealthAutoExport.overlaps, device: try #require(DeviceID("phone")))
            for samples in order { try await store.ingest(samples) }
            let alone = try ConsumedStore(HealthAutoExport.overlaps, device: try #require(DeviceID("phone")))
            try await alone.ingest(export)
            #expect(
                try await store.total(.steps, of: day, in: Phone.berlin)
                    == (try await alone.total(.steps, of: day, in: Phone.berlin)))
        }
    }
}
