/// Any JSON value as a tree, for commands and configuration, where speed does not matter.
package enum JSONValue: Sendable, Hashable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number. Integers are exact up to 2^53.
    case number(Double)
    /// A string.
    case string(String)
    /// An array.
    case array([JSONValue])
    /// An object: keys with values, in order of the text, each key once.
    case object([Member])

    /// A key with its value.
    package struct Member: Sendable, Hashable {
        /// The key.
        package var key: String
        /// The value.
        package var value: JSONValue
        /// A member.
        package init(_ key: String, _ value: JSONValue) {
            self.key = key
            self.value = value
        }
    }
}

extension JSONValue {
    /// Parses a text that is one value. The last value of a duplicate key wins.
    package init(parsing bytes: [UInt8]) throws(JSONError) {
        var reader = JSONReader(bytes)
        self = try JSONValue(from: &reader)
        try reader.expectEnd()
    }

    /// Reads the next value of a reader.
    package init(from reader: inout JSONReader) throws(JSONError) {
        switch try reader.peek() {
        case .null:
            _ = try reader.takeNull()
            self = .null
        case .bool: self = .bool(try reader.bool())
        case .number: self = .number(try reader.double())
        case .string: self = .string(try reader.string())
        case .array:
            var elements: [JSONValue] = []
            try reader.beginArray()
            while try reader.nextElement() { elements.append(try JSONValue(from: &reader)) }
            self = .array(elements)
        case .object:
            var members: [Member] = []
            try reader.beginObject()
            while let key = try reader.nextKey() { members.append(Member(key, try JSONValue(from: &reader))) }
            self = .object(Self.withoutDuplicates(members))
        }
    }

    private static let fewMembers = 16

    static func withoutDuplicates(_ members: [Member]) -> [Member] {
        guard members.count > 1 else { return members }
        // Few keys are compared faster than hashed.
        if members.count <= fewMembers {
            let isUnique = members.indices.dropFirst().allSatisfy { position in
                !members[..<position].contains { $0.key == members[position].key }
            }
            if isUnique { return members }
        }
        var last: [String: Int] = [:]
        for (position, member) in members.enumerated() { last[member.key] = position }
        if last.count == members.count { return members }
        return members.enumerated().filter { last[$0.element.key] == $0.offset }.map(\.element)
    }

    /// Writes the value.
    package func write(to writer: inout JSONWriter) {
        switch self {
        case .null: writer.null()
        case .bool(let value): writer.bool(value)
        case .number(let value): writer.double(value)
        case .string(let value): writer.string(value)
        case .array(let elements):
            writer.beginArray()
            for element in elements { element.write(to: &writer) }
            writer.endArray()
        case .object(let members):
            writer.beginObject()
            for member in members {
                writer.key(escaping: member.key)
                member.value.write(to: &writer)
            }
            writer.endObject()
        }
    }

    /// The value as JSON text in UTF-8.
    package var bytes: [UInt8] {
        var writer = JSONWriter()
        write(to: &writer)
        return writer.bytes
    }
}

extension JSONValue: CustomStringConvertible {
    /// The value as JSON text.
    package var description: String { String(decoding: bytes, as: UTF8.self) }
}
