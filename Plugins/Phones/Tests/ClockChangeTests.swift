import TestSupport
import Testing
import Vitals

@testable import Phones

/// Documents from both nights in which the clocks change, and from a journey to another zone, as both apps write them. The values are
/// worked out by hand.
@Suite struct ClockChangeTests {
    /// A night of three stages, and two counts of steps, of 10 and of 20.
    struct Night: Sendable, CustomStringConvertible {
        /// A moment as the phone's clock shows it, and in UTC.
        struct Moment: Sendable {
            var local: String
            var utc: String
        }
        var description: String
        /// Where the stages begin, and the last one ends.
        var bounds: [Moment]
        var minutes: Double
        var steps: [Moment]
        /// The steps of the day of waking, in Berlin.
        var day: String
        var total: Int
    }

    private static func moment(_ local: String, _ utc: String) -> Night.Moment { Night.Moment(local: local, utc: utc) }

    static let nights = [
        // At 01:00 in UTC, 02:00 becomes 03:00.
        Night(
            description: "an hour less",
            bounds: [
                moment("2026-03-28 23:30:00 +0100", "2026-03-28T22:30:00Z"),
                moment("2026-03-29 01:30:00 +0100", "2026-03-29T00:30:00Z"),
                moment("2026-03-29 03:30:00 +0200", "2026-03-29T01:30:00Z"),
                moment("2026-03-29 07:30:00 +0200", "2026-03-29T05:30:00Z"),
            ], minutes: 420,
            steps: [
                moment("2026-03-29 01:59:00 +0100", "2026-03-29T00:59:00Z"),
                moment("2026-03-29 03:00:00 +0200", "2026-03-29T01:00:00Z"),
            ], day: "2026-03-29", total: 30),
        // At 01:00 in UTC, 03:00 becomes 02:00: both counts are at a quarter past two.
        Night(
            description: "an hour more",
            bounds: [
                moment("2026-10-24 23:30:00 +0200", "2026-10-24T21:30:00Z"),
                moment("2026-10-25 02:30:00 +0200", "2026-10-25T00:30:00Z"),
                moment("2026-10-25 02:30:00 +0100", "2026-10-25T01:30:00Z"),
                moment("2026-10-25 07:30:00 +0100", "2026-10-25T06:30:00Z"),
            ], minutes: 540,
            steps: [
                moment("2026-10-25 02:15:00 +0200", "2026-10-25T00:15:00Z"),
                moment("2026-10-25 02:15:00 +0100", "2026-10-25T01:15:00Z"),
            ], day: "2026-10-25", total: 30),
        // The phone takes the zone of New York in the midst of the night. The second count is of five past midnight in Berlin.
        Night(
            description: "a journey",
            bounds: [
                moment("2026-06-12 22:00:00 +0200", "2026-06-12T20:00:00Z"),
                moment("2026-06-13 00:00:00 +0200", "2026-06-12T22:00:00Z"),
                moment("2026-06-12 19:00:00 -0400", "2026-06-12T23:00:00Z"),
                moment("2026-06-12 20:00:00 -0400", "2026-06-13T00:00:00Z"),
            ], minutes: 240,
            steps: [
                moment("2026-06-12 23:50:00 +0200", "2026-06-12T21:50:00Z"),
                moment("2026-06-12 18:05:00 -0400", "2026-06-12T22:05:00Z"),
            ], day: "2026-06-13", total: 20),
    ]

    /// A list of objects with these members in JSON.
    private static func list(_ objects: [String]) -> String { "[{\(objects.joined(separator: "},{"))}]" }

    private static func exported(_ night: Night) throws -> [Sample] {
        let stages = ["Core", "Deep", "REM"].enumerated().map { place, depth in
            let (start, end) = (night.bounds[place].local, night.bounds[place + 1].local)
            return "\"startDate\":\"\(start)\",\"endDate\":\"\(end)\",\"value\":\"\(depth)\",\"source\":\"Watch\""
        }
        let steps = night.steps.enumerated().map { number, moment in
            "\"date\":\"\(moment.local)\",\"qty\":\(10 * (number + 1)),\"source\":\"Watch\""
        }
        let metrics = [
            "\"name\":\"sleep_analysis\",\"data\":\(list(stages))", "\"name\":\"step_count\",\"data\":\(list(steps))",
        ]
        return try Phone.records(Array("{\"data\":{\"metrics\":\(list(metrics))}}".utf8), of: HealthAutoExport.self)
            .samples
    }

    private static func posted(_ night: Night) throws -> [Sample] {
        let stages = ["light", "deep", "rem"].enumerated().map { place, depth in
            let (start, end) = (night.bounds[place].utc, night.bounds[place + 1].utc)
            return "\"stage\":\"\(depth)\",\"start_time\":\"\(start)\",\"end_time\":\"\(end)\""
        }
        let steps = night.steps.enumerated().map { number, moment in
            let end = Phone.at(moment.utc) + .minutes(1)
            return "\"count\":\(10 * (number + 1)),\"start_time\":\"\(moment.utc)\",\"end_time\":\"\(end)\""
        }
        let session = "\"session_end_time\":\"\(night.bounds[3].utc)\",\"stages\":\(list(stages))"
        let text = "{\"sleep\":\(list([session])),\"steps\":\(list(steps))}"
        return try Phone.records(Array(text.utf8), of: HealthConnectWebhook.self).samples
    }

    @Test(arguments: nights, [true, false])
    func `a night in which the clocks change, or the zone, has its minutes and its steps`(
        night: Night, isExported: Bool
    ) async throws {
        let samples = try isExported ? Self.exported(night) : Self.posted(night)
        let rule = isExported ? HealthAutoExport.overlaps : HealthConnectWebhook.overlaps
        let store = try ConsumedStore(rule, device: try #require(DeviceID("phone")))
        for _ in 0..<2 { try await store.ingest(samples) }
        let sleep = try #require(store.held(.sleep).first)
        #expect(sleep.start == Phone.at(night.bounds[0].utc) && sleep.end == Phone.at(night.bounds[3].utc))
        #expect(sleep.value == night.minutes)
        #expect(store.held(.steps).map(\.start) == night.steps.map { Phone.at($0.utc) })
        #expect(store.held.count == 3)
        let day = try #require(LocalDay(night.day))
        #expect(Phone.berlin.day(of: sleep.end) == day)
        let steps = try await store.total(.steps, of: day, in: Phone.berlin)
        #expect(steps == Double(night.total))
    }
}
