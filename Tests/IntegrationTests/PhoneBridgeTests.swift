import Foundation
import GatewayTesting
import JSON
import MQTT
import TestSupport
import Testing

/// The example of a phone as bridge: every flow between the callbacks of its SDK and a consumer.
@Suite(.timeLimit(.minutes(10)))
struct PhoneBridgeTests {
    @Test func `a band behind a phone is read, each thing by the SDK's call for it`() async throws {
        try await withBench { bench in
            let phone = try PhoneDevice("phone", on: bench)
            _ = bench.startGateway()
            _ = phone.start()
            try await bench.synced("phone")
            let wanted: Set = [
                "initialize", "monitor/read", "history/read", "history/acknowledge", "summary/read",
                "SDK fetchAutoMonitorConfigs", "SDK syncRawData", "SDK syncRawRestingHeartRateData",
                "SDK syncDailyData", "SDK syncTodayRestingHeartRateData",
            ]
            let calls = try phone.journal().methods
            #expect(wanted.subtracting(calls) == [])
            let days = try await bench.command("phone/command/daily", id: "d", #""metric":"heart_rate","sync":true"#)
            #expect(days["status"]?.asString == "done")
            let count = days["data"]?["days"]?[0]?["device_summary"]?["count"]?.asInt ?? 0
            #expect(count > 0, "\(days)")

            try await phone.band(battery: 42, #""sync_errors":["blood_oxygen"]"#)
            let failed = try await bench.command("phone/command/sync", id: "s-1")
            #expect(failed["status"]?.asString == "failed")
            #expect(failed["data"]?["failed"]?.asArray?.map { $0["metric"]?.asString } == ["blood_oxygen"], "\(failed)")
            try await phone.band(battery: 43, #""sync_errors":[]"#)
            let again = try await bench.command("phone/command/sync", id: "s-2")
            #expect(again["status"]?.asString == "done", "\(again)")
            let clock = try await bench.command("phone/command/time", id: "t")
            #expect(clock["code"]?.asString == "unsupported")
        }
    }

    @Test func `a measurement is started, its readings are published, and its errors are answered`() async throws {
        try await withBench { bench in
            let phone = try PhoneDevice("phone", on: bench)
            _ = bench.startGateway()
            _ = phone.start()
            try await bench.synced("phone")
            for metric in ["heart_rate", "blood_pressure", "blood_oxygen"] {
                let answer = try await bench.command("phone/command/measure", id: metric, "\"metric\":\"\(metric)\"")
                #expect(answer["status"]?.asString == "done", "\(answer)")
                #expect(answer["data"]?["sample"]?["user_initiated"]?.asBool == true)
                try await bench.message("phone/measurement/\(metric)") { $0.json["source"]?.asString == "measure" }
            }
            for (number, (members, code)) in [
                (#""worn":false"#, "not_worn"), (#""worn":true,"busy":true"#, "busy"),
                (#""busy":false"#, "low_battery"),
            ].enumerated() {
                try await phone.band(battery: code == "low_battery" ? 5 : 50 + number, members)
                let answer = try await bench.command("phone/command/measure", id: code, #""metric":"heart_rate""#)
                #expect(answer["status"]?.asString == "failed")
                #expect(answer["code"]?.asString == code, "\(answer)")
            }
            try await bench.message("phone/wear") { $0.json["worn"]?.asBool == false }

            try await phone.band(battery: 70, #""reading_errors":1"#)
            let start = bench.position
            let answer = try await bench.command("phone/command/measure", id: "weak", #""metric":"heart_rate""#)
            #expect(answer["status"]?.asString == "done")
            try await bench.message("phone/measure", from: start) {
                $0.json["state"]?.asString == "measuring" && $0.json["error"]?.asString == "the reading was too weak"
            }
        }
    }

    @Test func `a measurement is stopped on command, and ends when the band is taken off`() async throws {
        try await withBench { bench in
            let phone = try PhoneDevice("phone", on: bench)
            _ = bench.startGateway()
            _ = phone.start(interval: 5)
            try await bench.synced("phone")
            let start = bench.position
            try await bench.publish("phone/command/measure", #"{"id":"m-1","metric":"heart_rate","duration_s":600}"#)
            try await bench.message("phone/measure", from: start) { $0.json["state"]?.asString == "measuring" }
            let stopped = try await bench.command("phone/command/measure", id: "stop", #""action":"stop""#)
            #expect(stopped["status"]?.asString == "done")
            #expect(try phone.journal().methods.contains("SDK stopMeasure"))
            try await bench.answer("m-1", from: start)

            let next = bench.position
            try await bench.publish("phone/command/measure", #"{"id":"m-2","metric":"heart_rate","duration_s":600}"#)
            try await bench.message("phone/measure", from: next) { $0.json["state"]?.asString == "measuring" }
            try phone.band(#"{"worn":false}"#)
            let answer = try await bench.answer("m-2", from: next).json
            #expect(answer["status"]?.asString == "failed")
            #expect(answer["code"]?.asString == "not_worn", "\(answer)")
        }
    }

    @Test func `settings are pushed and fetched, and what the SDK does not take is answered`() async throws {
        try await withBench { bench in
            let phone = try PhoneDevice("phone", on: bench)
            _ = bench.startGateway()
            _ = phone.start()
            try await bench.synced("phone")
            for (metric, change) in [
                ("heart_rate", #"{"resting_alert":{"enabled":true,"upper":97},"exercise_max_bpm":185}"#),
                ("blood_pressure", #"{"alert":{"enabled":true,"systolic_upper":150}}"#),
                ("blood_oxygen", #"{"alert":{"lower":92}}"#), ("stress", #"{"schedule":{"interval_min":30}}"#),
                ("temperature", #"{"alert":{"upper":39}}"#),
            ] {
                let answer = try await bench.command("phone/config/set", id: metric, "\"\(metric)\":\(change)")
                #expect(answer["status"]?.asString == "done", "\(answer)")
            }
            #expect(try phone.journal().methods.filter { $0 == "SDK pushAutoMonitorConfigs" }.count == 5)

            let half = try await bench.command(
                "phone/config/set", id: "half", #""temperature":{"alert":{"upper":38.5}}"#)
            #expect(half["status"]?.asString == "failed")
            #expect(half["code"]?.asString == "invalid", "\(half)")
            let fetched = try await bench.command("phone/command/fetch", id: "f", #""metrics":["temperature"]"#)
            #expect(fetched["data"]?["temperature"]?["alert"]?["upper"]?.asInt == 39, "\(fetched)")

            try await phone.band(battery: 61, #""refuses_push":true"#)
            let refused = try await bench.command("phone/config/set", id: "r", #""stress":{"alert":{"upper":80}}"#)
            #expect(refused["status"]?.asString == "failed")
            #expect(refused["code"]?.asString == "device_error", "\(refused)")
        }
    }

    @Test func `live values and alerts arrive at once, and after a kill of both sides what was kept`() async throws {
        try await withBench { bench in
            let phone = try PhoneDevice("phone", on: bench)
            let gateway = bench.startGateway()
            let app = phone.start()
            try await bench.synced("phone")
            let raised = #"{"metric":"heart_rate","value":131,"alert":"raised"}"#
            try phone.band("{\"live\":[\(raised)]}")
            try await bench.message("phone/latest/heart_rate") { $0.json["value"]?.asInt == 131 }
            let alert = try await bench.message("phone/event/alert")
            #expect(alert.json["event_type"]?.asString == "heart_rate_resting_high")
            #expect(alert.json["origin"]?.asString == "device")

            try await bench.end(gateway, by: .kill)
            try await app.says("the link has ended")
            let rate = #"{"metric":"heart_rate","value":132}"#
            let pressure = #"{"metric":"blood_pressure","value":133,"diastolic":81}"#
            try phone.band("{\"live\":[\(raised),\(rate),\(pressure)]}")
            try await app.events.wait(within: Bench.timeout) { events in
                events.count { $0.text.contains("is kept until there is a link") } == 2
            }
            try await bench.end(app, by: .kill)
            let restart = bench.position
            _ = bench.startGateway()
            _ = phone.start()
            try await bench.message("phone/measurement/heart_rate", from: restart) { message in
                (message.json["samples"]?.asArray ?? []).contains { $0["value"]?.asInt == 132 }
            }
            try await bench.message("phone/measurement/blood_pressure", from: restart) { message in
                (message.json["samples"]?.asArray ?? []).contains { $0["fields"]?["systolic"]?.asInt == 133 }
            }
            #expect(Consumer().read(bench.subscriber.messages).issues.isEmpty)
        }
    }

    @Test func `a phone calls again: after a refusal, with its band, and after the gateway disconnects`() async throws {
        try await withBench { bench in
            let phone = try PhoneDevice("phone", on: bench)
            try phone.token("another")
            let gateway = bench.startGateway()
            let app = phone.start()
            try await app.says("refuses the call: unauthorized")
            try phone.token("secret-of-phone")
            try await bench.synced("phone")

            let offline = bench.position
            try phone.band(#"{"connected":false}"#)
            try await bench.message("phone/link", from: offline) { $0.json["state"]?.asString != "connected" }
            let back = bench.position
            try phone.band(#"{"connected":true}"#)
            try await bench.connected("phone", from: back)

            gateway.interrupt(.end)
            try await gateway.end(within: Bench.timeout)
            #expect(gateway.events.elements.last?.text == "ended: exited(0)")
            #expect(try phone.journal().methods.last == "shutdown")
            let restart = bench.position
            _ = bench.startGateway()
            try await bench.connected("phone", from: restart)

            let end = bench.position
            try await bench.end(app, by: .end)
            #expect(app.events.elements.last?.text == "ended: exited(0)")
            try await bench.message("phone/link", from: end) { $0.json["state"]?.asString != "connected" }
        }
    }

    @Test func `a phone calls over TLS, and sends its secret to nobody else than its gateway`() async throws {
        try await withBench { bench in
            let certificates = try await Certificates.make(in: bench.folder)
            let phone = try PhoneDevice("phone", on: bench, tls: certificates)
            let gateway = bench.startGateway()
            // One that trusts another authority, and one that knows nothing of TLS.
            let wary = phone.start(ca: certificates.otherCA)
            try await wary.events.wait(within: Bench.timeout) { events in
                events.contains { $0.text.contains("no link") && $0.text.contains("CERTIFICATE_VERIFY_FAILED") }
            }
            try await bench.end(wary, by: .end)
            let plain = phone.start()
            try await plain.events.wait(within: Bench.timeout) { events in
                events.count { $0.text.contains("calling again") } >= 2
            }
            try await bench.end(plain, by: .end)
            #expect(bench.messages("phone/link").allSatisfy { $0.json["state"]?.asString != "connected" })

            _ = phone.start(ca: certificates.ca)
            try await bench.synced("phone")
            let answer = try await bench.command("phone/command/measure", id: "m", #""metric":"heart_rate""#)
            #expect(answer["status"]?.asString == "done", "\(answer)")
            #expect(!gateway.events.elements.contains { $0.text.contains("secret-of-phone") })
        }
    }
}
