import Foundation
import JSON
import TestSupport
import Testing

/// Exports of a phone, from the file to the subscriber.
@Suite(.timeLimit(.minutes(10)))
struct ExportTests {
    /// 2026-01-05 12:00 in UTC, in seconds.
    private static let noon = 1_767_614_400

    /// Heart rates by minutes since noon.
    private static func rates(_ count: Int, from first: Int = 0) -> String {
        """
        WITH RECURSIVE n(i) AS (SELECT \(first) UNION ALL SELECT i + 1 FROM n WHERE i + 1 < \(first + count))
        INSERT INTO COLMI_HEART_RATE_SAMPLE SELECT (\(noon) + i * 60) * 1000, 1, 1, 60 + i % 40 FROM n;
        """
    }

    /// A night of an hour: light sleep, and then a half of another stage.
    private static func night(atHour hour: Int, stage: Int = 3) -> String {
        let start = (noon + hour * 3600) * 1000
        return """
            INSERT INTO COLMI_SLEEP_SESSION_SAMPLE VALUES (\(start), 1, 1, \(start + 3_600_000));
            INSERT INTO COLMI_SLEEP_STAGE_SAMPLE VALUES (\(start), 1, 1, 30, 2), (\(start + 1_800_000), 1, 1, 30, \(stage));
            """
    }

    @Test func `the same export again adds nothing, and a corrected night raises its own revision alone`() async throws
    {
        try await withBench { bench in
            let nights = [Self.rates(3000), Self.night(atHour: 10), Self.night(atHour: 34)]
            let phone = try await PhoneExport(nights, on: bench)
            try await phone.wait(forExports: 1)
            let first = try await phone.knowledge(of: 3002)
            #expect(first.samples.count == 3002 && first.corrected.isEmpty && first.holes.isEmpty)
            for (series, starts) in first.starts { #expect(starts == starts.sorted(), "\(series)") }

            // Another file of the same content.
            try await phone.export(nights)
            let second = phone.knowledge()
            #expect(Set(second.samples.keys) == Set(first.samples.keys) && second.corrected.isEmpty)
            #expect(second.facts.count == first.facts.count)

            try await phone.export([Self.rates(3000), Self.night(atHour: 10), Self.night(atHour: 34, stage: 4)])
            let third = try await phone.knowledge(of: 3002, corrected: 1)
            #expect(Set(third.samples.keys) == Set(first.samples.keys))
            #expect(third.corrected == ["2026-01-06T22:00:00.000Z": 2])
            let stages = third.samples.values.first { $0["rev"]?.asInt == 2 }?["fields"]?["stages"]?.asArray
            #expect(stages?.map { $0["stage"]?.asString } == ["light", "rem"])
        }
    }

    @Test(arguments: [ChildProgram.Interruption.end, .kill])
    func `a correction of any day comes by itself if it was exported while the gateway did not run`(
        interruption: ChildProgram.Interruption
    ) async throws {
        try await withBench { bench in
            let phone = try await PhoneExport([Self.rates(3000)], on: bench)
            try await phone.gateway.events.wait(within: Bench.timeout) { events in
                events.contains { $0.text.contains("The export is stored.") }
            }
            try await bench.end(phone.gateway, by: interruption)
            // Two days before the newest rate, and far more than fourteen days ago.
            let correction =
                "UPDATE COLMI_HEART_RATE_SAMPLE SET HEART_RATE = 120 WHERE TIMESTAMP = \((Self.noon + 600) * 1000);"
            try await PhoneExport.write([Self.rates(3000), correction], as: "phone/Gadgetbridge.db", on: bench)
            _ = bench.startGateway()
            try await bench.message("ring/measurement/heart_rate") { message in
                (message.json["samples"]?.asArray ?? []).contains { $0["rev"]?.asInt == 2 }
            }
            let known = try await phone.knowledge(of: 3000, corrected: 1)
            #expect(known.samples.count == 3000 && known.corrected == ["2026-01-05T12:10:00.000Z": 2])
        }
    }

    @Test func `an export that is overwritten slowly and cut at two hundred points loses and invents nothing`()
        async throws
    {
        try await withBench { bench in
            let phone = try await PhoneExport([Self.rates(20_000, from: -20_000)], on: bench)
            try await phone.wait(forExports: 1)
            #expect(try await phone.knowledge(of: 20_000).samples.count == 20_000)
            try await PhoneExport.write([Self.rates(23_000, from: -20_000)], as: "new.db", on: bench)
            let writer = bench.programs.start(
                "python3",
                [Repository.fixture("slow_writer.py"), bench.path("phone/Gadgetbridge.db"), bench.path("new.db"), "9"])
            try await writer.end(within: Bench.timeout)
            #expect(writer.events.elements.map(\.text) == ["whole", "ended: exited(0)"])
            // The half-written ones were checked, and none of them was read.
            try await phone.wait(forExports: 2)
            #expect(phone.gateway.events.elements.contains { $0.text.contains("The export cannot be read now.") })
            #expect(phone.exports == 2)
            let known = try await phone.knowledge(of: 23_000)
            #expect(known.samples.count == 23_000 && known.corrected.isEmpty && known.holes.isEmpty)
            for sample in known.samples.values {
                let start = try #require(sample["start"]?.asString)
                let time = try Date(start, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))
                let minute = (Int(time.timeIntervalSince1970) - Self.noon) / 60
                #expect(sample["value"]?.asInt == 60 + minute % 40, "\(start)")
            }
        }
    }

    /// A count of the steps of the day, by hours since noon.
    private static func counts(_ counts: [(hour: Int, steps: Int)]) -> String {
        let rows = counts.map { "(\(noon + $0.hour * 3600), 1, 1, 0, \($0.steps), 0, 0)" }
        return "INSERT INTO CMF_ACTIVITY_SAMPLE VALUES \(rows.joined(separator: ", "));"
    }

    @Test func `a phone that changes its clock and its zone between exports doubles nothing`() async throws {
        try await withBench { bench in
            // Of the gateway's day in Berlin: noon in UTC is 13:00.
            let home = [(0, 1000), (3, 1500)]
            let phone = try await PhoneExport([Self.counts(home), Self.rates(60)], on: bench)
            try await phone.wait(forExports: 1)
            /// The steps of all samples that arrived, each once.
            func steps() -> Int {
                let samples = bench.messages("ring/measurement/steps").flatMap { $0.json["samples"]?.asArray ?? [] }
                let counts = samples.reduce(into: [String: Int]()) { $0[$1["id"]?.asString ?? ""] = $1["value"]?.asInt }
                return counts.values.reduce(0, +)
            }
            _ = try await phone.knowledge(of: 60 + 2)
            #expect(steps() == 1500)

            // It flies west by six hours: its day continues over Berlin's midnight, and its own midnight is at 17 hours.
            let away = home + [(10, 4000), (12, 4200), (18, 100), (22, 900)]
            try await phone.export([Self.counts(away), Self.rates(60)])
            // The hundred steps after the phone's midnight only begin its new count.
            let west = try await phone.knowledge(of: 60 + 5)
            #expect(steps() == 4200 + 800)
            #expect(west.corrected.isEmpty && west.samples.count == 60 + 5)

            // Its clock is set back by half an hour, and the last minutes are measured again.
            let again =
                "UPDATE COLMI_HEART_RATE_SAMPLE SET HEART_RATE = 120 WHERE TIMESTAMP >= \((Self.noon + 1800) * 1000);"
            try await phone.export([Self.counts(away), Self.rates(60), again])
            let known = try await phone.knowledge(of: 65, corrected: 30)
            #expect(known.samples.count == 65 && known.corrected.count == 30 && steps() == 5000)
            #expect(known.corrected.allSatisfy { $0.key >= "2026-01-05T12:30" && $0.value == 2 })
        }
    }
}
