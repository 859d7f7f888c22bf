import GatewayKit
import Vitals

/// The records of a cuff. It sends those that it stored as soon as it is subscribed to, and the new ones when they are measured.
struct BloodPressureProfile: Sendable {
    /// 1 kPa in mmHg.
    static let mmHgPerKilopascal = 7.500616827

    private var clock: RecordClock
    private let user: Int?

    /// - Parameter user: the only user slot whose records count; `nil` for all.
    init(calendar: LocalCalendar, user: Int?) {
        clock = RecordClock(calendar: calendar)
        self.user = user
    }

    /// The events of a value that arrives now.
    mutating func events(of bytes: [UInt8], at now: Timestamp) -> [DeviceEvent] {
        var start: Timestamp?
        do throws(FormatError) {
            let record = try BloodPressureMeasurement(bytes)
            if let user, let slot = record.user, slot != user { return [] }
            start = try clock.moment(record.time, at: now)
            return [.samples([try Self.sample(record, at: start ?? now)], receipts: [])]
        } catch {
            return [.unreadable(UnreadableSample(.bloodPressure, at: start, "a blood pressure: \(error.problem)"))]
        }
    }

    /// - Throws: why it is no blood pressure of a person at rest. An irregular pulse is none of the reasons: it is true.
    private static func sample(
        _ record: BloodPressureMeasurement, at start: Timestamp
    ) throws(FormatError) -> Sample {
        let status = record.status ?? []
        if status.contains(.bodyMoved) { throw FormatError("the body moved") }
        if status.contains(.cuffTooLoose) { throw FormatError("the cuff was too loose") }
        if status.contains(.improperPosition) { throw FormatError("the cuff was not at the height of the heart") }
        guard let systolic = record.systolic.number, let diastolic = record.diastolic.number else {
            throw FormatError("the cuff could not measure it")
        }
        func pressure(_ number: Double) -> Double {
            record.isKilopascal ? (number * mmHgPerKilopascal * 10).rounded() / 10 : number
        }
        let isPulseKnown = status.isDisjoint(with: [.pulseAboveRange, .pulseBelowRange])
        let pulse = isPulseKnown ? record.pulse?.number : nil
        return Sample(
            metric: .bloodPressure, start: start, isUserInitiated: true, user: record.user,
            reading: .bloodPressure(
                BloodPressure(systolic: pressure(systolic), diastolic: pressure(diastolic), pulse: pulse)))
    }
}

/// What a cuff sends (GATT Specification Supplement, Blood Pressure Measurement, 0x2A35).
struct BloodPressureMeasurement: Sendable, Hashable {
    /// In mmHg, or in kPa.
    var systolic: MedicalNumber
    var diastolic: MedicalNumber
    var meanArterial: MedicalNumber
    var isKilopascal: Bool
    var time: DateTime?
    /// Beats per minute.
    var pulse: MedicalNumber?
    /// The user slot; `nil` if there is none or it is unknown (255).
    var user: Int?
    var status: Status?

    /// What the cuff detected.
    struct Status: OptionSet, Sendable, Hashable {
        let rawValue: UInt16
        static let bodyMoved = Status(rawValue: 1 << 0)
        static let cuffTooLoose = Status(rawValue: 1 << 1)
        static let irregularPulse = Status(rawValue: 1 << 2)
        /// The pulse was above the upper or (both bits: reserved) below the lower limit of the cuff.
        static let pulseAboveRange = Status(rawValue: 1 << 3)
        static let pulseBelowRange = Status(rawValue: 1 << 4)
        static let improperPosition = Status(rawValue: 1 << 5)
    }

    init(_ bytes: [UInt8]) throws(FormatError) {
        var reader = FieldReader(bytes)
        let flags = try reader.uint8()
        isKilopascal = flags & 0x01 != 0
        systolic = try reader.sfloat()
        diastolic = try reader.sfloat()
        meanArterial = try reader.sfloat()
        time = flags & 0x02 != 0 ? try reader.dateTime() : nil
        pulse = flags & 0x04 != 0 ? try reader.sfloat() : nil
        let slot = flags & 0x08 != 0 ? Int(try reader.uint8()) : 255
        user = slot == 255 ? nil : slot
        status = flags & 0x10 != 0 ? Status(rawValue: try reader.uint16()) : nil
    }
}
