import Conformance
import GatewayKit
import GatewayTesting
import Synchronization
import TestSupport
import Testing
import Vitals

@testable import O2Ring

@Suite struct ConformanceTests {
    /// 2026-03-10T08:00:00Z; two recordings of the night, which begin at 00:00 and 02:00 in Berlin.
    static let start = Timestamp(seconds: 1_773_129_600)
    static let recordings = [
        O2Recording(start: [2026, 3, 10, 0, 0, 0], count: 60), O2Recording(start: [2026, 3, 10, 2, 0, 0], count: 80),
    ]
    static var files: [String: [UInt8]] {
        Dictionary(uniqueKeysWithValues: recordings.map { ($0.name, $0.content) })
    }

    /// What the recordings have, by the true time.
    static var history: [Metric: [Sample]] {
        var history: [Metric: [Sample]] = [:]
        for (begin, recording) in zip([1_773_097_200, 1_773_104_400], recordings) {
            for index in 0..<recording.count where O2Recording.oxygen(index) != 255 {
                let moment = Timestamp(seconds: Int64(begin + index * recording.interval))
                let values: [(Metric, UInt8)] = [
                    (.bloodOxygen, O2Recording.oxygen(index)), (.heartRate, O2Recording.pulse(index)),
                ]
                for (metric, value) in values {
                    history[metric, default: []].append(
                        Sample(metric: metric, start: moment, reading: .value(Double(value))))
                }
            }
        }
        return history
    }

    @Test(arguments: [UInt64(1), 2, 3]) func `does what every driver must do`(seed: UInt64) throws {
        let violations = try Simulation.run(seed: seed, start: Self.start, deadline: .days(3)) { simulation in
            let clock = simulation.gatewayClock
            let expectation = DriverConformance.Expectation(history: Self.history, hasSettableClock: true)
            return await DriverConformance(expecting: expectation, clock: clock) { body in
                let radio = GATTFaults(delay: .zero...(.milliseconds(1)))
                let ring = ScriptedO2Ring(clock: clock, files: Self.files, radio: radio, random: simulation.random())
                let id = try #require(DeviceID("ring"))
                try await O2Driver(O2Options(liveEvery: .seconds(2))).withSession(
                    over: .gatt(ring.peripheral.link), context: .testing(id, clock: clock)
                ) { session in
                    let peer = DriverConformance.Peer(
                        disconnect: { ring.peripheral.disconnect() },
                        sendEvents: {
                            // The ring sends nothing unasked; the next poll brings it.
                            ring.withState { $0.values = bytes("ff ff ff 00 00 00 00 60 00 05 00 00 00") }
                            return [.wear(isWorn: false), .battery(percent: 96, isCharging: false)]
                        },
                        fallSilent: { ring.peripheral.fallSilent() })
                    try await body(session, peer)
                }
            }.check()
        }
        #expect(violations.isEmpty, "\(violations)")
    }
}
