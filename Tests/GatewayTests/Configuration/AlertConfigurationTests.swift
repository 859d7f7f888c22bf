import Engines
import Gateway
import GatewayKit
import Testing
import Vitals

@Suite struct AlertConfigurationTests {
    private static let head = "mqtt: {url: mqtt://127.0.0.1}\n"

    private func policy(gateway: String = "", device: String = "") throws -> AlertPolicy {
        let gatewayAlerts = gateway.isEmpty ? "" : "alerts: {\(gateway)}\n"
        let deviceAlerts = device.isEmpty ? "" : ", alerts: {\(device)}"
        let text = Self.head + gatewayAlerts + "devices: [{id: a, driver: toy\(deviceAlerts)}]\n"
        return try #require(try load(text).devices.first).policy.alerts
    }

    @Test func `has the defaults of the contract`() throws {
        let policy = try policy()
        #expect(policy == AlertPolicy())
        #expect(policy.hysteresis[.temperature] == 0.3)
        #expect(policy.count[.bloodPressure] == 1)
        #expect(policy.cooldown == .minutes(10))
    }

    @Test func `lays a device's settings over the gateway's`() throws {
        let policy = try policy(
            gateway: "hysteresis: {heart_rate: 7, stress: 2}, count: {heart_rate: 4}, when_not_worn: yes",
            device: "hysteresis: {stress: 9.5}, count: {blood_pressure: 3}, cooldown: 0s")
        #expect(
            policy.hysteresis == [
                .heartRate: 7, .bloodPressure: 5, .bloodOxygen: 1, .stress: 9.5, .temperature: 0.3, .respiratoryRate: 1,
                .bloodGlucose: 5,
            ])
        #expect(
            policy.count == [
                .heartRate: 4, .bloodPressure: 3, .bloodOxygen: 2, .stress: 2, .temperature: 2, .respiratoryRate: 2,
                .bloodGlucose: 1,
            ])
        #expect(policy.countsWhenNotWorn)
        #expect(policy.cooldown == .zero)
    }

    @Test func `takes one count for all metrics`() throws {
        #expect(Set(try policy(gateway: "count: 3").count.values) == [3])
    }

    @Test func `reads quiet hours, one or several`() throws {
        let all = AlertPolicy.QuietHours(from: 22 * 60, to: 7 * 60)
        let some = AlertPolicy.QuietHours(
            from: 12 * 60, to: 24 * 60,
            rules: [try #require(AlertRule(name: "stress_high")), AlertRule(.irregularRhythm)])
        #expect(try policy(gateway: "quiet_hours: {from: 22:00, to: 07:00}").quietHours == [all])
        let rules = "[stress_high, heart_rhythm_irregular]"
        let two = "quiet_hours: [{from: 22:00, to: 07:00}, {from: \"12:00\", to: 00:00, rules: \(rules)}]"
        #expect(try policy(gateway: two).quietHours == [all, some])
        #expect(try policy(gateway: two, device: "quiet_hours: []").quietHours == [])
    }

    @Test(arguments: [
        ("hysteresis: {steps: 1}", "alerts.hysteresis.steps: There is no such key."),
        ("hysteresis: {skin_temperature: 1}", "alerts.hysteresis.skin_temperature: There is no such key."),
        ("hysteresis: {stress: -1}", "alerts.hysteresis.stress: A number from 0.0 to 990.0"),
        ("count: 0", "alerts.count: A whole number from 1 to 100"),
        ("count: {stress: many}", "alerts.count.stress: A whole number from 1 to 100"),
        ("cooldown: 10", "alerts.cooldown: A duration is needed here"),
        ("quiet_hours: night", "alerts.quiet_hours: A list is needed here"),
        ("quiet_hours: {from: 22:00}", "alerts.quiet_hours[0].to: A time of day is needed here"),
        ("quiet_hours: {from: 25:00, to: 07:00}", "alerts.quiet_hours[0].from: A time of day is needed here"),
        ("quiet_hours: {from: 07:00, to: 07:00}", "alerts.quiet_hours[0].to: from and to are the same time"),
        ("quiet_hours: {from: 1:00, to: 07:00}", "alerts.quiet_hours[0].from: A time of day"),
        ("quiet_hours: {from: 01:00, to: 07:00, rules: [loud]}", "alerts.quiet_hours[0].rules: There is no rule loud."),
        ("when_not_worn: maybe", "alerts.when_not_worn: true or false is needed here."),
        ("hysteria: 1", "alerts.hysteria: There is no such key. Did you mean hysteresis?"),
    ])
    func `says what is wrong with alerts`(alerts: String, issue: String) {
        let found = issues(Self.head + "alerts: {\(alerts)}\n")
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix("2: " + issue) == true, "\(found)")
    }
}
