import GatewayKit

/// Reads the fields of a characteristic's value: little-endian, without padding (Bluetooth Core Specification, Vol 3, Part G, 2.4).
///
/// Bytes after the last known field are ignored: a later version of a format may add fields at its end.
struct FieldReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    /// The bytes that were not read.
    var count: Int { rest.count }

    mutating func uint8() throws(FormatError) -> UInt8 {
        guard let first = rest.popFirst() else { throw FormatError("it is too short") }
        return first
    }

    mutating func uint16() throws(FormatError) -> UInt16 {
        let low = try uint8()
        return UInt16(low) | UInt16(try uint8()) << 8
    }

    mutating func int16() throws(FormatError) -> Int16 { Int16(bitPattern: try uint16()) }

    mutating func uint24() throws(FormatError) -> UInt32 {
        let low = try uint16()
        return UInt32(low) | UInt32(try uint8()) << 16
    }

    mutating func uint32() throws(FormatError) -> UInt32 {
        let low = try uint16()
        return UInt32(low) | UInt32(try uint16()) << 16
    }

    mutating func sfloat() throws(FormatError) -> MedicalNumber { MedicalNumber(sfloat: try uint16()) }

    mutating func float() throws(FormatError) -> MedicalNumber { MedicalNumber(float: try uint32()) }

    mutating func dateTime() throws(FormatError) -> DateTime { try DateTime(from: &self) }
}
