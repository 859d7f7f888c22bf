import GatewayKit
import Vitals

/// The values of a scale that finds out what a body is made of. It sends what it stored as soon as it is subscribed to; one with a `Quirk`
/// sends what it weighs.
struct CompositionProfile: Sendable {
    private var clock: RecordClock
    private let user: Int?
    /// Whether weight and height count: a device with a Weight Scale Service sends them there, too.
    private let hasWeight: Bool
    /// `nil` for a scale that follows the profile.
    private var status: StatusScale?
    /// The first packet of a measurement in two; `nil` if none waits for its second.
    private var first: FirstPacket?

    /// What a second packet has from its first.
    private struct FirstPacket: Sendable, Hashable {
        var arrival: Timestamp
        /// `nil` if the measurement does not count.
        var moment: Timestamp?
        var user: Int?
    }

    /// - Parameters:
    ///   - user: the only user slot whose values count; `nil` for all.
    ///   - hasWeight: whether nothing else of the device sends its weights.
    init(calendar: LocalCalendar, user: Int?, hasWeight: Bool = true, quirk: Quirk? = nil) {
        clock = RecordClock(calendar: calendar)
        self.user = user
        self.hasWeight = hasWeight
        status = quirk?.effect == .status(.bodyComposition) ? StatusScale(.bodyComposition, calendar: calendar) : nil
    }

    /// The events of a value that arrives now.
    mutating func events(of bytes: [UInt8], at now: Timestamp) -> [DeviceEvent] {
        if status == nil, StatusWeight.isCertain(bytes, .bodyComposition) {
            status = StatusScale(.bodyComposition, calendar: clock.calendar)
        }
        if let events = status?.events(of: bytes, at: now) { return events }
        var start: Timestamp?
        do throws(FormatError) {
            let value = try BodyCompositionMeasurement(bytes)
            if value.mayContinue, let first, now - first.arrival < RecordClock.quickest {
                // It repeats the fat.
                self.first = nil
                guard let moment = first.moment else { return [] }
                return events(of: samples(value, at: moment, user: first.user))
            }
            first = value.isInPackets ? FirstPacket(arrival: now) : nil
            if let user, let slot = value.user, slot != user { return [] }
            let moment = try clock.moment(value.time, at: now)
            start = moment
            first?.moment = moment
            first?.user = value.user
            let others = samples(value, at: moment, user: value.user)
            guard let fat = value.bodyFat else {
                let failed = UnreadableSample(.bodyFat, at: moment, "a body fat: the scale could not measure it")
                return events(of: others) + [.unreadable(failed)]
            }
            let sample = Sample(
                metric: .bodyFat, start: moment, isUserInitiated: true, user: value.user,
                reading: .value(Double(fat) / 10))
            return events(of: [sample] + others)
        } catch {
            return [.unreadable(UnreadableSample(.bodyFat, at: start, "a body composition: \(error.problem)"))]
        }
    }

    /// What a value has beside the fat, as far as it equals a metric. Muscle and soft lean mass are parts of what is not fat, and the
    /// energy of a day at rest is an estimate, not what was spent in a time.
    private func samples(_ value: BodyCompositionMeasurement, at start: Timestamp, user: Int?) -> [Sample] {
        let values: [(metric: Metric, number: Double?)] = [
            (.leanMass, value.kilograms(value.fatFreeMass)),
            (.weight, hasWeight ? value.kilograms(value.weight) : nil),
            (.height, hasWeight ? ScaleUnit.centimetres(value.height, isImperial: value.isImperial) : nil),
        ]
        return values.compactMap { metric, number in
            number.map {
                Sample(metric: metric, start: start, isUserInitiated: true, user: user, reading: .value($0))
            }
        }
    }

    private func events(of samples: [Sample]) -> [DeviceEvent] {
        samples.isEmpty ? [] : [.samples(samples, receipts: [])]
    }
}

/// What a scale sends of a body's composition (GATT Specification Supplement, Body Composition Measurement, 0x2A9C).
struct BodyCompositionMeasurement: Sendable, Hashable {
    /// In 0.1 %; `nil` if the measurement failed (65535).
    var bodyFat: Int?
    var isImperial: Bool
    var time: DateTime?
    /// The user slot; `nil` if there is none or it is unknown (255).
    var user: Int?
    /// What the body needs at rest in a day, in kJ.
    var basalMetabolism: Int?
    /// In 0.1 %.
    var musclePercentage: Int?
    /// In 0.005 kg, or in 0.01 lb, as all masses.
    var muscleMass: Int?
    /// All but the fat.
    var fatFreeMass: Int?
    /// All but the fat and the bones.
    var softLeanMass: Int?
    var bodyWaterMass: Int?
    /// In 0.1 Ω.
    var impedance: Int?
    var weight: Int?
    /// In 0.001 m, or in 0.1 inch.
    var height: Int?
    /// Whether it is one of the two packets of a measurement that is longer than the link allows.
    var isInPackets: Bool
    /// Whether it may be the second of two packets, which has neither time nor user (Body Composition Service 1.0, 3.2).
    var mayContinue: Bool

    init(_ bytes: [UInt8]) throws(FormatError) {
        var reader = FieldReader(bytes)
        let flags = try reader.uint16()
        isImperial = flags & 0x0001 != 0
        isInPackets = flags & 0x1000 != 0
        mayContinue = flags & 0x1006 == 0x1000
        let fat = Int(try reader.uint16())
        bodyFat = fat == 0xffff ? nil : fat
        time = flags & 0x0002 != 0 ? try reader.dateTime() : nil
        let slot = flags & 0x0004 != 0 ? Int(try reader.uint8()) : 255
        user = slot == 255 ? nil : slot
        func field(_ bit: UInt16) throws(FormatError) -> Int? {
            flags >> bit & 1 == 0 ? nil : Int(try reader.uint16())
        }
        basalMetabolism = try field(3)
        musclePercentage = try field(4)
        muscleMass = try field(5)
        fatFreeMass = try field(6)
        softLeanMass = try field(7)
        bodyWaterMass = try field(8)
        impedance = try field(9)
        weight = try field(10)
        height = try field(11)
    }

    /// A mass in kilograms; `nil` without one. 65535 and 0 are not measured, either.
    func kilograms(_ mass: Int?) -> Double? {
        guard let mass, mass != 0xffff, mass != 0 else { return nil }
        return ScaleUnit.kilograms(mass, isImperial: isImperial)
    }
}
