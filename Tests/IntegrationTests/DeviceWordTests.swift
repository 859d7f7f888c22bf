import Foundation
import GatewayTesting
import JSON
import TestSupport
import Testing

/// What a device says of itself, of its days and of a measurement: what becomes of it, and what is asked of it.
@Suite(.timeLimit(.minutes(10)))
struct DeviceWordTests {
    @Test func `a device's own days are asked for as far back as asked, and one that fails is a failed row`()
        async throws
    {
        try await withBench { bench in
            // Noon, so that the days are the same in the gateway's zone.
            let noon = (Date.now.timeIntervalSince1970 / 86_400).rounded(.down) * 86_400 + 43_200
            let old = Date(timeIntervalSince1970: noon - 200 * 86_400)
            let day = old.formatted(.iso8601.year().month().day())
            let record = #"{"metric":"stress","start":\#(Int(noon - 200 * 86_400) * 1_000),"value":31}"#
            let device = try AnswersDevice(
                "band", on: bench,
                capabilities:
                    #"{"heart_rate":{"history":true,"summary":true},"stress":{"history":true,"summary":true}}"#,
                answers: [
                    "summary/read heart_rate":
                        #"{"result":{"days":[{"date":"\#(day)","count":40,"manual_count":2,"average":61.5}]}}"#,
                    "history/read stress": #"{"result":{"samples":[\#(record)],"next":null}}"#,
                    "summary/read stress": #"{"error":{"code":6,"message":"The days are lost."}}"#,
                ])
            try bench.configure([device.entry], sync: "{first: 10d}")
            _ = bench.startGateway()
            let first = try await bench.message("band/sync") { $0.json["state"]?.asString == "failed" }
            #expect(first.json["error"]?.asString?.contains("The days are lost.") == true)
            #expect((first.json["metrics_done"]?.asInt, first.json["metrics_total"]?.asInt) == (2, 2))
            let asked = try device.journal().lines.count { $0["method"]?.asString == "summary/read" }
            #expect(asked == 2)

            let answer = try await bench.command(
                "band/command/sync", id: "far",
                #""metrics":["heart_rate","stress"],"from":"\#(old.addingTimeInterval(-3_600).ISO8601Format())""#)
            #expect(answer["status"]?.asString == "failed")
            let rows = answer["data"]?["metrics"]?.asArray ?? []
            #expect(rows.map { $0["metric"]?.asString } == ["heart_rate", "stress"])
            #expect(rows.map { $0["state"]?.asString } == ["done", "failed"])
            #expect((rows.last?["code"]?.asString, rows.last?["new"]?.asInt) == ("device_error", 1))
            #expect(rows.last?["error"]?.asString?.contains("The days are lost.") == true, "\(rows)")

            let calls = try device.journal().lines.filter {
                $0["method"]?.asString == "summary/read" && $0["params"]?["metric"]?.asString == "heart_rate"
            }.dropFirst().compactMap { $0["params"] }
            #expect(calls.count == 3)
            #expect(calls.first?["from_day"]?.asString == day)
            let days = try await bench.command(
                "band/command/daily", id: "day", #""metric":"heart_rate","from_day":"\#(day)","to_day":"\#(day)""#)
            let reported = days["data"]?["days"]?[0]
            #expect(reported?["device_summary"]?["average"]?.asDouble == 61.5, "\(days)")
            #expect((reported?["count"]?.asInt, reported?["device_summary"]?["count"]?.asInt) == (0, 40))
        }
    }

    @Test func `resting items are the same in the days of both metrics of the heart`() async throws {
        try await withBench { bench in
            let day = (Date.now.timeIntervalSince1970 / 86_400).rounded(.down) * 86_400 - 3 * 86_400
            func record(_ metric: String, _ hour: Int, _ value: Int, _ members: String = "") -> String {
                #"{"metric":"\#(metric)","start":\#(Int(day) * 1_000 + hour * 3_600_000),"value":\#(value)\#(members)}"#
            }
            let resting = #","kind":"resting""#
            let rates = [record("heart_rate", 8, 90), record("heart_rate", 9, 58, resting)]
            let others = [record("resting_heart_rate", 9, 58), record("resting_heart_rate", 11, 55)]
            let device = try AnswersDevice(
                "band", on: bench,
                capabilities: #"{"heart_rate":{"history":true},"resting_heart_rate":{"history":true}}"#,
                answers: [
                    "history/read heart_rate": #"{"result":{"samples":[\#(rates.joined(separator: ","))]}}"#,
                    "history/read resting_heart_rate": #"{"result":{"samples":[\#(others.joined(separator: ","))]}}"#,
                ])
            try await bench.start([device.entry], synced: "band")
            let date = Date(timeIntervalSince1970: day + 43_200).formatted(.iso8601.year().month().day())
            for metric in ["heart_rate", "resting_heart_rate"] {
                for items in [true, false] {
                    let answer = try await bench.command(
                        "band/command/daily", id: "\(metric) \(items)",
                        #""metric":"\#(metric)","from_day":"\#(date)","to_day":"\#(date)","items":\#(items)"#)
                    let list = answer["data"]?["days"]?[0]?["resting"]?.asArray ?? []
                    #expect(list.map { $0["value"]?.asInt } == [58, 55], "\(answer)")
                }
                let reported = try await bench.message("band/daily/\(metric)/\(date)") {
                    $0.json["resting"]?.asArray?.count == 2
                }
                #expect(reported.json["resting"]?.asArray?.map { $0["value"]?.asInt } == [58, 55])
            }
        }
    }

    @Test(arguments: ["heart_rate", "resting_heart_rate"])
    func `resting items are the same in a day that only one metric of the heart has`(only: String) async throws {
        try await withBench { bench in
            let day = (Date.now.timeIntervalSince1970 / 86_400).rounded(.down) * 86_400 - 3 * 86_400
            let samples = [(9, 58), (11, 55)].map { hour, value in
                #"{"metric":"\#(only)","start":\#(Int(day) * 1_000 + hour * 3_600_000),"value":\#(value),"kind":"resting"}"#
            }
            let device = try AnswersDevice(
                "band", on: bench,
                capabilities: #"{"heart_rate":{"history":true},"resting_heart_rate":{"history":true}}"#,
                answers: ["history/read \(only)": #"{"result":{"samples":[\#(samples.joined(separator: ","))]}}"#])
            try await bench.start([device.entry], synced: "band")
            let date = Date(timeIntervalSince1970: day + 43_200).formatted(.iso8601.year().month().day())
            for metric in ["heart_rate", "resting_heart_rate"] {
                let reported = try await bench.message("band/daily/\(metric)/\(date)") {
                    $0.json["resting"]?.asArray?.map { $0["value"]?.asInt } == [58, 55]
                }
                #expect(reported.json["count"]?.asInt == (metric == only ? 2 : 0))
                let answer = try await bench.command(
                    "band/command/daily", id: metric,
                    #""metric":"\#(metric)","from_day":"\#(date)","to_day":"\#(date)""#)
                let days = answer["data"]?["days"]?.asArray ?? []
                #expect(days.map { $0["resting"]?.asArray?.map { $0["value"]?.asInt } } == [[58, 55]], "\(answer)")
            }
        }
    }

    @Test func `limits for exercise are taken only where an exercise can be reported`() async throws {
        try await withBench { bench in
            let capabilities = [
                "cannot": #"{"heart_rate":{"monitor":true,"history":true}}"#,
                "flags": #"{"heart_rate":{"monitor":true,"exercise":true}}"#,
                "workouts": #"{"heart_rate":{"history":true},"sport":{"history":true}}"#,
            ]
            let devices = try capabilities.map { try AnswersDevice($0.key, on: bench, capabilities: $0.value) }
            try bench.configure(devices.map(\.entry))
            _ = bench.startGateway()
            for device in devices {
                try await bench.connected(device.id)
                let start = bench.position
                let answer = try await bench.command(
                    "\(device.id)/config/set", id: device.id,
                    #""heart_rate":{"exercise_alert":{"enabled":true,"upper":170}}"#)
                guard device.id == "cannot" else {
                    #expect(answer["status"]?.asString == "done", "\(answer)")
                    try await bench.message("\(device.id)/config", from: start) {
                        $0.json["heart_rate"]?["exercise_alert"]?["upper"]?.asInt == 170
                    }
                    continue
                }
                #expect((answer["status"]?.asString, answer["code"]?.asString) == ("rejected", "unsupported"))
                let paths = answer["violations"]?.asArray?.compactMap { $0["path"]?.asString } ?? []
                #expect(Set(paths) == ["heart_rate.exercise_alert.enabled", "heart_rate.exercise_alert.upper"])
                let config = try await bench.message("\(device.id)/config", from: start)
                #expect(config.json["heart_rate"]?["exercise_alert"]?["upper"]?.isNull == true)
            }
        }
    }

    @Test func `what is changed on the device itself is drift, and what it has is reported`() async throws {
        try await withBench { bench in
            func has(_ upper: Int) -> [String: String] {
                let alert = #"{"enabled":true,"lower":10,"upper":\#(upper)}"#
                return ["monitor/read": #"{"result":{"configuration":{"alert":\#(alert)}}}"#]
            }
            let device = try AnswersDevice(
                "band", on: bench, capabilities: #"{"stress":{"monitor":true,"alert":true}}"#, answers: has(70))
            try bench.configure([device.entry])
            _ = bench.startGateway()
            try await bench.message("band/config") { $0.json["stress"]?["alert"]?["upper"]?.asInt == 70 }
            try device.answer(has(80))
            let start = bench.position
            let fetched = try await bench.command("band/command/fetch", id: "f")
            #expect(fetched["data"]?["stress"]?["alert"]?["upper"]?.asInt == 80, "\(fetched)")
            let config = try await bench.message("band/config", from: start) { $0.json["drift"]?.asArray != [] }.json
            #expect(config["drift"] == ["stress.alert.upper"])
            #expect(config["reported"]?["stress.alert.upper"]?.asInt == 80)
            #expect(config["stress"]?["alert"]?["upper"]?.asInt == 70)
        }
    }

    @Test func `a device that is busy or has no power left is answered with that`() async throws {
        try await withBench { bench in
            let device = try AnswersDevice(
                "band", on: bench,
                capabilities: #"{"stress":{"measure":true,"history":true},"temperature":{"measure":true}}"#)
            try await bench.start([device.entry], synced: "band")
            let busy = #"{"error":{"code":2,"message":"Something else is going on."}}"#
            try device.answer([
                "measurement/start temperature": #"{"error":{"code":5,"message":"Charge it."}}"#,
                "measurement/start stress": busy, "history/read": busy,
            ])
            let start = bench.position
            let empty = try await bench.command("band/command/measure", id: "t", #""metric":"temperature""#)
            #expect((empty["status"]?.asString, empty["code"]?.asString) == ("failed", "low_battery"))
            #expect(empty["message"]?.asString == "Charge it.")
            try await bench.message("band/measure", from: start) {
                $0.json["state"]?.asString == "failed" && $0.json["error"]?.asString == "Charge it."
            }
            let measured = try await bench.command("band/command/measure", id: "m", #""metric":"stress""#)
            #expect((measured["status"]?.asString, measured["code"]?.asString) == ("failed", "busy"))
            #expect(measured["message"]?.asString == "Something else is going on.")
            let read = try await bench.command("band/command/sync", id: "s", #""metrics":["stress"]"#)
            #expect((read["status"]?.asString, read["code"]?.asString) == ("failed", "busy"), "\(read)")
            let row = read["data"]?["metrics"]?[0]
            #expect((row?["state"]?.asString, row?["code"]?.asString) == ("failed", "busy"))
            #expect(row?["error"]?.asString == "Something else is going on.")
        }
    }

    @Test func `what a command measured is user-initiated where the device does not say so`() async throws {
        try await withBench { bench in
            let sample = #"{"metric":"heart_rate","start":\#(AnswersDevice.moment(secondsAgo: 2)),"value":72}"#
            let device = try AnswersDevice(
                "band", on: bench, capabilities: #"{"heart_rate":{"measure":true,"history":true}}"#)
            try await bench.start([device.entry], synced: "band")
            try device.answer([
                "measurement/start": #"""
                {"result":{"measurement":1},"tell":[
                {"method":"measurement/sample","params":{"measurement":1,"sample":\#(sample)}},
                {"method":"measurement/ended","params":{"measurement":1,"completed":true}}]}
                """#,
                "history/read": #"{"result":{"samples":[\#(sample)],"next":null}}"#,
            ])
            let answer = try await bench.command("band/command/measure", id: "m", #""metric":"heart_rate""#)
            #expect(answer["status"]?.asString == "done")
            #expect(answer["data"]?["sample"]?["user_initiated"]?.asBool == true, "\(answer)")
            let reported = try await bench.message("band/measurement/heart_rate").json
            #expect(reported["source"]?.asString == "measure")
            #expect(reported["samples"]?[0]?["user_initiated"]?.asBool == true)
            let latest = try await bench.message("band/latest/heart_rate") { $0.json["value"]?.asInt == 72 }
            #expect(latest.json["user_initiated"]?.asBool == true)

            // The history says it once more, and does not know either.
            let read = try await bench.command("band/command/sync", id: "s")
            #expect((read["data"]?["samples_new"]?.asInt, read["data"]?["samples_known"]?.asInt) == (0, 1), "\(read)")
            let kept = try await bench.command(
                "band/command/history", id: "h", #""metric":"heart_rate","user_initiated":true"#)
            #expect(kept["data"]?["samples"]?.asArray?.count == 1)
        }
    }
}
