import Foundation
import JSON
import TestSupport
import Testing
import Vitals

/// A sensor of glucose whose app uploads as to Nightscout, in the whole gateway, with a real curl and broker.
@Suite(.timeLimit(.minutes(5)))
struct NightscoutPushTests {
    @Test func `uploads are glucose with alerts, again they change nothing, and those of the future are refused`()
        async throws
    {
        try await withBench { bench in
            let port = try freePort()
            try bench.secret("clara's sixteen letters", as: "clara.token")
            try bench.configure(
                [
                    "{id: clara, driver: nightscout, fresh_for: {blood_glucose: 15m}, alerts: {cooldown: 0s}, "
                        + "transport: {type: http, token: {file: clara.token}}}"
                ], web: "{listen: \"127.0.0.1:\(port)\"}")
            _ = bench.startGateway()
            try await bench.message("clara/link") { $0.json["state"]?.asString == "connecting" }
            let now = Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
            /// Uploads values at minutes from now, or the battery. Returns the report.
            func upload(_ values: [(minute: Int, value: Int)], to path: String = "entries") async throws -> JSONValue {
                let entries = values.map { minute, value in
                    let time = (now + .minutes(minute)).milliseconds
                    return
                        #"{"type":"sgv","device":"xDrip-DexcomG5","date":\#(time),"sgv":\#(value),"direction":"Flat"}"#
                }
                let battery = #"{"device":"Pixel","uploader":{"battery":60,"type":"PHONE"}}"#
                try (path == "entries" ? "[\(entries.joined(separator: ","))]" : battery)
                    .write(toFile: bench.path("upload"), atomically: true, encoding: .utf8)
                let answer = try await bench.post(
                    bench.path("upload"), to: "/v1/devices/clara/api/v1/\(path)", "clara's sixteen letters", port: port)
                #expect(answer.status == 200, "\(answer)")
                return try #require(answer.json.asArray?.first)
            }
            _ = try await upload([], to: "devicestatus")
            try await bench.message("clara/latest/battery") { $0.json["value"]?.asDouble == 60 }
            let set = try await bench.command(
                "clara/config/set", id: "limit", #""blood_glucose":{"alert":{"enabled":true,"lower":70,"upper":180}}"#)
            #expect(set["status"]?.asString == "done")

            // The clock of the phone was ten minutes, and ten days, ahead for a while.
            let values = [(-10, 100), (-5, 69), (10, 300), (14_400, 301)]
            let first = try await upload(values)
            #expect(first["new"]?.asInt == 2, "\(first)")
            let refused: JSONValue = ["reason": "The sample lies in the future; set the device's clock.", "count": 2]
            #expect(first["refused"]?.asArray == [refused], "\(first)")
            try await bench.message("clara/alert/blood_glucose_low") { $0.json["state"]?.asString == "active" }
            let latest = try await bench.message("clara/latest/blood_glucose") { $0.json["value"]?.asDouble == 69 }
            #expect(latest.json["fresh_until"]?.asString == "\(now + .minutes(10))")
            #expect(latest.json["fields"]?["specimen"]?.asString == "interstitial_fluid")
            let again = try await upload(values.reversed())
            #expect(
                again["new"]?.asInt == 0 && again["corrected"]?.asInt == 0 && again["known"]?.asInt == 2, "\(again)")

            // 72 mg/dL is above the limit, but not by the hysteresis of 5.
            _ = try await upload([(-3, 72)])
            try await bench.message("clara/latest/blood_glucose") { $0.json["value"]?.asDouble == 72 }
            #expect(bench.messages("clara/alert/blood_glucose_low").last?.json["state"]?.asString == "active")
            let last = bench.position
            _ = try await upload([(-2, 76)])
            try await bench.message("clara/alert/blood_glucose_low", from: last) { $0.json["state"]?.asString == "ok" }
            // Nothing of the future has become a value.
            let history = try await bench.command(
                "clara/command/history", id: "all",
                #""metric":"blood_glucose","from":"2020-01-01T00:00:00Z","to":"2199-01-01T00:00:00Z","limit":25"#)
            #expect(
                (history["data"]?["samples"]?.asArray ?? []).compactMap { $0["value"]?.asInt } == [100, 69, 72, 76])
        }
    }
}
