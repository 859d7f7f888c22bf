/// A value of D-Bus with its type (D-Bus Specification, "Type System").
indirect enum BusValue: Sendable, Hashable {
    case byte(UInt8)
    case bool(Bool)
    case int16(Int16)
    case uint16(UInt16)
    case int32(Int32)
    case uint32(UInt32)
    case int64(Int64)
    case uint64(UInt64)
    case double(Double)
    case string(String)
    case path(String)
    case signature(String)
    /// An array of bytes, `ay`.
    case bytes([UInt8])
    /// An array of values that all have the type `of`.
    case array(of: String, [BusValue])
    /// A dictionary, with the types of its keys and values.
    case dictionary(key: String, value: String, [Entry])
    case structure([BusValue])
    case variant(BusValue)
    /// A file descriptor. It is left in the message, which closes it.
    case descriptor

    /// An entry of a dictionary.
    struct Entry: Sendable, Hashable {
        var key: BusValue
        var value: BusValue
    }

    /// The type, as D-Bus writes it.
    var type: String {
        switch self {
        case .byte: "y"
        case .bool: "b"
        case .int16: "n"
        case .uint16: "q"
        case .int32: "i"
        case .uint32: "u"
        case .int64: "x"
        case .uint64: "t"
        case .double: "d"
        case .string: "s"
        case .path: "o"
        case .signature: "g"
        case .bytes: "ay"
        case .array(let element, _): "a" + element
        case .dictionary(let key, let value, _): "a{\(key)\(value)}"
        case .structure(let members): "(" + members.map(\.type).joined() + ")"
        case .variant: "v"
        case .descriptor: "h"
        }
    }
}

extension BusValue {
    /// A dictionary of names and variants, `a{sv}`: how BlueZ takes options and reports properties.
    static func options(_ members: [String: BusValue] = [:]) -> BusValue {
        .dictionary(
            key: "s", value: "v",
            members.sorted { $0.key < $1.key }.map { Entry(key: .string($0.key), value: .variant($0.value)) })
    }

    /// The value itself, without the variants around it.
    var plain: BusValue { if case .variant(let value) = self { value.plain } else { self } }

    /// The text of a string, a path or a signature.
    var text: String? {
        switch plain {
        case .string(let text), .path(let text), .signature(let text): text
        default: nil
        }
    }

    /// The number of any integer type, if it fits.
    var number: Int? {
        switch plain {
        case .byte(let number): Int(number)
        case .int16(let number): Int(number)
        case .uint16(let number): Int(number)
        case .int32(let number): Int(number)
        case .uint32(let number): Int(number)
        case .int64(let number): Int(number)
        case .uint64(let number): Int(exactly: number)
        default: nil
        }
    }

    /// The truth of a `b`.
    var flag: Bool? { if case .bool(let flag) = plain { flag } else { nil } }

    /// The bytes of an `ay`.
    var data: [UInt8]? { if case .bytes(let bytes) = plain { bytes } else { nil } }

    /// The elements of an array; empty for anything else.
    var elements: [BusValue] { if case .array(_, let elements) = plain { elements } else { [] } }

    /// The entries of a dictionary whose keys are texts; empty for anything else.
    var members: [String: BusValue] {
        guard case .dictionary(_, _, let entries) = plain else { return [:] }
        var members: [String: BusValue] = [:]
        for entry in entries {
            if let key = entry.key.text { members[key] = entry.value.plain }
        }
        return members
    }
}
