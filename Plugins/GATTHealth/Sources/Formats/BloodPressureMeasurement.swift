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
