import Conformance
import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

@testable import ColmiRing

@Suite struct ConformanceTests {
    /// 2026-03-10T12:00:00Z; the ring's clock is an hour ahead.
    static let start = Timestamp(seconds: 1_773_144_000)
    static let worn = start - .hours(30)

    /// What a ring that was worn since then sends, by the true time.
    static var history: [Metric: [Sample]] {
        var history: [Metric: [Sample]] = [:]
        for second in stride(from: worn.milliseconds / 1000, to: start.milliseconds / 1000, by: 1800) {
            let (moment, value) = (Timestamp(seconds: second), RingLogs.value(at: second, worn: worn))
            for metric in [Metric.heartRate, .stress] {
                history[metric, default: []].append(
                    Sample(metric: metric, start: moment, reading: .value(Double(value))))
            }
            let tenths = 200 + Int(RingLogs.temperature(at: second, worn: worn))
            history[.skinTemperature, default: []].append(
                Sample(metric: .skinTemperature, start: moment, reading: .value(Double(tenths) / 10)))
            guard second % 3600 == 0 else { continue }
            let steps = Increment(count: Int(value), distance: 40, energy: 1.2)
            history[.steps, default: []].append(
                Sample(metric: .steps, start: moment, end: moment + .hours(1), reading: .count(steps)))
            let least = RingLogs.oxygen(at: second, worn: worn)
            history[.bloodOxygen, default: []].append(
                Sample(
                    metric: .bloodOxygen, start: moment, end: moment + .hours(1),
                    kind: least == 99 ? .normal : .minimum, reading: .value(Double(least))))
        }
        return history
    }

    @Test(arguments: [UInt64(1), 2, 3]) func `does what every driver must do`(seed: UInt64) throws {
        let violations = try Simulation.run(seed: seed, start: Self.start, deadline: .days(2)) { simulation in
            let clock = simulation.gatewayClock
            let expectation = DriverConformance.Expectation(history: Self.history, hasSettableClock: true)
            return await DriverConformance(expecting: expectation, clock: clock) { body in
                let radio = GATTFaults(delay: .milliseconds(1)...(.milliseconds(5)))
                let ring = ScriptedRing(
                    clock: clock, worn: Self.worn, zone: 60, radio: radio, random: simulation.random())
                let id = try #require(DeviceID("ring"))
                try await ColmiDriver(ColmiOptions(offset: 60)).withSession(
                    over: .gatt(ring.peripheral.link), context: .testing(id, clock: clock)
                ) { session in
                    let peer = DriverConformance.Peer(
                        disconnect: { ring.peripheral.disconnect() },
                        sendEvents: {
                            ring.send(raw: RingCaptures.batteryNotice)
                            ring.send(raw: RingCaptures.fullBatteryNotice)
                            ring.send(raw: [1, 2, 3])
                            return [.battery(percent: 43, isCharging: true), .battery(percent: 100, isCharging: true)]
                        },
                        fallSilent: { ring.peripheral.fallSilent() })
                    try await body(session, peer)
                }
            }.check()
        }
        #expect(violations.isEmpty, "\(violations)")
    }
}
