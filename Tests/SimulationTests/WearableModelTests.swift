import GatewayKit
import GatewayTesting
import JSON
import TestSupport
import Testing
import Vitals

/// The simulator's models behind a whole gateway: supported operations succeed, and others are refused.
@Suite struct WearableModelTests {
    private static let models = ["band", "ring", "cuff", "oximeter", "scale", "glucose"]

    private func run(_ models: [String], _ body: @escaping @Sendable (Scenario) async throws -> Void) throws {
        try Simulation.run(seed: 1, deadline: .days(1)) { simulation in
            let home = try Scenario(simulation)
            let setups = try models.map { model in
                try home.simulated(model, [("model", model), ("live_interval", "off"), ("history_days", "1")])
            }
            try await home.run(setups) {
                for model in models { try await home.settled(model) }
                try await body(home)
            }
        }
    }

    @Test func `an oximeter without monitoring is measured by the gateway's schedule`() throws {
        try run(["oximeter"]) { home in
            // Between two slots of the schedule.
            try await home.sleep(for: .minutes(10))
            let start = home.position
            let set = try await home.ask(
                "oximeter/config/set",
                #""blood_oxygen":{"schedule":{"enabled":true,"start":"00:00","end":"24:00","interval_min":30}}"#)
            #expect(set["status"]?.asString == "done")
            try await home.sleep(for: .minutes(95))
            let off = try await home.ask("oximeter/config/set", #""blood_oxygen":{"schedule":{"enabled":false}}"#)
            #expect(off["status"]?.asString == "done")
            let end = home.position
            let measured = home.samples("oximeter/measurement/blood_oxygen", in: start..<end)
            #expect(measured.count == 180, "Three minutes, a value a second.")
            #expect(measured.allSatisfy { $0["user_initiated"]?.asBool == false })
            let minutes = Set(measured.compactMap { $0["start"]?.asString?.prefix(16).suffix(2) })
            #expect(minutes.allSatisfy { ["00", "01", "30", "31"].contains($0) }, "\(minutes)")
            // The device has no monitoring, so no change waits for it.
            let config = try await home.message("oximeter/config", from: start)
            #expect(config["pending"] == [])
            #expect(config["blood_oxygen"]?["schedule"]?["interval_min"]?.asInt == 30)

            try await home.sleep(for: .hours(2))
            #expect(home.samples("oximeter/measurement/blood_oxygen", in: end..<home.position).isEmpty)
        }
    }

    @Test func `each model says what it can do, and refuses the rest`() throws {
        try run(Self.models) { home in
            var abilities: [String: JSONValue] = [:]
            for model in Self.models {
                abilities[model] = try await home.message("\(model)/info") { $0["capabilities"] != .null }[
                    "capabilities"]
            }
            func can(_ model: String, _ metric: String, _ ability: String) -> Bool? {
                abilities[model]?[metric]?[ability]?.asBool
            }
            for metric in Metric.monitored {
                let device = metric == .bloodGlucose ? "glucose" : "band"
                #expect(can(device, metric.rawValue, "monitor") == true)
                #expect(can(device, metric.rawValue, "alert") == !metric.alertSubjects.isEmpty)
            }
            #expect(abilities["scale"]?.asObject?.map(\.key) == ["weight"])
            #expect(can("ring", "heart_rate", "schedule_interval") == true)
            #expect(can("ring", "heart_rate", "schedule_time") == false)
            #expect(can("ring", "blood_pressure", "measure") == nil)
            #expect(abilities["cuff"]?.asObject?.map(\.key) == ["blood_pressure"])
            #expect(can("oximeter", "blood_oxygen", "measure") == true)
            #expect(can("oximeter", "blood_oxygen", "monitor") == false)

            let refused = [
                ("ring/command/measure", #""metric":"blood_pressure""#),
                ("ring/config/set", #""blood_pressure":{"alert":{"systolic_upper":150}}"#),
                ("ring/config/set", #""heart_rate":{"schedule":{"start":"08:00"}}"#),
                ("cuff/command/sync", #""metrics":["heart_rate"]"#),
                ("cuff/command/daily", #""metric":"steps","sync":true"#),
                ("scale/command/measure", #""metric":"weight""#),
                ("oximeter/command/fetch", #""metrics":["blood_oxygen"]"#),
            ]
            for (topic, members) in refused {
                let answer = try await home.ask(topic, members)
                #expect(answer["status"]?.asString == "rejected", "\(topic): \(answer)")
                #expect(answer["code"]?.asString == "unsupported", "\(topic): \(answer)")
            }
            // No device has such a setting.
            let fever = try await home.ask("band/config/set", #""skin_temperature":{"alert":{"upper":38}}"#)
            #expect(fever["code"]?.asString == "invalid")
            let fetched = try await home.ask("band/command/fetch", #""metrics":["stress"]"#)
            #expect(fetched["data"]?.asObject?.map(\.key) == ["stress"])
            #expect(fetched["data"]?["stress"]?["schedule"]?["enabled"]?.asBool == true)
        }
    }
}
