import Vitals

/// A message of a FIT file.
struct FITMessage: Sendable, Hashable {
    /// Its number in Garmin's profile.
    let number: UInt16
    /// Seconds since 1989-12-31 UTC, from its own field or its compressed header.
    var time: UInt32?
    /// The fields that have a value, by their numbers. Those of developers are left out.
    var fields: [UInt8: FITValue] = [:]

    /// A field's number in its unit; `nil` if it has none, or several.
    func number(_ field: FITField) -> Double? {
        guard case .number(let number) = fields[field.number] else { return nil }
        return number / field.scale
    }

    /// A whole number of a field.
    func integer(_ field: FITField) -> Int64? { number(field).flatMap { Int64(exactly: $0) } }

    /// The time of a field.
    func timestamp(_ field: FITField) -> Timestamp? { integer(field).map { Timestamp(fit: $0) } }
}

/// Reads the messages of a file by the FIT protocol (developer.garmin.com/fit/protocol): headers of 12 and 14 bytes, both orders of bytes,
/// compressed times, fields of developers, and files that follow each other in one. Times of 16 bits are `FITSamples`' affair.
///
/// It is as strict as the protocol: each check sum must be right, except that a header's may be 0, and each message must be whole.
struct FITReader {
    private struct Field {
        var number: UInt8
        var size: Int
        var type: FITBaseType?
    }
    private struct Definition {
        var message: UInt16
        var isBigEndian: Bool
        var fields: [Field]
        /// The numbers of developers and of their fields.
        var foreign: [[UInt8]] = []
        /// Bytes of a message, with those of developers' fields.
        var size: Int
    }

    let bytes: FITBytes
    /// Whether the fields of a message are decoded.
    private let isWanted: (_ message: UInt16) -> Bool
    private var definitions: [Definition?] = []
    /// The bytes that the part has left; `nil` between two parts.
    private var rest: Int?
    private var time: UInt32 = 0
    private var messages = 0
    /// The most messages.
    private let limit: Int
    /// The names of developers' fields, by the numbers of the developer and the field.
    private var names: [[UInt8]: String] = [:]
    /// How many values the fields of developers had, by their names; none of them is read.
    private(set) var foreign: [String: Int] = [:]

    private static let timeField: UInt8 = 253

    init(
        _ bytes: FITBytes, limit: Int = FITLimits.messages, decoding isWanted: @escaping (_ message: UInt16) -> Bool
    ) {
        self.limit = limit
        self.bytes = bytes
        self.isWanted = isWanted
    }

    /// The next message; `nil` at the end of a whole file.
    mutating func next() throws(ExportError) -> FITMessage? {
        while true {
            guard let rest else {
                if !definitions.isEmpty, try bytes.isAtEnd() { return nil }
                try readHeader()
                continue
            }
            guard rest > 0 else {
                let sum = bytes.checksum
                guard UInt64(sum) == (try bytes.read(2)).bits() else { throw bytes.damaged("its check sum is wrong") }
                self.rest = nil
                continue
            }
            if let message = try readRecord() { return message }
        }
    }

    private mutating func readHeader() throws(ExportError) {
        let foreign = ExportError(.foreign, "\(bytes.path) is no FIT file.")
        guard try !bytes.isAtEnd() else { throw foreign }
        bytes.restart()
        let size = Int((try bytes.read(1)).bits())
        guard size == 12 || size >= 14 else { throw foreign }
        let head = [UInt8](try bytes.read(11))
        guard head[7...].elementsEqual(".FIT".utf8) else { throw foreign }
        guard head[0] >> 4 <= 2 else {
            throw ExportError(
                .foreign, "\(bytes.path) is of a newer protocol, FIT \(head[0] >> 4). Update the gateway.")
        }
        if size >= 14 {
            let sum = bytes.checksum
            let written = (try bytes.read(2)).bits()
            guard written == 0 || written == UInt64(sum) else {
                throw bytes.damaged("the check sum of its header is wrong")
            }
            _ = try bytes.read(size - 14)
        }
        rest = Int(head[3..<7].bits())
        definitions = Array(repeating: nil, count: 16)
        time = 0
    }

    private mutating func read(_ count: Int) throws(ExportError) -> ArraySlice<UInt8> {
        guard let rest, rest >= count else { throw bytes.damaged("a message reaches beyond the end") }
        self.rest = rest - count
        return try bytes.read(count)
    }

    /// Reads a definition, or a message, which it returns.
    private mutating func readRecord() throws(ExportError) -> FITMessage? {
        let head = UInt8(truncatingIfNeeded: try read(1).bits())
        if head & 0xc0 == 0x40 {
            try readDefinition(Int(head & 0xf), hasDeveloperFields: head & 0x20 != 0)
            return nil
        }
        messages += 1
        guard messages <= limit else {
            throw ExportError(.tooLarge, "\(bytes.path) has more than \(limit) messages.")
        }
        let isCompressed = head & 0x80 != 0
        guard let definition = definitions[Int(isCompressed ? head >> 5 & 3 : head & 0xf)] else {
            throw bytes.damaged("a message has no definition")
        }
        var message = FITMessage(number: definition.message)
        if isCompressed {
            time &+= (UInt32(head & 0x1f) &- time) & 0x1f
            message.time = time
        }
        for field in definition.foreign {
            let name = names[field] ?? "without a name"
            foreign[foreign[name] != nil || foreign.count < FITLimits.names ? name : "others", default: 0] += 1
        }
        let isDescription = message.number == FITProfile.Message.fieldDescription.rawValue
        let isWanted = isWanted(message.number) || isDescription
        var content = try read(definition.size)
        for field in definition.fields {
            let body = content.prefix(field.size)
            content = content.dropFirst(field.size)
            guard isWanted || field.number == Self.timeField,
                let value = field.type?.value(of: body, isBigEndian: definition.isBigEndian)
            else { continue }
            message.fields[field.number] = value
            if field.number == Self.timeField, case .number(let number) = value, let seconds = UInt32(exactly: number) {
                time = seconds
                message.time = seconds
            }
        }
        if isDescription { noteName(message) }
        return message
    }

    private mutating func noteName(_ message: FITMessage) {
        typealias Description = FITProfile.FieldDescription
        guard let developer = message.integer(Description.developer), let field = message.integer(Description.field),
            case .text(let name) = message.fields[Description.name.number], names.count < FITLimits.names
        else { return }
        names[[UInt8(truncatingIfNeeded: developer), UInt8(truncatingIfNeeded: field)]] = name.quoted
    }

    private mutating func readDefinition(_ number: Int, hasDeveloperFields: Bool) throws(ExportError) {
        let head = [UInt8](try read(5))
        guard head[1] <= 1 else { throw bytes.damaged("a definition has an unknown order of bytes") }
        let isBigEndian = head[1] == 1
        var definition = Definition(
            message: UInt16(truncatingIfNeeded: head[2..<4].bits(isBigEndian: isBigEndian)), isBigEndian: isBigEndian,
            fields: [], size: 0)
        for _ in 0..<head[4] {
            let field = [UInt8](try read(3))
            definition.fields.append(
                Field(number: field[0], size: Int(field[1]), type: FITBaseType(code: field[2])))
            definition.size += Int(field[1])
        }
        if hasDeveloperFields {
            for _ in 0..<(try read(1)).bits() {
                let field = [UInt8](try read(3))
                definition.size += Int(field[1])
                definition.foreign.append([field[2], field[0]])
            }
        }
        definitions[number] = definition
    }
}
