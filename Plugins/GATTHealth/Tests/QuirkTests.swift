import Foundation
import GatewayKit
import GatewayTesting
import Synchronization
import TestSupport
import Testing
import Vitals

@testable import GATTHealth

/// Devices that bend a profile, and that one that follows it is read as before.
@Suite struct QuirkTests {
    private static let now = Timestamp(seconds: 1_768_035_600)  // 2026-01-10T10:00 in Berlin
    /// 2026-01-10T08:15:30 in Berlin.
    private static let stamp: [UInt8] = [0xea, 0x07, 1, 10, 8, 15, 30]
    private static let stamped = Timestamp(seconds: 1_768_029_330)
    private static let history = BluetoothUUID("00002a2f-0000-3512-2118-0009af100700")

    private func scale(_ quirk: Quirk? = Quirk.all.first) throws -> ScaleProfile {
        ScaleProfile(calendar: try #require(LocalCalendar(identifier: "Europe/Berlin")), user: nil, quirk: quirk)
    }

    private static func value(_ flags: UInt8, _ weight: Int) -> [UInt8] {
        [flags, UInt8(weight & 0xff), UInt8(weight >> 8)] + stamp
    }

    private static func samples(_ events: [DeviceEvent]) -> [Sample] {
        events.flatMap { if case .samples(let samples, _) = $0 { samples } else { [] as [Sample] } }
    }

    /// A unit as bits of the flags, what the scale shows, and the kilograms.
    @Test(arguments: [(UInt8(0x00), 15_000, 75.0), (0x10, 15_000, 75), (0x01, 16_534, 16_534 * 0.01 * 0.45359237)])
    func `a weighing of a Mi Smart Scale has one weight, in whatever unit it shows`(
        unit: UInt8, shown: Int, kilograms: Double
    ) throws {
        var scale = try scale()
        let flags: [UInt8] = [0x02, 0x02, 0x02, 0x22, 0x22, 0x62, 0xa2, 0xa2]
        let weights = [2_200, 9_000, 14_990, shown, shown, shown, shown, 0]
        let found = zip(flags, weights).flatMap { flag, weight in
            Self.samples(scale.events(of: Self.value(flag | unit, weight), at: Self.now))
        }
        #expect(
            found == [
                Sample(metric: .weight, start: Self.stamped, isUserInitiated: true, reading: .value(kilograms))
            ])
    }

    @Test(arguments: UInt64(1)...50) func `no weighing has more than one weight, whatever the load does`(seed: UInt64)
        throws
    {
        var random = SplitMix64(seed: seed)
        var scale = try scale()
        for _ in 0..<Int.random(in: 1...20, using: &random) {
            let unit = ([0x00, 0x01, 0x10] as [UInt8]).randomElement(using: &random) ?? 0
            var found: [Sample] = []
            var firstStable: Int?
            for _ in 0..<Int.random(in: 1...30, using: &random) {
                let isStable = Int.random(in: 0..<4, using: &random) == 0
                let weight = Int.random(in: 100...30_000, using: &random)
                if isStable, firstStable == nil { firstStable = weight }
                let flags = unit | (isStable ? 0x22 : 0x02)
                found += Self.samples(scale.events(of: Self.value(flags, weight), at: Self.now))
            }
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let flags = unit | (Bool.random(using: &random) ? 0xa2 : 0x82)
                found += Self.samples(scale.events(of: Self.value(flags, 0), at: Self.now))
            }
            let kilograms = firstStable.map { Double($0) * (unit == 1 ? 0.0045359237 : 0.005) }
            #expect(found.count == (firstStable == nil ? 0 : 1))
            #expect(abs((found.first?.value ?? 0) - (kilograms ?? 0)) < 0.000_001)
        }
    }

    @Test func `an empty scale has no weight, and ends a weighing`() throws {
        var scale = try scale()
        let values: [(UInt8, Int)] = [(0x22, 0), (0x02, 5_000), (0x22, 15_000), (0x02, 0), (0x22, 14_000)]
        let found = values.flatMap { Self.samples(scale.events(of: Self.value($0.0, $0.1), at: Self.now)) }
        #expect(found.map(\.value) == [75, 70])
    }

    @Test func `a weight that failed is refused, and one without a clock was measured now`() throws {
        var scale = try scale()
        let failed = scale.events(of: Self.value(0x22, 0xffff), at: Self.now)
        #expect(failed == [.unreadable(UnreadableSample(.weight, "a weight: the scale could not measure it"))])
        #expect(scale.events(of: [0xa2, 0, 0], at: Self.now).count == 1)
        var other = try self.scale()
        let found = Self.samples(other.events(of: [0x22, 0x98, 0x3a, 0, 0, 0, 0, 0, 0, 0], at: Self.now))
        #expect(found.map(\.start) == [Self.now] && found.first?.value == 75)
    }

    /// How a scale shows what it is: its name, a characteristic of its maker, its model, or nothing but bits that are reserved.
    enum Mark: CaseIterable { case name, characteristic, model, bits }

    @Test(arguments: Mark.allCases) func `a Mi Smart Scale is recognised by each of its marks`(mark: Mark) throws {
        try Simulation.run(seed: 1, start: ScriptedClinic.moment(1440), deadline: .hours(1)) { simulation in
            let history = try #require(Self.history)
            var weight = [ScriptedCharacteristic(0x2a9d, .notify)]
            if mark == .characteristic { weight.append(ScriptedCharacteristic(history, [.write, .notify])) }
            let model = ScriptedCharacteristic(0x2a24, .read, Array((mark == .model ? "XMTZC01HM" : "Scale").utf8))
            // Of an unknown scale only what follows the first value with a reserved bit can be known.
            let swings: [[UInt8]] = mark == .bits ? [] : [Self.value(0x02, 2_200), Self.value(0x02, 9_000)]
            let device = ScriptedPeripheral(
                [ScriptedService(0x181d, weight), ScriptedService(0x180a, [model])],
                name: mark == .name ? "MI_SCALE" : nil, clock: simulation.gatewayClock,
                onSubscribe: { scale, source in
                    for value in swings + [Self.value(0x22, 15_000), Self.value(0x02, 14_000), Self.value(0xa2, 0)] {
                        scale.send(value, from: source)
                    }
                    scale.disconnect()
                })
            let context = SessionContext.testing(try #require(DeviceID("scale")), clock: simulation.gatewayClock)
            let found = try await samples(of: device, context)
            #expect(found.map(\.value) == [75])
        }
    }

    /// The samples of a session, until the device leaves.
    private func samples(of device: ScriptedPeripheral, _ context: SessionContext) async throws -> [Sample] {
        let found = Mutex<[Sample]>([])
        do {
            try await HealthDriver(HealthOptions()).withSession(over: .gatt(device.link), context: context) { session in
                while let events = try await session.nextEvents() {
                    let samples = Self.samples(events)
                    found.withLock { $0 += samples }
                }
            }
        } catch let error as DeviceError where error.code == .disconnected {}
        return found.withLock { $0 }
    }

    @Test(arguments: UInt64(1)...20) func `a scale that follows the profile is read as the profile says`(seed: UInt64)
        throws
    {
        var random = SplitMix64(seed: seed)
        var scale = try scale(nil)
        for number in 0..<50 {
            let flags = UInt8.random(in: 0...0x0f, using: &random)
            let raw = Int.random(in: 100...0xfffe, using: &random)
            var bytes = [flags, UInt8(raw & 0xff), UInt8(raw >> 8)]
            if flags & 0x02 != 0 { bytes += Self.stamp }
            if flags & 0x04 != 0 { bytes.append(3) }
            if flags & 0x08 != 0 { bytes += [0, 1, 0, 2] }
            let at = Self.now + .minutes(number)
            let unit = flags & 0x01 != 0 ? 0.01 * 0.45359237 : 0.005
            let found = Self.samples(scale.events(of: bytes, at: at))
            let beside: [Metric] = flags & 0x08 != 0 ? [.bodyMassIndex, .height] : []
            #expect(found.map(\.metric) == [.weight] + beside)
            #expect(abs((found.first?.value ?? 0) - Double(raw) * unit) < 0.000_001)
            #expect(found.first?.start == (flags & 0x02 != 0 ? Self.stamped : at))
            #expect(found.first?.user == (flags & 0x04 != 0 ? 3 : nil))
        }
    }

    @Test func `the README has a line for each device that bends a profile`() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(contentsOf: folder.appending(path: "README.md"), encoding: .utf8)
        for row in Quirk.all {
            let marks =
                row.names.sorted().map { "the name `\($0)`" }
                + row.characteristics.map { "the characteristic `\($0.shortest)`" }.sorted()
                + row.models.sorted().map { "the model `\($0)`" }
            let line = "| \(row.device) | \(marks.joined(separator: ", ")) | \(row.deviation) | <\(row.source)> |"
            #expect(text.contains(line), "\(line)")
        }
    }
}
