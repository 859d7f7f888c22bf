@testable import Phones

/// Writes FIT files by the protocol alone: the check sum is that of its definition, bit by bit.
struct FITWriter {
    typealias Field = (number: UInt8, type: FITBaseType, value: Int64)

    var records: [UInt8] = []
    var isBigEndian = false

    /// 2026-01-05T00:00:00Z, in seconds since 1989-12-31.
    static let midnight: Int64 = 1_136_505_600

    /// A number in a file's order of bytes.
    func bytes(_ value: Int64, _ count: Int) -> [UInt8] {
        let little = withUnsafeBytes(of: value.littleEndian) { Array($0.prefix(count)) }
        return isBigEndian ? little.reversed() : little
    }

    /// A definition.
    mutating func define(
        _ message: UInt16, _ fields: [(UInt8, FITBaseType, Int)], as local: UInt8 = 0, developer: Int = 0
    ) {
        records += [0x40 | (developer > 0 ? 0x20 : 0) | local, 0, isBigEndian ? 1 : 0] + bytes(Int64(message), 2)
        records.append(UInt8(fields.count))
        for (number, type, size) in fields {
            records += [number, UInt8(size), type.rawValue | (type.size > 1 ? 0x80 : 0)]
        }
        if developer > 0 { records += [1, 0, UInt8(developer), 0] }
    }

    /// A message with its definition.
    mutating func add(_ message: UInt16, _ fields: Field...) {
        define(message, fields.map { ($0.number, $0.type, $0.type.size) })
        records.append(0)
        for field in fields { records += bytes(field.value, field.type.size) }
    }

    /// A message of a moment, in seconds since `midnight`.
    mutating func add(_ message: UInt16, at second: Int64, _ fields: [Field]) {
        let all: [Field] = [(253, .uint32, Self.midnight + second)] + fields
        define(message, all.map { ($0.number, $0.type, $0.type.size) })
        records.append(0)
        for field in all { records += bytes(field.value, field.type.size) }
    }

    /// The first message: a file of this type of a Garmin, begun at a moment.
    mutating func begin(_ type: Int64 = 4, at second: Int64 = 0, maker: Int64 = 1, serial: Int64 = 77) {
        add(
            0, (0, .enumeration, type), (1, .uint16, maker), (2, .uint16, 3113), (3, .uint32z, serial),
            (4, .uint32, Self.midnight + second))
    }

    /// All of it as a file.
    func file(header size: Int = 14, headerSum: Bool = true) -> [UInt8] {
        var writer = self
        writer.isBigEndian = false
        var all: [UInt8] = [UInt8(size), 0x20] + writer.bytes(2193, 2) + writer.bytes(Int64(records.count), 4)
        all += Array(".FIT".utf8)
        if size >= 14 { all += headerSum ? writer.bytes(Int64(Self.sum(all)), 2) : [0, 0] }
        all += records
        return all + writer.bytes(Int64(Self.sum(all)), 2)
    }

    /// CRC-16 with the polynomial 0x8005, least bit first.
    static func sum(_ bytes: [UInt8]) -> UInt16 {
        bytes.reduce(UInt16(0)) { sum, byte in
            (0..<8).reduce(sum ^ UInt16(byte)) { sum, _ in sum & 1 == 1 ? sum >> 1 ^ 0xa001 : sum >> 1 }
        }
    }
}
