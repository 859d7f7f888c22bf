import ColmiRing
import Foundation
import GATTHealth
import GatewayKit
import GatewayTesting
import JSON
import Messages
import O2Ring
import Testing
import Vitals
import WearableTesting

/// Whole gateways with the drivers of all wearables that speak Bluetooth, over scripted links. A seed decides when links are slow,
/// silent or lost, when the broker is away, and whether the gateway stops or crashes.
@Suite struct BluetoothLifeTests {
    /// 2026-01-11T08:00 in Berlin, a day after the records of the oximeter.
    private static let start = ScriptedClinic.moment(24 * 60)
    private static let worn = Timestamp(seconds: 1_768_006_800)  // 29 hours before
    private static let recordings = [
        O2Recording(start: [2026, 1, 11, 0, 0, 0], count: 60), O2Recording(start: [2026, 1, 11, 2, 0, 0], count: 80),
    ]

    /// A sample as consumers tell it from others.
    private struct Told: Hashable {
        var metric: String
        var start: String
        var value: String
    }

    private static func driver<Driver: DeviceDriver>(_: Driver.Type, _ options: [String: String] = [:]) -> Driver {
        let members = options.map { (ConfigurationKey($0.key), ConfigurationValue(.scalar($0.value, isQuoted: false))) }
        var reader = ConfigurationReader(ConfigurationValue(.map(members)), path: "options")
        return Driver(options: &reader)
    }

    /// The number of seeds: some seconds each. `SIMULATION_SEEDS=1000` runs more.
    private static let seedCount = ProcessInfo.processInfo.environment["SIMULATION_SEEDS"].flatMap { UInt64($0) } ?? 5

    /// Around the end of a gateway, in which a record that the cuff has deleted may be on no disk yet: the time of all records that wait
    /// for a slow radio, and of the commit.
    private static let (beforeEnd, afterEnd): (Duration, Duration) = (.seconds(5), .seconds(10))

    @Test(arguments: 0..<seedCount)
    func `what the wearables store arrives once, whatever breaks`(seed: UInt64) throws {
        try Simulation.run(seed: seed, start: Self.start, deadline: .days(3)) { simulation in
            let home = try Household(simulation)
            let wardrobe = Wardrobe(simulation, worn: Self.worn, recordings: Self.recordings)
            let clock = simulation.gatewayClock
            var random = simulation.random()
            let setups = try [
                home.wireless("strap", Self.driver(HealthDriver.self), wardrobe),
                home.wireless("cuff", Self.driver(HealthDriver.self), wardrobe),
                home.wireless("oximeter", Self.driver(HealthDriver.self), wardrobe),
                home.wireless("ring", Self.driver(ColmiDriver.self), wardrobe),
                home.wireless("night", Self.driver(O2Driver.self, ["live_every": "60s"]), wardrobe),
            ]
            home.broker.setFaults(
                BrokerFaults(
                    refuseConnection: 0.2, cutBeforeStoring: 0.002, cutBeforeAcknowledging: 0.002,
                    delay: .zero...(.milliseconds(100))))
            var ends: [Timestamp] = []
            for _ in 0..<3 {
                let (life, crashes) = (Int.random(in: 20...100, using: &random), Bool.random(using: &random))
                ends.append(clock.now + .minutes(life))
                try await home.run(setups, crashing: crashes) { try await clock.sleep(for: .minutes(life)) }
            }
            home.broker.setFaults(BrokerFaults())
            wardrobe.calmDown()
            let calm = clock.now
            try await home.run(setups) { try await clock.sleep(for: .hours(2)) }
            try check(home, wardrobe, calm: calm, ends: ends)
        }
    }

    private func check(_ home: Household, _ wardrobe: Wardrobe, calm: Timestamp, ends: [Timestamp]) throws {
        var told: [String: Set<Told>] = [:]
        var beats = 0
        var facts: [String: Int] = [:]
        for message in home.observation.messages.map(\.message) {
            let levels = message.topic.split(separator: "/")
            guard levels.count > 2, levels.dropLast().last == "measurement" else { continue }
            let body = try JSONValue(parsing: message.payload)
            let number = try #require(body["seq"]?.asInt)
            for sample in body["samples"]?.asArray ?? [] {
                let identity = "\(sample["id"]?.asString ?? "") \(sample["rev"]?.asInt ?? 0)"
                #expect(facts.updateValue(number, forKey: identity) ?? number == number, "two facts: \(identity)")
                let device = String(levels[2])
                let value = sample["value"].map { "\($0)" } ?? sample["fields"].map { "\($0)" } ?? ""
                let new = Told(
                    metric: String(levels[4]), start: sample["start"]?.asString ?? "", value: value)
                if told[device, default: []].insert(new).inserted, device == "strap", new.metric == "heart_rate" {
                    beats += 1
                }
            }
        }
        for (device, metric, moments) in expected(wardrobe, until: calm, ends: ends) {
            let starts = told[device, default: []].filter { $0.metric == metric }.map(\.start)
            let wanted = Set(moments.map(\.description))
            let missing = wanted.subtracting(starts)
            #expect(
                missing.isEmpty,
                "\(device) \(metric): \(missing.count) of \(wanted.count), such as \(missing.min() ?? "")")
        }
        // The values on their way are lost with the link, and the last ones are still to come.
        let mayBeLost = 2 * wardrobe.connections(of: "strap") + 2
        #expect(beats <= wardrobe.beats)
        #expect(beats >= wardrobe.beats - mayBeLost, "\(beats) of \(wardrobe.beats)")
        #expect(wardrobe.beats > 100)
        for id in ["strap", "cuff", "oximeter", "ring", "night"] { #expect(wardrobe.connections(of: id) > 4) }
    }

    /// What must have arrived of what the wearables had stored at a moment.
    private func expected(_ wardrobe: Wardrobe, until end: Timestamp, ends: [Timestamp]) -> [(
        String, String, [Timestamp]
    )] {
        let halves = stride(from: Self.worn.milliseconds / 1000, to: end.milliseconds / 1000, by: 1800)
            .map { Timestamp(seconds: $0) }
        var nights: [Timestamp] = []
        for (begin, recording) in zip([1_768_086_000, 1_768_093_200], Self.recordings) {
            for index in 0..<recording.count where O2Recording.oxygen(index) != 255 {
                nights.append(Timestamp(seconds: Int64(begin + index * recording.interval)))
            }
        }
        return [
            ("ring", "heart_rate", halves), ("ring", "stress", halves),
            ("ring", "steps", halves.filter { $0.milliseconds % 3_600_000 == 0 }),
            ("night", "blood_oxygen", nights), ("night", "heart_rate", nights),
            ("cuff", "blood_pressure", pressures(wardrobe.cuff, until: end, ends: ends)),
            ("oximeter", "blood_oxygen", ScriptedClinic.spots.map { ScriptedClinic.moment($0.minute) }),
            ("oximeter", "blood_glucose", ScriptedClinic.sugars.map { ScriptedClinic.moment($0.minute) }),
        ]
    }

    /// The cuff tells each record once, so all of them must have arrived but those that it told while a gateway ended.
    private func pressures(_ cuff: ScriptedCuff, until end: Timestamp, ends: [Timestamp]) -> [Timestamp] {
        let mayBeLost = ends.flatMap { cuff.delivered(in: ($0 - Self.beforeEnd)...($0 + Self.afterEnd)) }
        #expect(Set(cuff.delivered).count == cuff.delivered.count)
        #expect(mayBeLost.count < cuff.delivered.count / 2)
        let measured = Set(cuff.records(until: end))
        return measured.subtracting(mayBeLost).map(\.moment).sorted()
    }
}
