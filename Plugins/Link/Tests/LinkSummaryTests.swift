import GatewayKit
import JSON
import Testing
import Vitals

@Suite(.timeLimit(.minutes(1))) struct LinkSummaryTests {
    private func summaries(of metric: Metric, _ days: String) async throws -> [DailySummary] {
        let first = try #require(LocalDay("2025-11-20"))
        let last = try #require(LocalDay("2025-11-21"))
        let result = UnboundedQueue<[DailySummary]>()
        try await withLink { peer, session in
            async let summaries = session.summaries(of: metric, days: first...last)
            try await peer.answer(
                "summary/read",
                params: ["metric": .string(metric.rawValue), "from_day": "2025-11-20", "to_day": "2025-11-21"],
                with: #"{"days":[\#(days.split(separator: "\n").joined())]}"#)
            result.put(try await summaries)
        }
        return try #require(await result.next())
    }

    @Test func `reads the extremes of a day, with samples written as on MQTT or as on the link`() async throws {
        let days = try await summaries(
            of: .heartRate,
            #"""
            {"metric":"heart_rate","date":"2025-11-21","tz":"Europe/Berlin","rev":3,"final":false,"count":12,
            "manual_count":2,"auto_count":10,"average":61.4,"maximum":{"id":"x","rev":2,"start":"2025-11-21T10:00:00.000Z",
            "end":"2025-11-21T10:00:00.000Z","value":120,"fields":null,"kind":"maximum","user_initiated":true},
            "minimum":{"start":1763683200000,"value":48},"resting":[{"start":1763690000000,"value":52},
            {"start":1763680000000,"value":51},{"start":1763680000000,"value":5100}]},
            {"metric":"heart_rate","date":"2025-11-20","count":0,"manual_count":0,"auto_count":0,"average":null,
            "maximum":null,"minimum":null,"resting":[]}
            """#)
        let device = try #require(DeviceID("band-1"))
        let now = Timestamp(seconds: 1_763_683_200)
        func stored(_ sample: Sample, _ revision: Int = 1) -> StoredSample {
            StoredSample(
                sample: sample, of: device, revision: revision, receivedAt: now)
        }
        func sample(_ milliseconds: Int64, _ value: Double) -> Sample {
            Sample(metric: .heartRate, start: Timestamp(milliseconds: milliseconds), reading: .value(value))
        }
        let highest = Sample(
            metric: .heartRate, start: try #require(Timestamp(rfc3339: "2025-11-21T10:00:00.000Z")), kind: .maximum,
            isUserInitiated: true, revision: 2, reading: .value(120))
        #expect(
            days == [
                DailySummary(
                    metric: .heartRate, day: try #require(LocalDay("2025-11-20")), count: 0, manualCount: 0,
                    average: nil, details: .values(.init())),
                DailySummary(
                    metric: .heartRate, day: try #require(LocalDay("2025-11-21")), count: 12, manualCount: 2,
                    average: 61.4,
                    details: .values(
                        .init(
                            maximum: stored(highest, 2), minimum: stored(sample(1_763_683_200_000, 48)),
                            resting: [stored(sample(1_763_680_000_000, 51)), stored(sample(1_763_690_000_000, 52))]))),
            ])
    }

    @Test func `reads blood pressure, steps, sleep and sport`() async throws {
        let pressure = try await summaries(
            of: .bloodPressure,
            #"""
            {"date":"2025-11-21","count":1,"manual_count":1,"average":{"systolic":120,"diastolic":80,"pulse":null},
            "maximum_systolic":{"start":"2025-11-21T10:00:00Z","value":null,"fields":{"systolic":120,"diastolic":80,"pulse":60}},
            "minimum_systolic":null}
            """#)
        guard case .bloodPressure(let extremes) = pressure.first?.details else {
            Issue.record("no blood pressure")
            return
        }
        #expect(extremes.average == BloodPressure(systolic: 120, diastolic: 80))
        #expect(
            extremes.maximumSystolic?.sample.reading
                == .bloodPressure(BloodPressure(systolic: 120, diastolic: 80, pulse: 60)))
        #expect(extremes.minimumSystolic == nil)
        let steps = try await summaries(
            of: .steps,
            #"{"date":"2025-11-21","count":40,"manual_count":0,"total":9001,"distance_m":6400.5,"energy_kcal":null}"#)
        #expect(steps.first?.details == .count(total: 9_001, distance: 6_400.5, energy: nil))
        let morning = try #require(Timestamp(rfc3339: "2025-11-21T05:00:00Z"))
        let sleep = try await summaries(
            of: .sleep,
            #"""
            {"date":"2025-11-21","total":420,"deep_min":100,"light_min":200,"rem_min":120,"awake_min":9,
            "start":1763670000000,"end":"2025-11-21T05:00:00.000Z"}
            """#)
        #expect(
            sleep.first?.details
                == .sleep(
                    .init(
                        asleep: 420, deep: 100, light: 200, rem: 120, awake: 9,
                        start: Timestamp(milliseconds: 1_763_670_000_000),
                        end: morning)))
        let sport = try await summaries(
            of: .sport, #"{"date":"2025-11-21","auto_count":2,"total":61,"sessions":2,"distance_m":8000}"#)
        #expect(sport.first?.details == .sport(.init(minutes: 61, sessions: 2, distance: 8_000)))
        #expect(sport.first?.count == 2)
    }

    @Test(arguments: [
        "7", "{}", #"{"date":"2025-02-30"}"#, #"{"date":"2025-11-21","metric":"steps"}"#, #"{"date":17}"#,
    ])
    func `refuses days that are none`(day: String) async throws {
        await #expect(throws: DeviceError.self) { _ = try await summaries(of: .stress, day) }
    }
}
