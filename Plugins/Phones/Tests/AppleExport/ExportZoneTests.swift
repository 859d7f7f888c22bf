import Foundation
import GatewayKit
import TestSupport
import Testing
import Vitals

@testable import Phones

/// The days of an export's records: those of where they were measured.
@Suite struct ExportZoneTests {
    private static let tokyo = HealthFile.metadata("HKTimeZone", "Asia/Tokyo")

    @Test func `a record is of the day in its own zone, never of the written offset`() throws {
        // All at 2026-06-11 22:30 UTC: the next day in Berlin and Tokyo, the same one in New York.
        let zones = [nil, "Asia/Tokyo", "America/New_York", "Mars/Olympus"]
        let found = try HealthFile.read(
            zones.map {
                HealthFile.record(
                    "BodyMass", "70", "00:30:00", unit: "kg",
                    content: $0.map { HealthFile.metadata("HKTimeZone", $0) } ?? "")
            }
        ).samples
        #expect(found.map(\.utcOffset) == [nil, 540, -240, nil])
        #expect(
            found.map { DailySummary.day(of: $0, in: LocalCalendar(timeZone: .gmt)) }.map(\.description) == [
                "2026-06-11", "2026-06-12", "2026-06-11", "2026-06-11",
            ])
    }

    @Test func `a workout, a pressure and a count have their zone, by the clocks of that day`() throws {
        let winter = HealthFile.metadata("HKTimeZone", "America/New_York")
        let found = try HealthFile.read([
            "<Workout workoutActivityType=\"HKWorkoutActivityTypeRunning\" startDate=\"2026-01-12 10:00:00 +0200\" endDate=\"2026-01-12 10:30:00 +0200\">\n\(winter)\n</Workout>",
            HealthFile.record("StepCount", "9", "10:00:00", "10:01:00", unit: "count", content: Self.tokyo),
        ]).samples
        #expect(found.map(\.utcOffset) == [-300, 540])
    }

    @Test func `a night is of the day in the zone in which it ended`() throws {
        func stage(_ start: String, _ end: String, _ zone: String?) -> String {
            HealthFile.record(
                "SleepAnalysis", "HKCategoryValueSleepAnalysisAsleepCore", start, end, source: "Watch",
                content: zone.map { HealthFile.metadata("HKTimeZone", $0) } ?? "")
        }
        let found = try HealthFile.read([
            stage("01:00:00", "02:00:00", "Europe/Berlin"), stage("02:00:00", "03:00:00", "Asia/Tokyo"),
            stage("05:00:00", "06:00:00", nil), stage("08:00:00", "09:00:00", "Asia/Tokyo"),
        ]).samples
        #expect(found.map(\.utcOffset) == [540, nil, 540])
    }

    @Test func `where posts came before, the record moves to its own day`() async throws {
        let post =
            #"{"data":{"metrics":[{"name":"weight_body_mass","units":"kg","data":[{"date":"2026-06-12 20:00:13 +0200","qty":70,"source":"Scale"}]}]}}"#
        let posts = try Phone.records(Array(post.utf8), of: HealthAutoExport.self).samples
        let export = try HealthFile.read([
            HealthFile.record("BodyMass", "70", "20:00:13", unit: "kg", source: "Scale", content: Self.tokyo)
        ]).samples
        let store = try ConsumedStore(HealthAutoExport.overlaps, device: try #require(DeviceID("phone")))
        #expect(try await store.ingest(posts) == [.new])
        #expect(try await store.ingest(export) == [.corrected])
        // A post does not know better, and the export says nothing new.
        for samples in [posts, export] { #expect(try await store.ingest(samples) == [.known]) }
        let kept = try await store.stored(.weight)
        #expect(kept.map(\.utcOffset) == [540])
        #expect(kept.map { DailySummary.day(of: $0, in: Phone.berlin).description } == ["2026-06-13"])
    }

    @Test func `only so many zones and times of stages are kept in mind`() {
        let zones = ExportedZones()
        let start = Phone.at("2026-01-05T00:00:00Z")
        for number in 0...ExportedZones.maximumRuns {
            let moment = start + .minutes(number)
            zones.add(number % 2 == 0 ? "Asia/Tokyo" : nil, from: moment, to: moment + .minutes(1))
        }
        #expect(zones.zone(ofEnd: start + .minutes(1)) == "Asia/Tokyo")
        #expect(zones.zone(ofEnd: start + .minutes(ExportedZones.maximumRuns + 1)) == nil)
    }
}
