import CSDBus

/// A message of D-Bus. It belongs to the thread of its bus.
final class BusMessage {
    /// sd-bus's message, which this object holds a reference to.
    let pointer: OpaquePointer

    /// Takes over a reference.
    init(owning pointer: OpaquePointer) { self.pointer = pointer }

    /// Adds a reference.
    init(_ pointer: OpaquePointer) {
        self.pointer = pointer
        sd_bus_message_ref(pointer)
    }

    deinit { sd_bus_message_unref(pointer) }

    var path: String { Self.text(sd_bus_message_get_path(pointer)) }
    var interface: String { Self.text(sd_bus_message_get_interface(pointer)) }
    var member: String { Self.text(sd_bus_message_get_member(pointer)) }
    var sender: String { Self.text(sd_bus_message_get_sender(pointer)) }

    private static func text(_ text: UnsafePointer<CChar>?) -> String { text.map { String(cString: $0) } ?? "" }

    /// All values of the message, from its beginning.
    func values() throws(BusError) -> [BusValue] {
        try BusError.check(sd_bus_message_rewind(pointer, 1), "A message cannot be read")
        var values: [BusValue] = []
        while sd_bus_message_at_end(pointer, 1) == 0 { values.append(try next()) }
        return values
    }

    /// Reads the next value. sd-bus has checked the whole message, with a nesting of at most 64.
    private func next() throws(BusError) -> BusValue {
        var type: CChar = 0
        var inner: UnsafePointer<CChar>?
        try BusError.check(sd_bus_message_peek_type(pointer, &type, &inner), "A value has no type")
        let contents = Self.text(inner)
        switch Character(UnicodeScalar(UInt8(bitPattern: type))) {
        case "y": return .byte(try basic(type, UInt8(0)))
        case "b": return .bool(try basic(type, Int32(0)) != 0)
        case "n": return .int16(try basic(type, Int16(0)))
        case "q": return .uint16(try basic(type, UInt16(0)))
        case "i": return .int32(try basic(type, Int32(0)))
        case "u": return .uint32(try basic(type, UInt32(0)))
        case "x": return .int64(try basic(type, Int64(0)))
        case "t": return .uint64(try basic(type, UInt64(0)))
        case "d": return .double(try basic(type, Double(0)))
        case "s": return .string(Self.text(try basic(type, nil as UnsafePointer<CChar>?)))
        case "o": return .path(Self.text(try basic(type, nil as UnsafePointer<CChar>?)))
        case "g": return .signature(Self.text(try basic(type, nil as UnsafePointer<CChar>?)))
        case "v":
            let values = try container(type, contents)
            return .variant(values.first ?? .structure([]))
        case "r": return .structure(try container(type, contents))
        case "a" where contents == "y": return .bytes(try bytes())
        case "a" where contents.hasPrefix("{"): return try dictionary(contents)
        case "a": return .array(of: contents, try container(type, contents))
        default:
            try BusError.check(sd_bus_message_skip(pointer, nil), "A value cannot be skipped")
            return .descriptor
        }
    }

    private func basic<Value>(_ type: CChar, _ initial: Value) throws(BusError) -> Value {
        var value = initial
        let result = withUnsafeMutablePointer(to: &value) { sd_bus_message_read_basic(pointer, type, $0) }
        try BusError.check(result, "A value cannot be read")
        return value
    }

    private func container(_ type: CChar, _ contents: String) throws(BusError) -> [BusValue] {
        try BusError.check(sd_bus_message_enter_container(pointer, type, contents), "A container cannot be read")
        var values: [BusValue] = []
        while sd_bus_message_at_end(pointer, 0) == 0 { values.append(try next()) }
        try BusError.check(sd_bus_message_exit_container(pointer), "A container has no end")
        return values
    }

    private func bytes() throws(BusError) -> [UInt8] {
        var start: UnsafeRawPointer?
        var count = 0
        let result = sd_bus_message_read_array(pointer, CChar(bitPattern: UInt8(ascii: "y")), &start, &count)
        try BusError.check(result, "An array cannot be read")
        return count == 0 ? [] : Array(UnsafeRawBufferPointer(start: start, count: count))
    }

    private func dictionary(_ contents: String) throws(BusError) -> BusValue {
        let array = CChar(bitPattern: UInt8(ascii: "a"))
        let entry = CChar(bitPattern: UInt8(ascii: "e"))
        let types = String(contents.dropFirst().dropLast())
        try BusError.check(sd_bus_message_enter_container(pointer, array, contents), "A dictionary cannot be read")
        var entries: [BusValue.Entry] = []
        while sd_bus_message_at_end(pointer, 0) == 0 {
            let pair = try container(entry, types)
            if pair.count == 2 { entries.append(.init(key: pair[0], value: pair[1])) }
        }
        try BusError.check(sd_bus_message_exit_container(pointer), "A dictionary has no end")
        // A key has a basic type, which is one character.
        return .dictionary(key: String(types.prefix(1)), value: String(types.dropFirst()), entries)
    }
}
