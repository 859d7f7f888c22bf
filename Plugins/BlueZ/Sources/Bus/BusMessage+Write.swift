import CSDBus

extension BusMessage {
    /// Appends values.
    func append(_ values: [BusValue]) throws(BusError) { for value in values { try append(value) } }

    /// Appends a value.
    func append(_ value: BusValue) throws(BusError) {
        switch value {
        case .byte(let number): try append("y", number)
        case .bool(let flag): try append("b", Int32(flag ? 1 : 0))
        case .int16(let number): try append("n", number)
        case .uint16(let number): try append("q", number)
        case .int32(let number): try append("i", number)
        case .uint32(let number): try append("u", number)
        case .int64(let number): try append("x", number)
        case .uint64(let number): try append("t", number)
        case .double(let number): try append("d", number)
        case .string(let text): try append("s", text: text)
        case .path(let text): try append("o", text: text)
        case .signature(let text): try append("g", text: text)
        case .bytes(let bytes):
            let result = bytes.withUnsafeBytes {
                sd_bus_message_append_array(pointer, Self.code("y"), $0.baseAddress, $0.count)
            }
            try BusError.check(result, "Bytes cannot be sent")
        case .array(let element, let values): try container("a", element, values)
        case .dictionary(let key, let value, let entries):
            try open("a", "{\(key)\(value)}")
            for entry in entries { try container("e", key + value, [entry.key, entry.value]) }
            try close()
        case .structure(let members): try container("r", members.map(\.type).joined(), members)
        case .variant(let inner): try container("v", inner.type, [inner])
        case .descriptor: throw .invalid("A file descriptor cannot be sent.")
        }
    }

    private static func code(_ type: Unicode.Scalar) -> CChar { CChar(bitPattern: UInt8(ascii: type)) }

    private func append<Value>(_ type: Unicode.Scalar, _ value: Value) throws(BusError) {
        var value = value
        let result = withUnsafePointer(to: &value) { sd_bus_message_append_basic(pointer, Self.code(type), $0) }
        try BusError.check(result, "A value of the type \(type) cannot be sent")
    }

    private func append(_ type: Unicode.Scalar, text: String) throws(BusError) {
        let result = text.withCString { sd_bus_message_append_basic(pointer, Self.code(type), $0) }
        try BusError.check(result, "A text of the type \(type) cannot be sent")
    }

    private func container(
        _ type: Unicode.Scalar, _ contents: String, _ values: [BusValue]
    ) throws(BusError) {
        try open(type, contents)
        try append(values)
        try close()
    }

    private func open(_ type: Unicode.Scalar, _ contents: String) throws(BusError) {
        try BusError.check(
            sd_bus_message_open_container(pointer, Self.code(type), contents), "A container cannot be sent")
    }

    private func close() throws(BusError) {
        try BusError.check(sd_bus_message_close_container(pointer), "A container cannot be ended")
    }
}
