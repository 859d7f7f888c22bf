import GatewayKit

/// An oxygen saturation in per cent, and the pulse rate that belongs to it.
struct OximeterPair: Sendable, Hashable {
    var saturation: MedicalNumber
    var pulse: MedicalNumber

    init(from reader: inout FieldReader) throws(FormatError) {
        saturation = try reader.sfloat()
        pulse = try reader.sfloat()
    }
}

/// A single measurement of a pulse oximeter (GATT Specification Supplement, PLX Spot-Check Measurement, 0x2A5E).
struct PLXSpotCheck: Sendable, Hashable {
    var pair: OximeterPair
    var time: DateTime?
    var status: PLXStatus?
    var sensor: PLXSensorStatus?
    /// Pulse amplitude index in per cent.
    var amplitude: MedicalNumber?
    /// Whether the device says that its clock is not set.
    var isClockUnset: Bool

    init(_ bytes: [UInt8]) throws(FormatError) {
        var reader = FieldReader(bytes)
        let flags = try reader.uint8()
        pair = try OximeterPair(from: &reader)
        time = flags & 0x01 != 0 ? try reader.dateTime() : nil
        status = flags & 0x02 != 0 ? PLXStatus(rawValue: try reader.uint16()) : nil
        sensor = flags & 0x04 != 0 ? PLXSensorStatus(rawValue: try reader.uint24()) : nil
        amplitude = flags & 0x08 != 0 ? try reader.sfloat() : nil
        isClockUnset = flags & 0x10 != 0
    }
}

/// The running measurement of a pulse oximeter (GATT Specification Supplement, PLX Continuous Measurement, 0x2A5F).
struct PLXContinuous: Sendable, Hashable {
    var normal: OximeterPair
    /// Averaged over a shorter time.
    var fast: OximeterPair?
    /// Averaged over a longer time.
    var slow: OximeterPair?
    var status: PLXStatus?
    var sensor: PLXSensorStatus?
    /// Pulse amplitude index in per cent.
    var amplitude: MedicalNumber?

    init(_ bytes: [UInt8]) throws(FormatError) {
        var reader = FieldReader(bytes)
        let flags = try reader.uint8()
        normal = try OximeterPair(from: &reader)
        fast = flags & 0x01 != 0 ? try OximeterPair(from: &reader) : nil
        slow = flags & 0x02 != 0 ? try OximeterPair(from: &reader) : nil
        status = flags & 0x04 != 0 ? PLXStatus(rawValue: try reader.uint16()) : nil
        sensor = flags & 0x08 != 0 ? PLXSensorStatus(rawValue: try reader.uint24()) : nil
        amplitude = flags & 0x10 != 0 ? try reader.sfloat() : nil
    }
}

/// How good a measurement of an oximeter is (Measurement Status of the Pulse Oximeter Service).
struct PLXStatus: OptionSet, Sendable, Hashable {
    let rawValue: UInt16
    static let ongoing = PLXStatus(rawValue: 1 << 5)
    static let earlyEstimate = PLXStatus(rawValue: 1 << 6)
    static let validated = PLXStatus(rawValue: 1 << 7)
    static let fullyQualified = PLXStatus(rawValue: 1 << 8)
    static let fromStorage = PLXStatus(rawValue: 1 << 9)
    static let demonstration = PLXStatus(rawValue: 1 << 10)
    static let testing = PLXStatus(rawValue: 1 << 11)
    static let calibration = PLXStatus(rawValue: 1 << 12)
    static let unavailable = PLXStatus(rawValue: 1 << 13)
    static let questionable = PLXStatus(rawValue: 1 << 14)
    static let invalid = PLXStatus(rawValue: 1 << 15)
}

/// What an oximeter says about itself and its sensor (Device and Sensor Status of the Pulse Oximeter Service; 24 bits).
struct PLXSensorStatus: OptionSet, Sendable, Hashable {
    let rawValue: UInt32
    static let malfunction = PLXSensorStatus(rawValue: 1 << 1)
    static let inadequateSignal = PLXSensorStatus(rawValue: 1 << 3)
    static let erraticSignal = PLXSensorStatus(rawValue: 1 << 6)
    static let nonpulsatileSignal = PLXSensorStatus(rawValue: 1 << 7)
    static let questionablePulse = PLXSensorStatus(rawValue: 1 << 8)
    static let unconnected = PLXSensorStatus(rawValue: 1 << 11)
    static let displaced = PLXSensorStatus(rawValue: 1 << 13)
    static let sensorMalfunction = PLXSensorStatus(rawValue: 1 << 14)
    static let disconnected = PLXSensorStatus(rawValue: 1 << 15)
}
