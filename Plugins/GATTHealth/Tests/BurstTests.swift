import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

@testable import GATTHealth

/// Live values that arrive together: a radio that missed some connection events hands over several at once.
@Suite struct BurstTests {
    @Test func `values of a burst are records of their own`() throws {
        try Simulation.run(seed: 1, deadline: .hours(1)) { simulation in
            let table = [
                ScriptedService(0x180d, [ScriptedCharacteristic(0x2a37, .notify)]),
                ScriptedService(0x1822, [ScriptedCharacteristic(0x2a5f, .notify)]),
                ScriptedService(
                    0x1809,
                    [
                        ScriptedCharacteristic(0x2a1c, .notify),
                        ScriptedCharacteristic(0x2a21, [.read, .write], [1, 0]),
                    ]),
            ]
            let device = ScriptedPeripheral(table, clock: simulation.gatewayClock)
            let context = SessionContext.testing(try #require(DeviceID("device")), clock: simulation.gatewayClock)
            let now = simulation.date
            try await HealthDriver(HealthOptions()).withSession(over: .gatt(device.link), context: context) { session in
                for number in UInt8(0)..<20 {
                    device.send([0x00, 60 + number], from: 0x2a37)
                    device.send([0x00, 98, 0, 90 + number, 0], from: 0x2a5f)
                    device.send([0x00, 0x6c, 0x01, 0x00, 0xff], from: 0x2a1c)
                }
                var samples: [Sample] = []
                while samples.count < 80, let events = try await session.nextEvents() {
                    for case .samples(let new, _) in events { samples += new }
                }
                #expect(Set(samples.map { SampleID(device: context.device, sample: $0) }).count == 80)
                #expect(samples.allSatisfy { $0.start >= now && $0.start < now + .milliseconds(100) })
                let rates = samples.filter { $0.metric == .heartRate }
                #expect(rates.map(\.start) == rates.map(\.start).sorted())
            }
        }
    }

    @Test func `a value is later than it arrived by five seconds at most, also while the clock is set back`() {
        var times = LiveTimes()
        let now = Timestamp(seconds: 1_768_035_600)
        for number in 0..<5000 { #expect(times.time(at: now) == now + .milliseconds(number)) }
        // The clock was set back by a moment: no time comes twice.
        #expect(times.time(at: now) == now + .seconds(5))
        // By more: the times begin anew.
        #expect(times.time(at: now) == now)
        #expect(times.time(at: now + .seconds(1)) == now + .seconds(1))
    }
}
