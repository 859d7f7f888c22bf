import GatewayKit
import Testing
import Vitals

@testable import GATTHealth

/// Body compositions in bytes that are worked out by hand, of scales that follow the service and of those of Xiaomi.
@Suite struct CompositionTests {
    private let now = Timestamp(seconds: 1_768_035_600)  // 2026-01-10T10:00 in Berlin
    /// 2026-01-10T08:15:30 in Berlin.
    private let stamp: [UInt8] = [0xea, 0x07, 1, 10, 8, 15, 30]
    private let stamped = Timestamp(seconds: 1_768_029_330)
    private let calendar: LocalCalendar

    init() throws { calendar = try #require(LocalCalendar(identifier: "Europe/Berlin")) }

    private func samples(_ events: [DeviceEvent]) -> [Sample] {
        events.flatMap { if case .samples(let samples, _) = $0 { samples } else { [] as [Sample] } }
    }

    private func problems(_ events: [DeviceEvent]) -> [UnreadableSample] {
        events.flatMap { if case .unreadable(let sample) = $0 { [sample] } else { [] as [UnreadableSample] } }
    }

    private func sample(_ metric: Metric, _ value: Double, user: Int? = nil) -> Sample {
        Sample(metric: metric, start: stamped, isUserInitiated: true, user: user, reading: .value(value))
    }

    /// Fat 23.4 %, time, user 2, 6500 kJ, muscle 38.5 % and 52 kg, fat-free 57.45 kg, soft lean 54.6 kg, water 41.2 kg, 512.3 Ω, 75 kg,
    /// 1.78 m.
    private var everything: [UInt8] {
        [0xfe, 0x0f, 0xea, 0x00] + stamp + [2, 0x64, 0x19, 0x81, 0x01, 0xa0, 0x28, 0xe2, 0x2c, 0xa8, 0x2a]
            + [0x30, 0x20, 0x03, 0x14, 0x98, 0x3a, 0xf4, 0x06]
    }

    @Test func `the fat, what is not fat, the weight and the height of a body are read, and no other part for them`()
        throws
    {
        var scale = CompositionProfile(calendar: calendar, user: nil)
        let events = scale.events(of: everything, at: now)
        #expect(
            samples(events) == [
                sample(.bodyFat, 23.4, user: 2), sample(.leanMass, 57.45, user: 2), sample(.weight, 75, user: 2),
                sample(.height, 178, user: 2),
            ])
        #expect(problems(events).isEmpty)
        let value = try BodyCompositionMeasurement(everything)
        #expect(value.basalMetabolism == 6500 && value.impedance == 5123 && value.musclePercentage == 385)
        #expect(value.kilograms(value.muscleMass) == 52 && value.kilograms(value.softLeanMass) == 54.6)
        #expect(value.kilograms(value.bodyWaterMass) == 41.2)
        for length in everything.indices {
            #expect(throws: FormatError.self) { try BodyCompositionMeasurement(Array(everything.prefix(length))) }
        }
    }

    @Test func `a weight comes from the scale's own service where a device has both`() {
        var scale = CompositionProfile(calendar: calendar, user: nil, hasWeight: false)
        #expect(samples(scale.events(of: everything, at: now)).map(\.metric) == [.bodyFat, .leanMass])
    }

    @Test func `pounds and inches are kilograms and centimetres`() {
        var scale = CompositionProfile(calendar: calendar, user: nil)
        // 126.66 lb without fat, 165.35 lb, 70.1 in; without a time it was measured now.
        let bytes: [UInt8] = [0x41, 0x0c, 0xea, 0x00, 0x7a, 0x31, 0x97, 0x40, 0xbd, 0x02]
        let found = samples(scale.events(of: bytes, at: now))
        #expect(found.map(\.metric) == [.bodyFat, .leanMass, .weight, .height])
        for (sample, value) in zip(found, [23.4, 57.452, 75.0015, 178.054]) {
            #expect(abs((sample.value ?? 0) - value) < 0.0001 && sample.start == now)
        }
    }

    @Test func `the second packet of a measurement belongs to the first, and repeats no fat`() {
        // Time, user and what is not fat; then weight and height.
        let first: [UInt8] = [0x46, 0x10, 0xea, 0x00] + stamp + [2, 0xe2, 0x2c]
        let second: [UInt8] = [0x00, 0x1c, 0xea, 0x00, 0x98, 0x3a, 0xf4, 0x06]
        var scale = CompositionProfile(calendar: calendar, user: nil)
        for _ in 0..<2 {
            #expect(
                samples(scale.events(of: first, at: now)) == [
                    sample(.bodyFat, 23.4, user: 2), sample(.leanMass, 57.45, user: 2),
                ])
            #expect(
                samples(scale.events(of: second, at: now + .seconds(1))) == [
                    sample(.weight, 75, user: 2), sample(.height, 178, user: 2),
                ])
        }
        // One that comes by itself is a measurement of now.
        _ = scale.events(of: first, at: now)
        let late = samples(scale.events(of: second, at: now + RecordClock.quickest))
        #expect(late.map(\.metric) == [.bodyFat, .weight, .height] && late.first?.user == nil)
        // What is not taken of the first is not taken of the second.
        var others = CompositionProfile(calendar: calendar, user: 1)
        #expect(others.events(of: first, at: now).isEmpty)
        #expect(others.events(of: second, at: now).isEmpty)
        var unset = CompositionProfile(calendar: calendar, user: nil)
        let unstamped: [UInt8] = [0x02, 0x10, 0xea, 0x00, 0, 0, 0, 0, 0, 0, 0]
        #expect(problems(unset.events(of: unstamped, at: now)).map(\.metric) == [.bodyFat])
        #expect(unset.events(of: second, at: now).isEmpty)
    }

    @Test func `a composition that failed is refused with its time, and a weight beside it counts`() {
        var scale = CompositionProfile(calendar: calendar, user: nil)
        let failed = UnreadableSample(.bodyFat, at: stamped, "a body fat: the scale could not measure it")
        #expect(scale.events(of: [0x02, 0x00, 0xff, 0xff] + stamp, at: now) == [.unreadable(failed)])
        let barefoot = scale.events(of: [0x42, 0x0c, 0xff, 0xff] + stamp + [0xff, 0xff, 0x98, 0x3a, 0, 0], at: now)
        #expect(samples(barefoot) == [sample(.weight, 75)])
        #expect(problems(barefoot) == [failed])
    }

    // MARK: - Xiaomi

    private func weights(_ values: [[UInt8]], _ quirk: Quirk?) -> [Sample] {
        var scale = CompositionProfile(calendar: calendar, user: nil, quirk: quirk)
        return values.flatMap { samples(scale.events(of: $0, at: now)) }
    }

    @Test func `a weighing of a Mi Body Composition Scale has one weight, and no fat`() {
        let time: [UInt8] = [0xe6, 0x07, 2, 11, 17, 34, 7]
        // It swings, is stable, has the impedance of 442 ohms, and is empty: 14,140 times 5 g.
        let weighing: [[UInt8]] = [
            [0x02, 0x04] + time + [0, 0, 0x10, 0x20], [0x02, 0x24] + time + [0, 0, 0x3c, 0x37],
            [0x02, 0x26] + time + [0xba, 0x01, 0x3c, 0x37], [0x02, 0xa6] + time + [0xba, 0x01, 0x3c, 0x37],
        ]
        let wanted = Sample(
            metric: .weight, start: Timestamp(seconds: 1_644_597_247), isUserInitiated: true, reading: .value(70.7))
        let row = Quirk.all.first { $0.effect == .status(.bodyComposition) }
        #expect(row?.names == ["MIBCS", "MIBFS"])
        #expect(weights(weighing, row) == [wanted])
        #expect(weights(weighing + weighing, row).count == 2)
        // Of an unknown one the bits that the profile reserves say it.
        #expect(weights(Array(weighing.dropFirst()), nil) == [wanted])
    }

    /// A published value of 5.5 kg of a scale whose clock was never set, in pounds and in jin, too.
    @Test(
        arguments: [([0x06, 0x24], 5.5), ([0x07, 0x24], 11 * 0.45359237), ([0x06, 0x64], 5.5)] as [([UInt8], Double)])
    func `a Mi Body Composition Scale without a clock weighs now, in whatever unit it shows`(
        status: [UInt8], kilograms: Double
    ) {
        let found = weights([status + [0xb2, 0x07, 1, 1, 0, 0x2e, 0x38, 0, 0, 0x4c, 0x04]], nil)
        #expect(found.map(\.start) == [now])
        #expect(abs((found.first?.value ?? 0) - kilograms) < 0.000_001)
    }
}
