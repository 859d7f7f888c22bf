import GatewayKit
import Testing
import Vitals

@testable import GATTHealth

@Suite struct ProfileTests {
    private let now = Timestamp(seconds: 1_768_035_600)  // 2026-01-10T10:00 in Berlin
    private let calendar: LocalCalendar

    init() throws { calendar = try #require(LocalCalendar(identifier: "Europe/Berlin")) }

    private func samples(_ events: [DeviceEvent]) -> [Sample] {
        events.flatMap { if case .samples(let samples, _) = $0 { samples } else { [] as [Sample] } }
    }

    private func problem(_ events: [DeviceEvent]) -> String? {
        for case .unreadable(let sample) in events { return sample.problem }
        return nil
    }

    // MARK: - Heart rate

    @Test func `a strap without contact is not worn, and its rates are no samples`() {
        var strap = HeartRateProfile(hasVariability: true)
        #expect(strap.events(of: [0x06, 70], at: now).first == .wear(isWorn: true))
        #expect(
            strap.events(of: [0x06, 71], at: now) == [
                .samples([Sample(metric: .heartRate, start: now, reading: .value(71))], receipts: [])
            ])
        #expect(strap.events(of: [0x04, 71], at: now) == [.wear(isWorn: false)])
        #expect(strap.events(of: [0x04, 71], at: now).isEmpty)
        #expect(strap.events(of: [0x06, 0], at: now) == [.wear(isWorn: true)])
        #expect(problem(strap.events(of: [0x01, 70], at: now)) == "a heart rate: it is too short")
    }

    /// Sends a beat per second for some seconds, whose lengths in 1/1024 s repeat.
    private func variability(_ beats: [UInt16], seconds: Int, from strap: inout HeartRateProfile) -> [Sample] {
        (0..<seconds).flatMap { second -> [Sample] in
            let beat = beats[second % beats.count]
            let bytes = [0x10, 60, UInt8(beat & 0xff), UInt8(beat >> 8)]
            return samples(strap.events(of: bytes, at: now + .seconds(second)))
        }.filter { $0.metric == .heartRateVariability }
    }

    @Test func `five minutes of beats give a variability`() throws {
        var strap = HeartRateProfile(hasVariability: true)
        // 1000 and 1050 ms in turn: each difference is 50 ms.
        let found = variability([1024, 1075], seconds: 301, from: &strap)
        let sample = try #require(found.first)
        #expect(found.count == 1)
        #expect(sample.start == now && sample.end == now + .minutes(5))
        #expect(sample.qualifiers == [.statistic: "rmssd"])
        #expect(abs((sample.value ?? 0) - 51.0 * 1000 / 1024) < 0.001)
        #expect(sample.isValid)
    }

    @Test func `missed beats do not count, and too many of them leave no variability`() throws {
        var strap = HeartRateProfile(hasVariability: true)
        // Every thirtieth beat is missed, so that two of them look like one.
        let few = Array(repeating: UInt16(1000), count: 29) + [2000]
        #expect(variability(few, seconds: 302, from: &strap).first?.value == 0)
        strap = HeartRateProfile(hasVariability: true)
        #expect(variability([1000, 2000], seconds: 302, from: &strap).isEmpty)
        strap = HeartRateProfile(hasVariability: false)
        #expect(variability([1024, 1075], seconds: 400, from: &strap).isEmpty)
    }

    @Test func `a pause begins a new window`() {
        var window = BeatWindow()
        for second in 0..<200 { #expect(window.add([1000], at: now + .seconds(second)) == nil) }
        for second in 300..<600 { #expect(window.add([1000], at: now + .seconds(second)) == nil) }
        #expect(window.add([1000], at: now + .seconds(600))?.start == now + .seconds(300))
    }

    // MARK: - Blood pressure

    private let stamp: [UInt8] = [0xea, 0x07, 1, 10, 8, 15, 30]
    private var stamped: Timestamp { Timestamp(seconds: 1_768_029_330) }

    @Test func `a cuff's record has its own time, pulse and user`() {
        var cuff = BloodPressureProfile(calendar: calendar, user: nil)
        let events = cuff.events(of: [0x1e, 120, 0, 80, 0, 93, 0] + stamp + [72, 0, 1, 4, 0], at: now)
        // An irregular pulse is true, and is kept.
        let pressure = BloodPressure(systolic: 120, diastolic: 80, pulse: 72)
        #expect(
            samples(events) == [
                Sample(
                    metric: .bloodPressure, start: stamped, isUserInitiated: true, user: 1,
                    reading: .bloodPressure(pressure))
            ])
    }

    /// Berlin: 2026-03-29 02:00 is skipped, 2026-10-25 02:00 comes twice. It is 2026-01-10 10:00.
    @Test(
        arguments: [
            ([3, 29, 1, 30], 1_774_744_200), ([3, 29, 2, 30], 1_774_746_000), ([3, 29, 3, 30], 1_774_747_800),
            ([10, 25, 1, 30], 1_792_884_600), ([10, 25, 2, 30], 1_792_888_200), ([10, 25, 3, 30], 1_792_895_400),
            // Ten minutes and ten days ahead. The gateway refuses them.
            ([1, 10, 10, 10], 1_768_036_200), ([1, 20, 10, 0], 1_768_899_600),
        ] as [([UInt8], Int64)])
    func `a record has the moment at which the cuff's clock first showed it, also when the clocks change, and ahead`(
        time: [UInt8], moment: Int64
    ) {
        var cuff = BloodPressureProfile(calendar: calendar, user: nil)
        let events = cuff.events(of: [0x02, 120, 0, 80, 0, 93, 0, 0xea, 0x07] + time + [0], at: now)
        #expect(samples(events).map(\.start) == [Timestamp(seconds: moment)])
    }

    @Test func `kilopascals become millimetres of mercury`() {
        var cuff = BloodPressureProfile(calendar: calendar, user: nil)
        // 16.0 over 10.7 kPa
        let found = samples(cuff.events(of: [0x01, 0xa0, 0xf0, 0x6b, 0xf0, 0, 0], at: now)).first
        #expect(found?.reading == .bloodPressure(BloodPressure(systolic: 120, diastolic: 80.3)))
        #expect(found?.start == now)
    }

    @Test(arguments: [(UInt8(0x01), "the body moved"), (0x02, "the cuff was too loose"), (0x20, "height of the heart")])
    func `what a cuff itself doubts is refused with its reason and its time`(status: UInt8, reason: String) {
        var cuff = BloodPressureProfile(calendar: calendar, user: nil)
        let events = cuff.events(of: [0x12, 120, 0, 80, 0, 93, 0] + stamp + [status, 0], at: now)
        #expect(samples(events).isEmpty)
        #expect(problem(events)?.contains(reason) == true)
        if case .unreadable(let sample)? = events.first { #expect(sample.start == stamped) }
    }

    @Test func `a pulse beyond the cuff's range is skipped, a failed measurement refused`() {
        var cuff = BloodPressureProfile(calendar: calendar, user: nil)
        let found = samples(cuff.events(of: [0x14, 120, 0, 80, 0, 93, 0, 250, 0, 0x08, 0], at: now)).first
        #expect(found?.reading == .bloodPressure(BloodPressure(systolic: 120, diastolic: 80)))
        #expect(
            problem(cuff.events(of: [0x02, 0xff, 7, 0xff, 7, 0xff, 7] + stamp, at: now))?.contains("could not") == true)
    }

    @Test func `only the chosen user counts`() {
        var cuff = BloodPressureProfile(calendar: calendar, user: 2)
        #expect(cuff.events(of: [0x0a, 120, 0, 80, 0, 93, 0] + stamp + [1], at: now).isEmpty)
        #expect(samples(cuff.events(of: [0x0a, 120, 0, 80, 0, 93, 0] + stamp + [2], at: now)).first?.user == 2)
        // Without a slot it is the only user's.
        #expect(samples(cuff.events(of: [0x0a, 120, 0, 80, 0, 93, 0] + stamp + [255], at: now)).count == 1)
    }

    @Test func `a record without a time is new, and a second one right after it has no true time`() {
        var cuff = BloodPressureProfile(calendar: calendar, user: nil)
        let bytes: [UInt8] = [0x00, 120, 0, 80, 0, 93, 0]
        #expect(samples(cuff.events(of: bytes, at: now)).first?.start == now)
        #expect(problem(cuff.events(of: bytes, at: now + .milliseconds(40)))?.contains("no time") == true)
        #expect(samples(cuff.events(of: bytes, at: now + .minutes(1))).count == 1)
        // A clock that was never set.
        let events = cuff.events(of: [0x02, 120, 0, 80, 0, 93, 0, 0xd0, 0x07, 1, 1, 0, 0, 0], at: now + .minutes(2))
        #expect(problem(events)?.contains("clock was not set") == true)
    }

    // MARK: - Oximeter

    @Test func `running values come with the pulse, and those without a signal do not come`() {
        var oximeter = OximeterProfile(calendar: calendar)
        let good = oximeter.running([0x0c, 97, 0, 66, 0, 0x20, 0, 0, 0, 0], at: now)
        #expect(good.first == .wear(isWorn: true))
        #expect(samples(good).map(\.value) == [97, 66])
        #expect(samples(good).map(\.metric) == [.bloodOxygen, .heartRate])
        #expect(oximeter.running([0x0c, 97, 0, 66, 0, 0x20, 0, 0, 0x80, 0], at: now) == [.wear(isWorn: false)])
        #expect(oximeter.running([0x0c, 97, 0, 66, 0, 0, 0x80, 0, 0x80, 0], at: now).isEmpty)
        #expect(oximeter.running([0x00, 0xff, 7, 0xff, 7], at: now).isEmpty)
        #expect(samples(oximeter.running([0x00, 97, 0, 0xff, 7], at: now)).count == 1)
    }

    @Test func `a stored spot check needs a time, and a new one is now`() {
        var oximeter = OximeterProfile(calendar: calendar)
        #expect(samples(oximeter.spotCheck([0x01, 97, 0, 66, 0] + stamp, at: now)).map(\.start) == [stamped, stamped])
        #expect(samples(oximeter.spotCheck([0x11, 97, 0, 66, 0] + stamp, at: now)).first?.start == now)
        for bytes in [[0x11, 97, 0, 66, 0] + stamp, [0x00, 97, 0, 66, 0]] as [[UInt8]] {
            guard case .refused = oximeter.record(bytes, arrivedAt: nil) else {
                Issue.record("\(bytes) was taken")
                continue
            }
        }
    }

    // MARK: - Thermometer and scale

    @Test func `a thermometer says where, and in what`() {
        var thermometer = ThermometerProfile(calendar: calendar, site: nil, isAutomatic: false)
        let mouth = samples(thermometer.events(of: [0x05, 0xdc, 0x03, 0x00, 0xff, 6], at: now)).first
        #expect(mouth?.metric == .temperature && mouth?.value == 37.11 && mouth?.isUserInitiated == true)
        let toe = samples(thermometer.events(of: [0x06, 0x4a, 0x01, 0x00, 0xff] + stamp + [8], at: now)).first
        #expect(toe?.metric == .skinTemperature && toe?.value == 33 && toe?.start == stamped)
        #expect(
            problem(thermometer.events(of: [0x00, 0xff, 0xff, 0x7f, 0x00], at: now + .hours(1)))?.contains("could not")
                == true)
    }

    @Test func `a thermometer that measures by itself sends many values without a time`() {
        var thermometer = ThermometerProfile(calendar: calendar, site: .armpit, isAutomatic: true)
        for second in 0..<5 {
            let found = samples(thermometer.events(of: [0x00, 0x6c, 0x01, 0x00, 0xff], at: now + .seconds(second)))
                .first
            #expect(found?.start == now + .seconds(second) && found?.isUserInitiated == false)
        }
    }

    @Test func `a scale's weight is its user's`() {
        var scale = ScaleProfile(calendar: calendar, user: nil)
        let found = samples(scale.events(of: [0x06, 0xd0, 0x3a] + stamp + [3], at: now)).first
        #expect(found?.value == 75.28 && found?.user == 3 && found?.start == stamped)
        #expect(problem(scale.events(of: [0x02, 0xff, 0xff] + stamp, at: now))?.contains("could not") == true)
    }

    @Test func `a scale that knows the height sends it, with the body mass index`() {
        var scale = ScaleProfile(calendar: calendar, user: nil)
        // 75.28 kg, 23.0 kg/m², 1.71 m.
        let bytes: [UInt8] = [0x0e, 0xd0, 0x3a] + stamp + [1, 0xe6, 0, 0xae, 0x06]
        let found = samples(scale.events(of: bytes, at: now))
        #expect(found.map(\.metric) == [.weight, .bodyMassIndex, .height])
        #expect(found.compactMap(\.value) == [75.28, 23, 171])
        #expect(found.allSatisfy { $0.user == 1 && $0.start == stamped && $0.isUserInitiated })
        // 67.3 inches; and a scale whose user has told it none.
        let inches = samples(scale.events(of: [0x09, 0xd8, 0x40, 0xe6, 0, 0xa1, 0x02], at: now)).last
        #expect(abs((inches?.value ?? 0) - 170.942) < 0.000_001)
        let untold = samples(scale.events(of: [0x0a, 0xd0, 0x3a] + stamp + [0, 0, 0, 0], at: now))
        #expect(untold.map(\.metric) == [.weight])
    }

    // MARK: - Glucose

    private func sugar(_ flags: UInt8, _ rest: [UInt8], offset: [UInt8] = []) throws -> GlucoseMeasurement {
        try GlucoseMeasurement([flags, 1, 0] + stamp + offset + rest)
    }

    @Test func `a record is in milligrams per decilitre, at its own time`() throws {
        let meter = GlucoseProfile(calendar: calendar)
        // 90e-5 kg/L, 60 minutes after the base time, capillary whole blood from a finger.
        let record = try sugar(0x03, [0x5a, 0xb0, 0x11], offset: [60, 0])
        let context = try GlucoseContext([0x02, 1, 0, 1])
        #expect(
            meter.record(record, context)
                == .samples([
                    Sample(
                        metric: .bloodGlucose, start: stamped + .hours(1), isUserInitiated: true,
                        qualifiers: [.specimen: "capillary_blood", .meal: "before"], reading: .value(90))
                ]))
        // 5.5e-3 mol/L is 99.1 mg/dL.
        guard case .samples(let samples) = meter.record(try sugar(0x06, [0x37, 0xc0, 0x22]), nil) else {
            Issue.record("it was refused")
            return
        }
        #expect(samples.first?.value == 99.1 && samples.first?.qualifiers == [.specimen: "plasma"])
    }

    @Test func `a control solution is nobody's glucose, and a faulty record is refused`() throws {
        let meter = GlucoseProfile(calendar: calendar)
        for fluidAndPlace in [0x1a, 0x41] as [UInt8] {
            let control = try sugar(0x02, [0x5a, 0xb0, fluidAndPlace])
            #expect(meter.record(control, nil) == StoredRecord.none)
        }
        for bit in 1..<12 {
            let status: [UInt8] = [UInt8((1 << bit) & 0xff), UInt8((1 << bit) >> 8)]
            guard case .refused(let sample) = meter.record(try sugar(0x0a, [0x5a, 0xb0, 0x11] + status), nil) else {
                Issue.record("the bit \(bit) was taken")
                continue
            }
            #expect(sample.start == stamped)
        }
        guard case .samples = meter.record(try sugar(0x0a, [0x5a, 0xb0, 0x11, 1, 0]), nil) else {
            Issue.record("a low battery is no reason")
            return
        }
    }
}
