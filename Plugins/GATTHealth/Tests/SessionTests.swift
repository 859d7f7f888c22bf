import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

@testable import GATTHealth

@Suite struct SessionTests {
    /// Opens a session with a device in a simulation.
    private func withDevice(
        _ device: @escaping @Sendable (Simulation) -> ScriptedPeripheral, options: HealthOptions = HealthOptions(),
        seed: UInt64 = 1,
        _ body: @escaping @Sendable (any DeviceSession, ScriptedPeripheral, Simulation) async throws -> Void
    ) throws {
        try Simulation.run(seed: seed, start: ScriptedClinic.moment(1440), deadline: .hours(2)) { simulation in
            let peripheral = device(simulation)
            let context = SessionContext.testing(try #require(DeviceID("device")), clock: simulation.gatewayClock)
            try await HealthDriver(options).withSession(over: .gatt(peripheral.link), context: context) { session in
                try await body(session, peripheral, simulation)
            }
        }
    }

    private static func clinic(_ simulation: Simulation) -> ScriptedPeripheral {
        ScriptedClinic(clock: simulation.gatewayClock).peripheral
    }

    @Test func `the device says who it is, what it can do, and what time it has`() throws {
        try withDevice(Self.clinic) { session, _, _ in
            let description = session.description
            #expect(description.identity == DeviceIdentity(manufacturer: "Acme", model: "Clinic 1"))
            // 2026-01-11T12:30:05 at UTC+1.
            #expect(description.clock == DeviceClock(now: Timestamp(seconds: 1_768_131_005), utcOffset: 60))
            #expect(
                description.capabilities
                    == Capabilities([
                        .heartRate: .history, .heartRateVariability: [], .bloodOxygen: .history,
                        .bloodGlucose: .history,
                        .temperature: [.monitor, .scheduleInterval], .battery: [],
                    ]))
            let events = try await session.nextEvents()
            #expect(events == [.battery(percent: 81, isCharging: nil)])
        }
    }

    @Test func `the clock is set to local time, with its offset`() throws {
        try withDevice(Self.clinic) { session, device, _ in
            // 2026-01-11T07:00:00.250Z, which is 12:45 on a Sunday in Kathmandu.
            try await session.setClock(Timestamp(milliseconds: 1_768_114_800_250), utcOffset: 345)
            #expect(device.writes.map(\.bytes) == [[0xea, 0x07, 1, 11, 12, 45, 0, 7, 64, 2], [23, 0]])
        }
    }

    @Test func `a cuff's records come as soon as it is connected, and the gateway sends it the time`() throws {
        let stored: [[UInt8]] = (0..<3).map { [0x02, 120 + $0, 0, 80, 0, 93, 0] + ScriptedClinic.date(Int($0)) }
        try withDevice({ _ in
            ScriptedPeripheral(
                [ScriptedService(0x1810, [ScriptedCharacteristic(0x2a35, .indicate)])],
                onSubscribe: { cuff, source in for record in stored { cuff.send(record, from: source) } })
        }) { session, cuff, simulation in
            var starts: [Timestamp] = []
            while starts.count < 3, let events = try await session.nextEvents() {
                for case .samples(let samples, _) in events { starts += samples.map(\.start) }
            }
            #expect(starts == (0..<3).map { ScriptedClinic.moment($0) })
            // 2026-01-11T08:00 in Berlin, a Sunday.
            #expect(cuff.readFromGateway(BluetoothUUID(0x2a2b)) == [0xea, 0x07, 1, 11, 8, 0, 0, 7, 0, 2])
            #expect(cuff.readFromGateway(BluetoothUUID(0x2a0f)) == [4, 0])
            await #expect { try await session.setClock(simulation.date, utcOffset: 60) } throws: {
                ($0 as? DeviceError)?.code == .unsupported
            }
            cuff.disconnect()
            await #expect { try await session.nextEvents() } throws: { ($0 as? DeviceError)?.code == .disconnected }
        }
    }

    /// The features of a Weight Scale and of a Body Composition Service, each `nil` for one that lets nothing be read of it.
    @Test(
        arguments: [
            ([0x07, 0, 0, 0], [0x23, 0, 0, 0], [.weight, .bodyMassIndex, .height, .bodyFat, .leanMass]),
            ([0x03, 0, 0, 0], [0x03, 0x06, 0, 0], [.weight, .bodyFat]),
            (nil, nil, [.weight, .bodyMassIndex, .height, .bodyFat, .leanMass]),
        ] as [([UInt8]?, [UInt8]?, [Metric])])
    func `a scale has what it says that it can send`(
        weight: [UInt8]?, composition: [UInt8]?, metrics: [Metric]
    ) throws {
        func service(_ number: UInt16, _ source: UInt16, _ feature: UInt16, _ bytes: [UInt8]?) -> ScriptedService {
            let features = bytes.map { [ScriptedCharacteristic(feature, .read, $0)] } ?? []
            return ScriptedService(number, [ScriptedCharacteristic(source, .indicate)] + features)
        }
        let both = [service(0x181d, 0x2a9d, 0x2a9e, weight), service(0x181b, 0x2a9c, 0x2a9b, composition)]
        try withDevice({ _ in ScriptedPeripheral(both) }) { session, scale, _ in
            let wanted = Dictionary(uniqueKeysWithValues: metrics.map { ($0, [] as Abilities) })
            #expect(session.description.capabilities == Capabilities(wanted))
            // The same weighing from both services: its weight comes once.
            scale.send([0x02, 0x98, 0x3a] + ScriptedClinic.date(5), from: 0x2a9d)
            scale.send([0x02, 0x04, 0xea, 0] + ScriptedClinic.date(5) + [0x98, 0x3a], from: 0x2a9c)
            var found: [Metric: [Double]] = [:]
            while found[.bodyFat] == nil, let events = try await session.nextEvents() {
                for case .samples(let samples, _) in events {
                    for sample in samples { found[sample.metric, default: []].append(sample.value ?? 0) }
                }
            }
            #expect(found == [.weight: [75], .bodyFat: [23.4]])
        }
    }

    @Test func `a meter is asked only for what came after the last record`() throws {
        try withDevice(Self.clinic) { session, device, simulation in
            let request = HistoryRequest(
                metric: .bloodGlucose, from: ScriptedClinic.moment(0), to: simulation.date, limit: 10)
            let first = try await session.history(request)
            #expect(first.samples == Array((ScriptedClinic.history[.bloodGlucose] ?? []).prefix(10)))
            var next = request
            next.page = first.next
            #expect(try await session.history(next).samples.count == 10)
            #expect(try await session.history(request) == first)
            #expect(device.writes.map(\.bytes) == [[1, 1], [1, 3, 1, 28, 0]])
        }
    }

    @Test func `records that cannot be used are counted once they are read`() throws {
        try withDevice({ _ in
            ScriptedPeripheral(
                [
                    ScriptedService(
                        0x1808,
                        [
                            ScriptedCharacteristic(0x2a18, .notify),
                            ScriptedCharacteristic(0x2a52, [.write, .indicate]),
                        ])
                ],
                onWrite: { (meter, write) throws(ATTError) in
                    // The strip was wrong; the record is cut; a good one; a control solution.
                    meter.send([0x0a, 1, 0] + ScriptedClinic.date(1) + [0x5a, 0xb0, 0x11, 0x10, 0], from: 0x2a18)
                    meter.send([0x02, 2, 0, 0xea], from: 0x2a18)
                    meter.send([0x02, 3, 0] + ScriptedClinic.date(3) + [0x5a, 0xb0, 0x11], from: 0x2a18)
                    meter.send([0x02, 4, 0] + ScriptedClinic.date(4) + [0x5a, 0xb0, 0x4a], from: 0x2a18)
                    meter.send([6, 0, write.bytes[0], 1], from: write.characteristic)
                })
        }) { session, _, simulation in
            let request = HistoryRequest(metric: .bloodGlucose, from: ScriptedClinic.moment(0), to: simulation.date)
            let page = try await session.history(request)
            #expect(page.samples.map(\.start) == [ScriptedClinic.moment(3)])
            #expect(page.malformed == 2)
            let later = HistoryRequest(metric: .bloodGlucose, from: ScriptedClinic.moment(2), to: simulation.date)
            #expect(try await session.history(later).samples.count == 1)
        }
    }

    @Test(
        arguments: [
            ([6, 0, 1, 2], DeviceError.Code.failure), ([6, 0, 4, 1], .failure), ([], .timeout),
        ] as [([UInt8], DeviceError.Code)])
    func `a device that does not send its records says why, or its session ends`(
        answer: [UInt8], code: DeviceError.Code
    ) throws {
        try withDevice({ simulation in
            ScriptedPeripheral(
                [
                    ScriptedService(
                        0x1822,
                        [
                            ScriptedCharacteristic(0x2a5e, .indicate),
                            ScriptedCharacteristic(0x2a52, [.write, .indicate]),
                        ])
                ], clock: simulation.gatewayClock,
                onWrite: { (device, write) throws(ATTError) in
                    if !answer.isEmpty { device.send(answer, from: write.characteristic) }
                })
        }) { session, device, simulation in
            let request = HistoryRequest(metric: .bloodOxygen, from: ScriptedClinic.moment(0), to: simulation.date)
            await #expect { try await session.history(request) } throws: { ($0 as? DeviceError)?.code == code }
            if code == .timeout { #expect(device.writes.last?.bytes == [3, 0]) }
        }
    }

    @Test func `a meter that cannot choose by number sends everything again`() throws {
        let count = 3
        try withDevice({ _ in
            ScriptedPeripheral(
                [
                    ScriptedService(
                        0x1808,
                        [
                            ScriptedCharacteristic(0x2a18, .notify),
                            ScriptedCharacteristic(0x2a52, [.write, .indicate]),
                        ])
                ],
                onWrite: { (meter, write) throws(ATTError) in
                    guard write.bytes == [1, 1] else {
                        meter.send([6, 0, 1, 4], from: write.characteristic)
                        return
                    }
                    for row in ScriptedClinic.sugars.prefix(count) {
                        meter.send([0x02] + ScriptedClinic.sugar(row).dropFirst(), from: 0x2a18)
                    }
                    meter.send([6, 0, 1, 1], from: write.characteristic)
                })
        }) { session, meter, simulation in
            let request = HistoryRequest(metric: .bloodGlucose, from: ScriptedClinic.moment(0), to: simulation.date)
            for _ in 0..<2 {
                let page = try await session.history(request)
                #expect(page.samples.count == count)
            }
            #expect(meter.writes.map { $0.bytes.prefix(2) } == [[1, 1], [1, 3], [1, 1]])
        }
    }

    @Test func `a thermometer refuses an interval that it does not have`() throws {
        try withDevice({ _ in
            ScriptedPeripheral(
                [
                    ScriptedService(
                        0x1809,
                        [
                            ScriptedCharacteristic(0x2a1c, .indicate), ScriptedCharacteristic(0x2a1d, .read, [4]),
                            ScriptedCharacteristic(0x2a21, [.read, .write], [90, 0]),
                        ])
                ], onWrite: { (_, write) throws(ATTError) in throw ATTError(code: 0x80) })
        }) { session, _, _ in
            // It measures at a finger.
            #expect(session.description.capabilities.supports(.monitor, .skinTemperature))
            let read = try await session.monitorConfiguration(of: .skinTemperature)
            #expect(read.schedule == MonitorSchedule(isEnabled: true, start: 0, end: 1440, interval: 2))
            for interval in [60, 7, 1095] {
                let schedule = MonitorSchedule(isEnabled: true, start: 0, end: 1440, interval: interval)
                let wanted = try MonitorConfiguration(of: .skinTemperature, schedule: schedule)
                await #expect { try await session.setMonitorConfiguration(wanted) } throws: {
                    ($0 as? DeviceError)?.code == .invalid
                }
            }
        }
    }

    @Test func `a device that wants to be paired says so`() throws {
        #expect {
            try withDevice({ simulation in
                let device = Self.clinic(simulation)
                if let rate = device.characteristic(0x2a37) {
                    device.fail(rate, with: .refused(.insufficientEncryption))
                }
                return device
            }) { _, _, _ in Issue.record("the session opened") }
        } throws: { ($0 as? DeviceError)?.message.contains("pair it") == true }
    }

    @Test func `a device without a health service is another driver's`() throws {
        #expect {
            try withDevice({ _ in
                ScriptedPeripheral([ScriptedService(0x180f, [ScriptedCharacteristic(0x2a19, .read, [5])])])
            }) {
                _, _, _ in Issue.record("the session opened")
            }
        } throws: { ($0 as? DeviceError)?.message.contains("0x180f") == true }
    }

    @Test func `a device may keep to itself who it is`() throws {
        try withDevice({ simulation in
            let device = Self.clinic(simulation)
            for short in [0x2a29, 0x2a24, 0x2a19] as [UInt16] {
                if let kept = device.characteristic(short) {
                    device.fail(kept, with: .refused(.insufficientAuthorization))
                }
            }
            return device
        }) { session, _, _ in #expect(session.description.identity == DeviceIdentity()) }
    }

    /// Cut values, garbage, delays and lost connections: nothing traps or hangs, and every sample is possible.
    @Test(arguments: UInt64(1)...24) func `works with a bad radio`(seed: UInt64) throws {
        try Simulation.run(seed: seed, start: ScriptedClinic.moment(1440), deadline: .hours(6)) { simulation in
            for _ in 0..<5 {
                var random = simulation.random()
                let faults = GATTFaults(
                    breaksAfter: Int.random(in: 1...300, using: &random), delay: .zero...(.milliseconds(50)),
                    cut: Int.random(in: 0...300, using: &random), garbage: Int.random(in: 0...300, using: &random))
                let clinic = ScriptedClinic(clock: simulation.gatewayClock, faults: faults, random: random)
                let context = SessionContext.testing(try #require(DeviceID("device")), clock: simulation.gatewayClock)
                let end = simulation.date
                do {
                    try await HealthDriver(HealthOptions()).withSession(
                        over: .gatt(clinic.peripheral.link), context: context
                    ) { session in
                        for metric in [Metric.bloodGlucose, .bloodOxygen, .temperature] {
                            _ = try? await session.monitorConfiguration(of: metric)
                            let request = HistoryRequest(metric: metric, from: Timestamp(seconds: 0), to: end, limit: 7)
                            guard let page = try? await session.history(request) else { continue }
                            #expect(page.samples.allSatisfy { $0.start < end && $0.metric == metric })
                        }
                        clinic.peripheral.disconnect()
                        while let events = try await session.nextEvents() {
                            for case .battery(let percent, _) in events { #expect((0...100).contains(percent)) }
                        }
                    }
                } catch {
                    #expect(error is DeviceError, "\(error)")
                }
            }
        }
    }
}
