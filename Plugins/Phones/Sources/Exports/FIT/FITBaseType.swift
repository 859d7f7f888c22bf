/// The base types of FIT's fields, by their numbers: the lower five bits of the byte in a field's definition. (FIT Protocol, "Base Type")
enum FITBaseType: UInt8, Sendable {
    case enumeration, sint8, uint8, sint16, uint16, sint32, uint32, string, float32, float64, uint8z, uint16z, uint32z
    case byte, sint64, uint64, uint64z

    /// The type of this byte of a definition; `nil` for one that is unknown, whose bytes are passed over.
    init?(code: UInt8) { self.init(rawValue: code & 0x1f) }

    /// Bytes of one value.
    var size: Int {
        switch self {
        case .enumeration, .sint8, .uint8, .string, .uint8z, .byte: 1
        case .sint16, .uint16, .uint16z: 2
        case .sint32, .uint32, .float32, .uint32z: 4
        case .float64, .sint64, .uint64, .uint64z: 8
        }
    }

    private var isSigned: Bool { [.sint8, .sint16, .sint32, .sint64].contains(self) }

    /// The bits that stand for no value.
    private var invalid: UInt64 {
        switch self {
        case .uint8z, .uint16z, .uint32z, .uint64z: 0
        default: UInt64.max >> UInt64(64 - 8 * size + (isSigned ? 1 : 0))
        }
    }

    /// The value of a field's bytes; `nil` if it has none: the pattern of its type, an empty text, or a length that is none of the type.
    func value(of bytes: ArraySlice<UInt8>, isBigEndian: Bool) -> FITValue? {
        if self == .string {
            let text = bytes.prefix { $0 != 0 }
            return text.isEmpty ? nil : .text(String(decoding: text, as: UTF8.self))
        }
        guard !bytes.isEmpty, bytes.count % size == 0 else { return nil }
        if bytes.count == size { return number(bytes, isBigEndian).map { .number($0) } }
        let starts = stride(from: bytes.startIndex, to: bytes.endIndex, by: size)
        let list = starts.map { number(bytes[$0..<$0 + size], isBigEndian) }
        return list.contains { $0 != nil } ? .list(list) : nil
    }

    private func number(_ bytes: ArraySlice<UInt8>, _ isBigEndian: Bool) -> Double? {
        let bits = bytes.bits(isBigEndian: isBigEndian)
        guard bits != invalid else { return nil }
        switch self {
        case .float32:
            let number = Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
            return number.isFinite ? number : nil
        case .float64:
            let number = Double(bitPattern: bits)
            return number.isFinite ? number : nil
        default:
            let unused = 64 - 8 * size
            return isSigned ? Double(Int64(bitPattern: bits << unused) >> unused) : Double(bits)
        }
    }
}

/// The value of a field, without scale and offset.
enum FITValue: Sendable, Hashable {
    case number(Double)
    /// Several, of which some may be missing.
    case list([Double?])
    case text(String)
}

extension ArraySlice<UInt8> {
    /// Up to eight bytes as one number.
    func bits(isBigEndian: Bool = false) -> UInt64 {
        isBigEndian ? reduce(0) { $0 << 8 | UInt64($1) } : reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
