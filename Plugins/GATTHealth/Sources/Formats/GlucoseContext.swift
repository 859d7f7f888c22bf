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
