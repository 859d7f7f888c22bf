import GatewayKit

/// What a device says of itself in an advertisement and its scan response (Core Specification Supplement, Part A, 1).
struct Advertisement: Sendable, Hashable {
    var name: String?
    var services: [BluetoothUUID] = []

    /// Reads the structures of an advertisement, up to the first that is incomplete.
    init(_ data: some Collection<UInt8>) {
        var rest = Array(data)[...]
        var shortName: String?
        while let length = rest.first.map(Int.init), length > 0, rest.count > length {
            let type = rest[rest.startIndex + 1]
            let value = Array(rest.dropFirst(2).prefix(length - 1))
            rest = rest.dropFirst(length + 1)
            switch type {
            case 0x02, 0x03: add(value, size: 2)
            case 0x06, 0x07: add(value, size: 16)
            case 0x08: shortName = Self.text(value)
            case 0x09: name = Self.text(value)
            case 0x16: add(Array(value.prefix(2)), size: 2)
            case 0x21: add(Array(value.prefix(16)), size: 16)
            default: break
            }
        }
        name = name ?? shortName
    }

    /// Adds what another packet of the device says.
    mutating func add(_ other: Advertisement) {
        name = other.name ?? name
        services += other.services.filter { !services.contains($0) }
    }

    private mutating func add(_ bytes: [UInt8], size: Int) {
        for start in stride(from: 0, to: bytes.count - size + 1, by: size) {
            let uuid = BluetoothUUID(littleEndian: bytes[start..<(start + size)])
            if !services.contains(uuid) { services.append(uuid) }
        }
    }

    private static func text(_ bytes: [UInt8]) -> String? {
        let scalars = String(decoding: bytes, as: UTF8.self).unicodeScalars
            .filter { $0.properties.generalCategory != .control }
        return scalars.isEmpty ? nil : String(String.UnicodeScalarView(scalars))
    }
}

extension BluetoothUUID {
    /// Two or sixteen bytes, the last one first.
    fileprivate init(littleEndian bytes: ArraySlice<UInt8>) {
        func number(_ bytes: some Collection<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        if bytes.count == 2 {
            self.init(UInt16(truncatingIfNeeded: number(bytes.reversed())))
        } else {
            self.init(high: number(bytes.reversed().prefix(8)), low: number(bytes.reversed().suffix(8)))
        }
    }
}

/// An address of Bluetooth as a proxy has it: 48 bits.
enum BluetoothAddress {
    /// The notation of the configuration, such as `A4:C1:38:00:11:22`.
    static func text(_ address: UInt64) -> String {
        (0..<6).reversed().map { index in
            let digits = String(address >> (8 * UInt64(index)) & 0xff, radix: 16, uppercase: true)
            return digits.count < 2 ? "0" + digits : digits
        }.joined(separator: ":")
    }
}
