import GatewayKit
import TestSupport
import Testing
import Vitals

@testable import Phones

/// What Health Auto Export has summed up or averaged, beside the records of Apple's own export, in a store.
@Suite struct SummedPostTests {
    private func store() throws -> ConsumedStore {
        try ConsumedStore(HealthAutoExport.overlaps, device: try #require(DeviceID("phone")))
    }

    private static func posts(_ metric: String, _ entries: [String]) throws -> [Sample] {
        let list = "{\"name\":\"\(metric)\",\"units\":\"\",\"data\":[\(entries.joined(separator: ","))]}"
        let text = "{\"data\":{\"metrics\":[\(list)]}}"
        return try Phone.records(Array(text.utf8), of: HealthAutoExport.self).samples
    }

    /// Steps of whole hours, as the records of `ExportSessionTests` divide among them.
    private static func hours(_ hours: Range<Int>) throws -> [Sample] {
        var sums: [String: [Int: Double]] = [:]
        for record in ExportSessionTests.records(hours) {
            for hour in record.start / 3600...(record.end - 1) / 3600 {
                let shared = min(record.end, hour * 3600 + 3600) - max(record.start, hour * 3600)
                let part = Double(record.steps * shared) / Double(record.end - record.start)
                sums[record.source, default: [:]][hour, default: 0] += part
            }
        }
        let entries = sums.flatMap { source, hours in
            hours.map { hour, steps in
                "{\"date\":\"2026-06-12 \(ExportSessionTests.time(hour * 3600)) +0200\",\"qty\":\(steps),\"source\":\"\(source)\"}"
            }
        }
        return try posts("step_count", entries)
    }

    @Test func `hours that were posted before, during and after an export count nothing twice`() async throws {
        let day = try #require(LocalDay("2026-06-12"))
        func total(_ parts: [[Sample]]) async throws -> Double {
            let store = try store()
            for samples in parts { try await store.ingest(samples) }
            return try await store.total(.steps, of: day, in: Phone.berlin) ?? 0
        }
        let export = try ExportSessionTests.exported(6..<12)
        let (before, after) = (try Self.hours(1..<6), try Self.hours(12..<20))
        // Also in documents of one hour each.
        let during = try (6..<12).map { try Self.hours($0..<$0 + 1) }
        let expected = try await total([before]) + total([export]) + total([after])
        #expect(expected > 0)
        for order in [
            [before] + during + [export, after], [export, before] + during + [after],
            during + [export] + during + [before, after],
            during.reversed() + [after, before, export],
        ] {
            #expect(try await total(order) == expected)
        }
    }

    @Test func `days that were posted as midnights give way to the records of an export`() async throws {
        let day = try #require(LocalDay("2026-06-12"))
        let posts = try Self.posts(
            "step_count",
            [11, 12].map { #"{"date":"2026-06-\#($0) 00:00:00 +0200","qty":9000,"source":"Watch"}"# })
        let export = try ExportSessionTests.exported(6..<12)
        let alone = try store()
        try await alone.ingest(export)
        for order in [[posts, export], [export, posts]] {
            let store = try store()
            for samples in order { try await store.ingest(samples) }
            #expect(try await store.total(.steps, of: day.advanced(by: -1), in: Phone.berlin) == 9000)
            let expected = try await alone.total(.steps, of: day, in: Phone.berlin)
            #expect(try await store.total(.steps, of: day, in: Phone.berlin) == expected)
        }
    }

    @Test func `without an export hours count as before, and minutes of another source`() async throws {
        let store = try store()
        try await store.ingest(
            try Self.posts("step_count", [#"{"date":"2026-06-12 10:00:00 +0200","qty":10,"source":"iPhone"}"#]))
        try await store.ingest(
            try Self.posts("step_count", [#"{"date":"2026-06-12 10:20:00 +0200","qty":7,"source":"Watch"}"#]))
        #expect(store.held(.steps).compactMap(\.value) == [10, 7])
    }

    private static func rate(_ time: String, _ rate: Int, source: String = "Watch") -> String {
        #"{"date":"2026-06-12 \#(time) +0200","Avg":\#(rate),"source":"\#(source)"}"#
    }

    @Test func `means of minutes and hours give way to the heart rates of an export, in any order`() async throws {
        let posts = try Self.posts(
            "heart_rate",
            [
                Self.rate("10:00:00", 72), Self.rate("10:01:00", 80, source: "Watch|Strap"), Self.rate("10:02:00", 90),
                Self.rate("10:03:00", 95, source: "Strap"),
            ])
        let hour = try Self.posts("heart_rate", [Self.rate("10:00:00", 77, source: "Watch|Strap")])
        let export = try HealthFile.read([
            HealthFile.record("HeartRate", "70", "10:00:00", unit: "count/min", source: "Watch"),
            HealthFile.record("HeartRate", "74", "10:00:40", unit: "count/min", source: "Watch"),
            HealthFile.record("HeartRate", "80", "10:01:59", unit: "count/min", source: "Watch"),
        ]).samples
        for order in [
            [posts, hour, export], [export, posts, hour], [posts, export, hour, posts], [hour, export, export, posts],
        ] {
            let store = try store()
            for samples in order { try await store.ingest(samples) }
            // The mean of a minute without a heart rate, and that of another source.
            #expect(store.held(.heartRate).compactMap(\.value) == [70, 74, 80, 90, 95], "\(order.map(\.count))")
            let stored = try await store.stored(.heartRate).compactMap(\.value)
            #expect(stored == [70, 74, 80, 90, 95])
        }
    }

    @Test func `single values that were posted are those of an export`() async throws {
        let posts = try Self.posts("heart_rate", [Self.rate("10:00:13", 72), Self.rate("10:00:20", 75)])
        let export = try HealthFile.read([
            HealthFile.record("HeartRate", "72", "10:00:13", unit: "count/min", source: "Watch"),
            HealthFile.record("HeartRate", "75", "10:00:20", unit: "count/min", source: "Watch"),
        ]).samples
        for order in [[posts, export, posts], [export, posts]] {
            let store = try store()
            for samples in order { try await store.ingest(samples) }
            #expect(store.held(.heartRate).compactMap(\.value) == [72, 75])
        }
    }
}
