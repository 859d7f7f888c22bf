import TestSupport
import Testing
import Vitals

@testable import Phones

/// Nights with stages, with sleep alone, with totals and with a time in bed alone, worked out by hand.
@Suite struct ExportedSleepTests {
    private func records() throws -> (samples: [Sample], skipped: [String: Int]) {
        let found = try Phone.records(Phone.document("health-auto-export-nights.json"), of: HealthAutoExport.self)
        return (found.samples, found.skipped)
    }

    /// The sleeps of stages of a source, as their times and depths.
    private func stages(_ source: String) throws -> [[String]] {
        try records().samples.filter { $0.origin?.name == source }.compactMap { sample in
            guard case .sleep(let sleep) = sample.reading, sleep.untimed.isEmpty else { return nil }
            #expect(sample.start == sleep.stages.first?.start && sample.end == sleep.stages.last?.end)
            return sleep.stages.map { stage in
                let times = [stage.start, stage.end].map { $0.description.dropFirst(11).prefix(5) }
                return "\(stage.depth.rawValue) \(times[0])-\(times[1])"
            }
        }
    }

    @Test func `a night with stages keeps them whole, before what only says asleep or in bed`() throws {
        #expect(
            try stages("Watch") == [
                [
                    "in_bed 21:45-21:50", "asleep 21:50-22:00", "light 22:00-00:00", "deep 00:00-01:00",
                    "awake 01:00-01:10", "rem 01:10-02:00", "light 02:00-05:20", "in_bed 05:20-05:30",
                ]
            ])
    }

    @Test func `a night without stages is asleep, and one in bed is no sleep`() throws {
        #expect(try stages("Band") == [["asleep 22:00-01:00", "asleep 01:20-05:00"]])
        #expect(try stages("iPhone") == [["in_bed 21:30-23:10", "in_bed 23:20-05:00"]])
        #expect(
            try records().samples.filter { $0.start < Phone.at("2026-02-01T00:00:00Z") }.map(\.value)
                == [440, 400, 0, 30, 30])
    }

    @Test func `two naps of one time in bed stay two`() throws {
        #expect(
            try stages("Ring") == [
                ["in_bed 12:00-12:10", "asleep 12:10-12:40"],
                ["asleep 15:00-15:30", "in_bed 15:30-16:00"],
            ])
    }

    @Test func `totals of a night whose start and end are known are its minutes`() throws {
        func night(_ start: String, _ end: String, _ minutes: [Sleep.Stage.Depth: Int]) -> Sample {
            Sample(
                metric: .sleep, start: Phone.at(start), end: Phone.at(end),
                reading: .sleep(Sleep(stages: [], untimed: minutes)))
        }
        let totals = try records().samples.filter { $0.start > Phone.at("2026-02-01T00:00:00Z") }
        #expect(
            totals == [
                // 4.733 h = 283.98 min; 0.017 h = 1.02 min.
                night("2026-05-14T10:30:01Z", "2026-05-14T15:14:04Z", [.asleep: 284, .awake: 1]),
                // Of 510 minutes in bed 435 asleep and 30 awake.
                night(
                    "2026-02-05T21:40:00Z", "2026-02-06T06:10:00Z",
                    [.light: 255, .deep: 60, .rem: 120, .awake: 30, .inBed: 45]),
                // Older versions of the app: longer asleep than another source lay in bed.
                night("2026-02-06T23:17:49Z", "2026-02-07T05:00:11Z", [.asleep: 339]),
                // 7 hours asleep beside 7 hours of stages are not in 7.25 hours.
                night("2026-02-07T22:00:00Z", "2026-02-08T05:15:00Z", [.light: 240, .deep: 60, .rem: 120]),
                night("2026-02-08T21:30:00Z", "2026-02-09T05:30:00Z", [.inBed: 450]),
                night("2026-02-14T22:00:00Z", "2026-02-15T05:15:00Z", [.asleep: 400]),
            ])
        #expect(totals.map(\.value) == [284, 435, 339, 420, 0, 400])
        #expect(totals.map(\.origin?.name) == ["Band", "Watch", "Ring", "Watch", "iPhone", "Band"])
        #expect(totals.allSatisfy { $0.isValid })
    }

    @Test func `a sleep that cannot be known is counted, with the reason`() throws {
        #expect(
            try records().skipped == [
                "a time of sleep without its depth: Snoring": 1, "a sleep without the times of its start and end": 1,
                "a sleep of no minute": 1, "a sleep whose totals are no hours": 1,
                "a sleep without stages and totals": 1, "sleep in the unit days": 1,
            ])
    }

    @Test func `of one night the source with stages counts, in any order of documents`() async throws {
        func stage(_ value: String, _ from: String, _ to: String, _ source: String) -> String {
            let times = "\"startDate\":\"2026-02-05T\(from)Z\",\"endDate\":\"2026-02-06T\(to)Z\""
            return "{\(times),\"value\":\"\(value)\",\"source\":\"\(source)\"}"
        }
        let totals = "\"sleepStart\":\"2026-02-05T22:10:00Z\",\"sleepEnd\":\"2026-02-06T05:50:00Z\",\"asleep\":7"
        let nights = [
            stage("Core", "22:00:00", "05:30:00", "iPhone app"), stage("Asleep", "21:50:00", "05:40:00", "Apple Watch"),
            stage("In Bed", "21:30:00", "06:00:00", "iPhone"), "{\(totals),\"source\":\"Band\"}",
        ]
        let documents = try nights.map { night in
            let text = "{\"data\":{\"metrics\":[{\"name\":\"sleep_analysis\",\"units\":\"hr\",\"data\":[\(night)]}]}}"
            return try Phone.records(Array(text.utf8), of: HealthAutoExport.self).samples
        }
        for first in 0..<4 {
            let order = Array(documents[first...] + documents[..<first])
            for documents in [order, order.reversed()] {
                let store = try ConsumedStore(HealthAutoExport.overlaps, device: try #require(DeviceID("phone")))
                for document in documents + documents { try await store.ingest(document) }
                #expect(store.held(.sleep).map(\.origin?.name) == ["iPhone app"], "\(first)")
            }
        }
    }
}
