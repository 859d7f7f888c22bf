/// What a thermometer sends (GATT Specification Supplement, Temperature Measurement, 0x2A1C).
struct TemperatureMeasurement: Sendable, Hashable {
    /// In °C, or in °F.
    var temperature: MedicalNumber
    var isFahrenheit: Bool
    var time: DateTime?
    var site: TemperatureType?

    init(_ bytes: [UInt8]) throws(FormatError) {
        var reader = FieldReader(bytes)
        let flags = try reader.uint8()
        isFahrenheit = flags & 0x01 != 0
        temperature = try reader.float()
        time = flags & 0x02 != 0 ? try reader.dateTime() : nil
        site = flags & 0x04 != 0 ? TemperatureType(rawValue: try reader.uint8()) : nil
    }
}

/// Where a temperature is measured (GATT Specification Supplement, Temperature Type, 0x2A1D; 1 byte).
enum TemperatureType: UInt8, CaseIterable, Sendable, Hashable {
    case armpit = 1
    case body, ear, finger, gastrointestinal, mouth, rectum, toe, tympanum

    /// Whether it is a temperature of the skin, which says nothing about fever.
    var isSkin: Bool { self == .finger || self == .toe }
}
