import Foundation
import JSON
import MQTT
import TestSupport
import Testing

/// Records that replace others, from a device's history to a consumer.
@Suite(.timeLimit(.minutes(10)))
struct RecordTests {
    @Test func `a night that grows is one night, in messages, days, the latest value and the history`() async throws {
        try await withBench { bench in
            let device = try RecordsDevice("band", on: bench, capabilities: #"{"sleep":{"history":true}}"#)
            // A night and a nap that are over.
            let end = Date(timeIntervalSince1970: (Date.now.timeIntervalSince1970 / 60).rounded(.down) * 60 - 36_000)
            let begin = end.addingTimeInterval(-6 * 3_600)
            let nap = RecordsDevice.sleep(
                from: end.addingTimeInterval(3 * 3_600), to: end.addingTimeInterval(3.5 * 3_600))
            let short = RecordsDevice.sleep(from: begin, to: end)
            let long = RecordsDevice.sleep(from: begin, to: end.addingTimeInterval(7_200))
            try device.keep([short])
            _ = bench.startGateway()
            let first = try await bench.message("band/measurement/sleep").json["samples"]?[0] ?? .null
            #expect(first["value"]?.asInt == 360 && first["withdrawn"]?.asBool == false)

            try device.keep([long, nap])
            let start = bench.position
            let answer = try await device.sync("grown")
            #expect(answer["data"]?["samples_new"]?.asInt == 2, "\(answer)")
            let message = try await bench.message("band/measurement/sleep", from: start)
            let samples = message.json["samples"]?.asArray ?? []
            #expect(samples.map { $0["value"]?.asInt } == [360, 480, 30])
            #expect(samples.map { $0["withdrawn"]?.asBool } == [true, false, false])
            #expect(samples.first?["id"] == first["id"] && samples.first?["rev"]?.asInt == 2)
            try await bench.message("band/latest/sleep", from: start) { $0.json["value"]?.asInt == 30 }

            let kept = try await bench.command("band/command/history", id: "kept", #""metric":"sleep""#)
            #expect(kept["data"]?["samples"]?.asArray?.map { $0["value"]?.asInt } == [480, 30])
            // The night may have ended yesterday.
            let yesterday = Date.now.addingTimeInterval(-172_800).formatted(.iso8601.year().month().day())
            let days = try await bench.command(
                "band/command/daily", id: "days", #""metric":"sleep","from_day":"\#(yesterday)""#)
            let totals = (days["data"]?["days"]?.asArray ?? []).compactMap { $0["total"]?.asInt }
            #expect(totals.reduce(0, +) == 510, "\(days)")

            let again = bench.position
            try device.keep([short, long, nap])
            let second = try await device.sync("again")
            #expect(second["data"]?["samples_new"]?.asInt == 0)
            #expect(second["data"]?["samples_known"]?.asInt == 3)
            #expect(bench.messages("band/measurement/sleep", from: again).isEmpty)

            try await bench.command("gateway/command/replay", id: "replay", #""from_seq":1,"to_seq":100"#)
            let replayed = try await bench.message("band/measurement/sleep", from: again).json
            #expect(replayed["samples"]?[0]?["withdrawn"]?.asBool == true)
        }
    }

    @Test func `a workout and steps that grow count once, in messages, sums and zones`() async throws {
        try await withBench { bench in
            let device = try RecordsDevice(
                "band", on: bench,
                capabilities: #"{"heart_rate":{"monitor":true,"history":true},"sport":{"history":true},"#
                    + #""steps":{"history":true}}"#,
                configuration: #"{"exercise_max_bpm":200}"#)
            let start = Date(timeIntervalSince1970: (Date.now.timeIntervalSince1970 / 60).rounded(.down) * 60 - 20_000)
            func end(_ minutes: Int) -> Date { start.addingTimeInterval(Double(minutes) * 60) }
            /// Half an hour at 130 bpm, and what follows at 170; ten steps a minute.
            func records(_ minutes: Int) -> [JSONValue] {
                let rates = (0..<minutes).map { minute in
                    RecordsDevice.record(
                        "heart_rate", from: end(minute), [JSONValue.Member("value", minute < 30 ? 130 : 170)])
                }
                let workout = [JSONValue.Member("activity", "running")]
                let count = [JSONValue.Member("value", .number(Double(minutes * 10)))]
                return rates + [
                    RecordsDevice.record("sport", from: start, to: end(minutes), workout),
                    RecordsDevice.record("steps", from: start, to: end(minutes), count),
                ]
            }
            try device.keep(records(30))
            _ = bench.startGateway()
            try await bench.synced("band")
            let workout = try await bench.message("band/measurement/sport").json["samples"]?[0] ?? .null
            let steps = try await bench.message("band/measurement/steps").json["samples"]?[0] ?? .null
            #expect(workout["value"]?.asInt == 30 && steps["value"]?.asInt == 300)

            try device.keep(records(40))
            let position = bench.position
            try await device.sync("grown")
            for (metric, old, value) in [("sport", workout, 40), ("steps", steps, 400)] {
                let samples = try await bench.message("band/measurement/\(metric)", from: position).json["samples"]
                #expect(samples?.asArray?.map { $0["withdrawn"]?.asBool } == [true, false], "\(metric)")
                #expect(samples?[0]?["id"] == old["id"] && samples?[0]?["rev"]?.asInt == 2, "\(metric)")
                #expect(samples?[1]?["value"]?.asInt == value, "\(metric)")
            }

            let range =
                #","from_day":"\#(Date.now.addingTimeInterval(-172_800).formatted(.iso8601.year().month().day()))""#
            for (metric, total) in [("sport", 40), ("steps", 400)] {
                let answer = try await bench.command(
                    "band/command/daily", id: metric, #""metric":"\#(metric)""# + range)
                let days = answer["data"]?["days"]?.asArray ?? []
                #expect(days.reduce(0) { $0 + ($1["total"]?.asInt ?? 0) } == total, "\(answer)")
                #expect(days.reduce(0) { $0 + ($1["count"]?.asInt ?? 0) } == 1, "\(answer)")
                if metric == "sport" {
                    let workouts = days.flatMap { $0["workouts"]?.asArray ?? [] }
                    #expect(workouts.map { $0["zones_min"] } == [[0, 30, 0, 10, 0]], "\(answer)")
                }
            }
        }
    }

    @Test func `what a cuff brings from the last weeks is historical, and what it measured just now is not`()
        async throws
    {
        try await withBench { bench in
            let device = try RecordsDevice("cuff", on: bench, capabilities: #"{"blood_pressure":{"history":true}}"#)
            let now = Date.now
            try device.keep(
                [25 * 86_400, 86_400, 4_000, 60].map { seconds in
                    RecordsDevice.record(
                        "blood_pressure", from: now.addingTimeInterval(-Double(seconds)),
                        [JSONValue.Member("systolic", 121), JSONValue.Member("diastolic", 80)])
                })
            _ = bench.startGateway()
            try await bench.synced("cuff")
            try await bench.subscriber.wait(deadline: Bench.timeout) { messages in
                messages.filter { $0.topic.hasSuffix("/cuff/measurement/blood_pressure") }
                    .reduce(0) { $0 + ($1.json["samples"]?.asArray?.count ?? 0) } >= 4
            }
            let messages = bench.messages("cuff/measurement/blood_pressure").map(\.json)
            let counts = messages.map {
                [$0["historical"]?.asBool == true ? 1 : 0, $0["samples"]?.asArray?.count ?? 0]
            }
            #expect(counts == [[1, 3], [0, 1]])
        }
    }

    @Test func `a workout and its day have minutes in zones, and a day lists its samples`() async throws {
        try await withBench { bench in
            let device = try RecordsDevice(
                "band", on: bench,
                capabilities: #"{"heart_rate":{"monitor":true,"history":true},"sport":{"history":true}}"#,
                configuration: #"{"exercise_max_bpm":200}"#)
            // Half an hour at 130 bpm, ten minutes of it at 170, some hours ago.
            let start = Date(timeIntervalSince1970: (Date.now.timeIntervalSince1970 / 60).rounded(.down) * 60 - 20_000)
            let rates = (0..<30).map { minute in
                RecordsDevice.record(
                    "heart_rate", from: start.addingTimeInterval(Double(minute) * 60),
                    [
                        JSONValue.Member("value", (10..<20).contains(minute) ? 170 : 130),
                        JSONValue.Member("user_initiated", .bool(minute == 5)),
                    ])
            }
            let workout = RecordsDevice.record(
                "sport", from: start, to: start.addingTimeInterval(1_800), [JSONValue.Member("activity", "running")])
            try device.keep(rates + [workout])
            _ = bench.startGateway()
            try await bench.synced("band")
            let range =
                #""from_day":"\#(Date.now.addingTimeInterval(-172_800).formatted(.iso8601.year().month().day()))""#
            let sport = try await bench.command("band/command/daily", id: "sport", #""metric":"sport","# + range)
            let workouts = (sport["data"]?["days"]?.asArray ?? []).flatMap { $0["workouts"]?.asArray ?? [] }
            #expect(workouts.map { $0["zones_min"] } == [[0, 20, 0, 10, 0]], "\(sport)")
            #expect(workouts.first?["activity"]?.asString == "running")

            let answer = try await bench.command(
                "band/command/daily", id: "items", #""metric":"heart_rate","items":true,"# + range)
            let days = answer["data"]?["days"]?.asArray ?? []
            #expect(days.reduce(0) { $0 + ($1["manual_items"]?.asArray?.count ?? 0) } == 1, "\(answer)")
            #expect(days.reduce(0) { $0 + ($1["auto_items"]?.asArray?.count ?? 0) } == 29)
            // The last heart rate of a day adds no time, and midnight may lie between them.
            let minutes = days.flatMap { $0["zones_min"]?.asArray ?? [] }.compactMap(\.asDouble).reduce(0, +)
            #expect([28, 29].contains(minutes), "\(days)")
            try await bench.message("band/daily/heart_rate") { $0.json["zones_min"]?.asArray?.count == 5 }
        }
    }

    @Test func `a day that was read and has no steps has zero steps`() async throws {
        try await withBench { bench in
            let device = try RecordsDevice("band", on: bench, capabilities: #"{"steps":{"history":true}}"#)
            try device.keep([])
            _ = bench.startGateway()
            let day = try await bench.message("band/daily/steps").json
            #expect(day["total"]?.asInt == 0 && day["count"]?.asInt == 0 && day["final"]?.asBool == false)
            let answer = try await bench.command("band/command/daily", id: "today", #""metric":"steps""#)
            #expect(answer["data"]?["days"]?[0]?["total"]?.asInt == 0, "\(answer)")
        }
    }
}
