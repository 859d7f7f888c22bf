import Engines
import Foundation
import Gateway
import GatewayKit
import GatewayTesting
import JSON
import Link
import TestSupport
import Testing
import Vitals

/// A metric that exists only in the table, from a device on Vitals Link to Home Assistant.
@Suite struct NewMetricTests {
    @Test func `a metric with one value is a row of the table, and needs nothing else`() async {
        // Uses a separate process, whose table has one more row, and one of a counter.
        await #expect(processExitsWith: .success) {
            MetricTable.add([
                MetricDescription(
                    "skin_tension", .value, unit: "mN", range: 0...50, decimals: 2, freshness: .hours(1),
                    qualifiers: [QualifierDescription(Qualifier(rawValue: "site"), ["arm", "leg"])],
                    monitoring: .init(from: 0, to: 1440, every: 15, limits: [(.value, 5...40)], hysteresis: 1, count: 1)
                ),
                MetricDescription("rope_skips", .count, unit: "skips", range: 0...1000, decimals: 1),
            ])
            // An error that leaves this closure would not be reported.
            do {
                // Starts at noon, so that the values of the last half hour belong to one day.
                let noon = Simulation.defaultStart + .hours(12)
                try Simulation.run(seed: 1, start: noon, deadline: .hours(2)) { simulation in
                    try await NewMetric(simulation).travels()
                }
            } catch { Issue.record(error) }
        }
    }
}

/// A scenario with a device that has the new metric.
private struct NewMetric: Sendable {
    let home: Scenario
    let metric: Metric
    let session: ScriptedSession
    let start: Timestamp

    init(_ simulation: Simulation) throws {
        home = try Scenario(simulation)
        metric = try #require(Metric(rawValue: "skin_tension"))
        start = simulation.gatewayClock.now - .minutes(30)
        let counter = try #require(Metric(rawValue: "rope_skips"))
        let skips = [12.25, 30.5].enumerated().map { [start] number, amount in
            Sample(
                metric: counter, start: start + .minutes(number * 5), end: start + .minutes(number * 5 + 5),
                reading: .count(Increment(amount: amount) ?? Increment(count: 0)))
        }
        let metric = metric
        let history = [12.25, 14, 15.75].enumerated().map { [start] number, value in
            Sample(
                metric: metric, start: start + .minutes(number), qualifiers: [Qualifier(rawValue: "site"): "arm"],
                reading: .value(value))
        }
        session = ScriptedSession(
            DeviceDescription(
                identity: DeviceIdentity(model: "Script"),
                capabilities: Capabilities([
                    metric: [.measure, .monitor, .scheduleTime, .scheduleInterval, .alert, .history],
                    counter: .history,
                ])),
            content: ScriptedSession.Content(
                history: [metric: history, counter: skips],
                monitors: [
                    metric: .fixture(
                        of: metric, schedule: MonitorSchedule(isEnabled: true, start: 0, end: 1440, interval: 15),
                        limits: [.value: AlertLimits(isEnabled: false, lower: 5, upper: 40)])
                ]), clock: simulation.gatewayClock)
    }

    func travels() async throws {
        try await home.run([try device()]) {
            try await home.settled("patch")
            try await isPublished()
            try await isConfigured()
            try await raisesAlerts()
            try await isAnnounced()
        }
    }

    /// The device, over Vitals Link.
    private func device() throws -> DeviceSetup {
        let id = try #require(DeviceID("patch"))
        let calendar = LocalCalendar(timeZone: .gmt)
        let context = SessionContext(
            device: id, gateway: (name: "test", version: "0"), calendar: calendar,
            clock: home.simulation.gatewayClock, logger: home.log.logger)
        var options = ConfigurationReader(ConfigurationValue(.null))
        let driver = LinkDriver(options: &options)
        let freshness = metric.defaultFreshness.map { [metric: $0] } ?? [:]
        return DeviceSetup(
            info: DeviceInfo(id: id, name: "Patch", driver: "link", freshness: freshness),
            policy: DevicePolicy(freshness: freshness, calendar: calendar), fingerprint: 0
        ) { [session, home] body in
            let (gateway, device) = ScriptedByteLink.pair(
                clock: home.simulation.gatewayClock, random: home.simulation.random())
            try await withThrowingTaskGroup { group in
                group.addTask { await LinkServer(session, over: device).run() }
                defer { group.cancelAll() }
                try await driver.withSession(over: .bytes(gateway), context: context, body)
            }
        }
    }

    private func isPublished() async throws {
        let message = try await home.message("patch/measurement/skin_tension")
        #expect(message["unit"] == "mN")
        #expect(message["samples"]?.asArray?.compactMap { $0["value"]?.asDouble } == [12.25, 14, 15.75])
        #expect(message["samples"]?[0]?["fields"] == ["site": "arm"])
        let latest = try await home.message("patch/latest/skin_tension")
        #expect(latest["value"] == 15.75)
        #expect(latest["fields"] == ["site": "arm"])
        #expect(latest["fresh_until"]?.isNull == false)
        let day = try await home.message("patch/daily/skin_tension") { $0["count"] == 3 }
        #expect(day["average"] == 14)
        #expect(day["minimum"]?["value"] == 12.25)
        let skips = try await home.message("patch/measurement/rope_skips")
        #expect(skips["unit"] == "skips" && skips["samples"]?[0]?["fields"]?.isNull == true)
        #expect(skips["samples"]?.asArray?.compactMap { $0["value"]?.asDouble } == [12.25, 30.5])
        // 42.75, to one decimal.
        let skipped = try await home.message("patch/daily/rope_skips") { $0["count"] == 2 }
        #expect(skipped["total"] == 42.8)
        let page = try await home.ask("patch/command/history", #""metric":"skin_tension""#)
        #expect(
            page["data"]?["samples"]?.asArray?.map { $0["fields"] } == [
                ["site": "arm"], ["site": "arm"], ["site": "arm"],
            ])
    }

    private func isConfigured() async throws {
        let refused = try await home.ask("patch/config/set", #""skin_tension":{"alert":{"upper":20.005}}"#)
        #expect(refused["violations"]?[0]?["path"] == "skin_tension.alert.upper")
        let answer = try await home.ask(
            "patch/config/set", #""skin_tension":{"alert":{"enabled":true,"upper":20.25},"schedule":{"start":"08:00"}}"#
        )
        #expect(answer["status"] == "done")
        let config = try await home.message("patch/config") { $0["skin_tension"]?["alert"]?["upper"] == 20.25 }
        #expect(config["skin_tension"]?["schedule"]?["start"] == "08:00")
        let reported = session.content.monitors[metric]
        #expect(reported?.limits == [.value: AlertLimits(isEnabled: true, lower: 5, upper: 20.25)])
        #expect(reported?.schedule?.start == 480)
    }

    private func raisesAlerts() async throws {
        let now = home.simulation.gatewayClock.now
        await session.send(.samples([Sample(metric: metric, start: now, reading: .value(30))], receipts: []))
        let alert = try await home.message("patch/event/alert")
        #expect(alert["event_type"] == "skin_tension_high")
        #expect(alert["value"] == 30)
        try await home.message("patch/alert/skin_tension_high") { $0["state"] == "active" }
    }

    private func isAnnounced() async throws {
        let message = try await home.message("homeassistant/device/vitals2mqtt_home_patch/config") {
            $0["components"]?["alert_skin_tension_high"]?["enabled_by_default"] == nil
                && $0["components"]?["alert_skin_tension_high"] != nil
        }
        let components = try #require(message["components"])
        #expect(components["skin_tension"]?["name"] == "Skin tension")
        #expect(components["skin_tension"]?["unit_of_measurement"] == "mN")
        #expect(components["skin_tension"]?["suggested_display_precision"] == 2)
        #expect(components["skin_tension"]?["json_attributes_topic"] == components["skin_tension"]?["state_topic"])
        #expect(components["skin_tension_highest"]?["enabled_by_default"] == false)
        #expect(components["skin_tension_alert_upper"]?["max"] == 50)
        #expect(components["measure_skin_tension"]?["name"] == "Measure skin tension now")
        #expect(components["rope_skips_today"]?["name"] == "Rope skips today")
        #expect(components["rope_skips_today"]?["state_class"] == "total")
        #expect(components["rope_skips_today"]?["last_reset_value_template"] == "{{ value_json.day_start }}")
        #expect(components["rope_skips_today"]?["suggested_display_precision"] == 1)
    }
}
