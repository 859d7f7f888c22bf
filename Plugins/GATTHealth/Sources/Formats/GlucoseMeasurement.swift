import GatewayKit

/// A record of a glucose meter (GATT Specification Supplement, Glucose Measurement, 0x2A18).
struct GlucoseMeasurement: Sendable, Hashable {
    /// Its number, which rises with each record.
    var sequence: Int
    var baseTime: DateTime
    /// Minutes from the base time to the time that the meter showed.
    var timeOffset: Int?
    /// In kg/L, or in mol/L.
    var concentration: MedicalNumber?
    var isMolar: Bool
    /// The fluid, 1–10, 0 if there is none: see `GlucoseFluid`.
    var fluid: Int
    /// The place, 1–4, 15 if unknown; 4 is a control solution.
    var location: Int
    var status: Status?
    /// Whether a context with the same number follows.
    var hasContext: Bool

    /// What the meter detected (Sensor Status Annunciation).
    struct Status: OptionSet, Sendable, Hashable {
        let rawValue: UInt16
        static let batteryLow = Status(rawValue: 1 << 0)
        static let malfunction = Status(rawValue: 1 << 1)
        static let sampleTooSmall = Status(rawValue: 1 << 2)
        static let stripInsertion = Status(rawValue: 1 << 3)
        static let wrongStrip = Status(rawValue: 1 << 4)
        static let aboveRange = Status(rawValue: 1 << 5)
        static let belowRange = Status(rawValue: 1 << 6)
        static let tooHot = Status(rawValue: 1 << 7)
        static let tooCold = Status(rawValue: 1 << 8)
        static let readInterrupted = Status(rawValue: 1 << 9)
        static let generalFault = Status(rawValue: 1 << 10)
        static let timeFault = Status(rawValue: 1 << 11)
    }

    init(_ bytes: [UInt8]) throws(FormatError) {
        var reader = FieldReader(bytes)
        let flags = try reader.uint8()
        sequence = Int(try reader.uint16())
        baseTime = try reader.dateTime()
        timeOffset = flags & 0x01 != 0 ? Int(try reader.int16()) : nil
        isMolar = flags & 0x04 != 0
        (concentration, fluid, location) = (nil, 0, 0)
        if flags & 0x02 != 0 {
            concentration = try reader.sfloat()
            let both = try reader.uint8()
            (fluid, location) = (Int(both & 0x0f), Int(both >> 4))
        }
        status = flags & 0x08 != 0 ? Status(rawValue: try reader.uint16()) : nil
        hasContext = flags & 0x10 != 0
    }
}

/// What belongs to a record of a glucose meter (GATT Specification Supplement, Glucose Measurement Context, 0x2A34).
struct GlucoseContext: Sendable {
    /// The number of its record.
    var sequence: Int
    /// The kind of carbohydrate, with kilograms.
    var carbohydrate: (kind: Int, mass: MedicalNumber)?
    /// 1 before a meal, 2 after one, 3 fasting, 4 casual, 5 bedtime.
    var meal: Int?
    /// Who measured, and the health of the person.
    var testerAndHealth: (tester: Int, health: Int)?
    /// Seconds, and per cent of the greatest effort.
    var exercise: (seconds: Int, intensity: Int)?
    /// The kind of medication, with kilograms or litres.
    var medication: (kind: Int, amount: MedicalNumber, isVolume: Bool)?
    /// Glycated haemoglobin in per cent.
    var haemoglobin: MedicalNumber?

    init(_ bytes: [UInt8]) throws(FormatError) {
        var reader = FieldReader(bytes)
        let flags = try reader.uint8()
        sequence = Int(try reader.uint16())
        if flags & 0x80 != 0 { _ = try reader.uint8() }  // more flags, none of which is assigned
        if flags & 0x01 != 0 { carbohydrate = (Int(try reader.uint8()), try reader.sfloat()) }
        if flags & 0x02 != 0 { meal = Int(try reader.uint8()) }
        if flags & 0x04 != 0 {
            let both = try reader.uint8()
            testerAndHealth = (Int(both & 0x0f), Int(both >> 4))
        }
        if flags & 0x08 != 0 { exercise = (Int(try reader.uint16()), Int(try reader.uint8())) }
        if flags & 0x10 != 0 { medication = (Int(try reader.uint8()), try reader.sfloat(), flags & 0x20 != 0) }
        haemoglobin = flags & 0x40 != 0 ? try reader.sfloat() : nil
    }
}
