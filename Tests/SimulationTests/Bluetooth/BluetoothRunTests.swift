import ColmiRing
import Foundation
import GATTHealth
import GatewayKit
import GatewayTesting
import JSON
import MQTT
import O2Ring
import TestSupport
import Testing
import Vitals

/// Whole gateways with the drivers of all wearables that speak Bluetooth, over scripted links. A seed decides when links are slow,
/// silent or lost, when the broker is offline, and whether the gateway stops or crashes.
@Suite struct BluetoothRunTests {
    /// 2026-01-11T08:00 in Berlin, a day after the records of the oximeter.
    private static let start = ScriptedClinic.moment(24 * 60)
    private static let worn = Timestamp(seconds: 1_768_006_800)  // 29 hours before
    private static let recordings = [
        O2Recording(start: [2026, 1, 11, 0, 0, 0], count: 60), O2Recording(start: [2026, 1, 11, 2, 0, 0], count: 80),
    ]

    /// The present values that the ring of the night sends: oxygen and pulse.
    private static let present: [String: [Double]] = ["blood_oxygen": [98], "heart_rate": [66]]

    /// A sample as consumers distinguish it from others: the value, or systolic, diastolic and pulse.
    private struct Reported: Hashable {
        var metric: String
        var start: String
        var value: [Double]

        init(metric: String, start: String, value: [Double]) {
            (self.metric, self.start, self.value) = (metric, start, value)
        }

        init(_ metric: String, _ start: Timestamp, _ value: Double...) {
            self.init(metric: metric, start: start.description, value: value)
        }
    }

    /// All that a wearable has stored of a metric.
    private struct Memory {
        var device: String
        var metric: String
        var records: Set<Reported>

        init(_ device: String, _ metric: String, _ records: [Reported]) {
            (self.device, self.metric, self.records) = (device, metric, Set(records))
        }
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
            let home = try Scenario(simulation)
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
                let (runTime, crashes) = (Int.random(in: 20...100, using: &random), Bool.random(using: &random))
                ends.append(clock.now + .minutes(runTime))
                try await home.run(setups, crashing: crashes) { try await clock.sleep(for: .minutes(runTime)) }
            }
            home.broker.setFaults(BrokerFaults())
            wardrobe.calmDown()
            let calm = clock.now
            try await home.run(setups) { try await clock.sleep(for: .hours(2)) }
            try check(home, wardrobe, calm: calm, end: clock.now, ends: ends)
        }
    }

    private func check(
        _ home: Scenario, _ wardrobe: Wardrobe, calm: Timestamp, end: Timestamp, ends: [Timestamp]
    ) throws {
        var reported: [String: Set<Reported>] = [:]
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
                let pressure = ["systolic", "diastolic", "pulse"].compactMap { sample["fields"]?[$0]?.asDouble }
                let new = Reported(
                    metric: String(levels[4]), start: sample["start"]?.asString ?? "",
                    value: sample["value"]?.asDouble.map { [$0] } ?? pressure)
                if reported[device, default: []].insert(new).inserted, device == "strap", new.metric == "heart_rate" {
                    beats += 1
                }
            }
        }
        let lost = reportedAtEnds(wardrobe.cuff, ends)
        for (due, known) in zip(stored(wardrobe, until: calm), stored(wardrobe, until: end)) {
            let place = "\(due.device) \(due.metric)"
            var arrived = reported[due.device, default: []].filter { $0.metric == due.metric }
            if due.device == "night" {
                // Its recordings are older than the gateway, and only present values are newer.
                let live = arrived.filter { $0.start >= Self.start.description }
                #expect(live.allSatisfy { $0.value == Self.present[due.metric] })
                arrived.subtract(live)
            }
            let missing = due.records.subtracting(due.device == "cuff" ? lost : []).subtracting(arrived)
            #expect(missing.isEmpty, "\(place): \(missing.count) missing, such as \(missing.first.debugDescription)")
            let others = arrived.subtracting(known.records)
            #expect(others.isEmpty, "\(place): \(others.count) too many, such as \(others.first.debugDescription)")
        }
        // The values on their way are lost with the link, and the last ones are still to come.
        let mayBeLost = 2 * wardrobe.connections(of: "strap") + 2
        #expect(beats <= wardrobe.beats)
        #expect(beats >= wardrobe.beats - mayBeLost, "\(beats) of \(wardrobe.beats)")
        #expect(wardrobe.beats > 100)
        for id in ["strap", "cuff", "oximeter", "ring", "night"] { #expect(wardrobe.connections(of: id) > 4) }
    }

    /// What the wearables have stored until a moment, by what they are and never by what was published.
    private func stored(_ wardrobe: Wardrobe, until end: Timestamp) -> [Memory] {
        let halves = stride(from: Self.worn.milliseconds / 1000, to: end.milliseconds / 1000, by: 1800)
        let hours = halves.filter { $0 % 3600 == 0 }
        func ring(_ metric: String, _ seconds: [Int64], _ value: (Int64) -> Double) -> Memory {
            Memory("ring", metric, seconds.map { Reported(metric, Timestamp(seconds: $0), value($0)) })
        }
        let value = { (second: Int64) in Double(RingLogs.value(at: second, worn: Self.worn)) }
        var nights: [(oxygen: Reported, pulse: Reported)] = []
        for (begin, recording) in zip([1_768_086_000, 1_768_093_200], Self.recordings) {
            for index in 0..<recording.count where O2Recording.oxygen(index) != 255 {
                let moment = Timestamp(seconds: Int64(begin + index * recording.interval))
                nights.append(
                    (
                        Reported("blood_oxygen", moment, Double(O2Recording.oxygen(index))),
                        Reported("heart_rate", moment, Double(O2Recording.pulse(index)))
                    ))
            }
        }
        return [
            ring("heart_rate", Array(halves), value), ring("stress", Array(halves), value), ring("steps", hours, value),
            ring("blood_oxygen", hours) { Double(RingLogs.oxygen(at: $0, worn: Self.worn)) },
            ring("skin_temperature", Array(halves)) {
                Double(200 + Int(RingLogs.temperature(at: $0, worn: Self.worn))) / 10
            },
            Memory("night", "blood_oxygen", nights.map(\.oxygen)), Memory("night", "heart_rate", nights.map(\.pulse)),
            Memory("cuff", "blood_pressure", wardrobe.cuff.records(until: end).map(reported)),
            Memory(
                "oximeter", "blood_oxygen",
                ScriptedClinic.spots.map {
                    Reported("blood_oxygen", ScriptedClinic.moment($0.minute), Double($0.saturation))
                }),
            Memory(
                "oximeter", "heart_rate",
                ScriptedClinic.spots.map { Reported("heart_rate", ScriptedClinic.moment($0.minute), Double($0.pulse)) }),
            Memory(
                "oximeter", "blood_glucose",
                ScriptedClinic.sugars.map {
                    Reported("blood_glucose", ScriptedClinic.moment($0.minute), Double($0.amount))
                }
            ),
        ]
    }

    private func reported(_ record: ScriptedCuff.Record) -> Reported {
        Reported(
            "blood_pressure", record.moment, Double(record.systolic), Double(record.diastolic), Double(record.pulse))
    }

    /// The cuff sends each record once, so all of them must have arrived but those that it sent while a gateway ended.
    private func reportedAtEnds(_ cuff: ScriptedCuff, _ ends: [Timestamp]) -> Set<Reported> {
        let records = ends.flatMap { cuff.delivered(in: ($0 - Self.beforeEnd)...($0 + Self.afterEnd)) }
        #expect(Set(cuff.delivered).count == cuff.delivered.count)
        #expect(records.count < cuff.delivered.count / 2)
        return Set(records.map(reported))
    }
}
