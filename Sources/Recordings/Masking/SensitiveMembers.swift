/// Finds the values of sensitive members in JSON text (`SensitiveKey`), byte by byte, so that it does not matter in which pieces the text
/// comes. Anything else on the stream is harmless: only a text in quotes, a colon, and a value after it count.
struct SensitiveMembers {
    private enum Place {
        case outside
        /// Within a text; `isEscaped` after a backslash.
        case text(isEscaped: Bool)
        /// After a text, which is a key if a colon follows.
        case afterText
        /// After the colon of a sensitive key.
        case beforeValue
        case secretText(isEscaped: Bool)
        case secretNumber
    }
    private var place = Place.outside
    /// The text that may be a key, cut after one byte more than the longest.
    private var text: [UInt8] = []
    /// The keys that were evaluated lately: a page of samples has the same ones again and again.
    private var evaluated: [[UInt8]: Bool] = [:]
    private static let mostEvaluated = 256

    /// Takes the next byte. Returns what takes its place; `nil` if it may appear. A number stays one: its digits become ones.
    mutating func replacement(for byte: UInt8) -> UInt8? {
        switch place {
        case .outside: begin(byte)
        case .text(isEscaped: true): add(byte)
        case .text where byte == UInt8(ascii: "\""): place = .afterText
        case .text where byte == UInt8(ascii: "\\"): place = .text(isEscaped: true)
        case .text where byte == UInt8(ascii: "\n"): place = .outside
        case .text: add(byte)
        case .afterText where byte == UInt8(ascii: ":"): place = isSensitive() ? .beforeValue : .outside
        case .afterText where Self.isSpace(byte), .beforeValue where Self.isSpace(byte): break
        case .afterText: begin(byte)
        case .beforeValue where byte == UInt8(ascii: "\""): place = .secretText(isEscaped: false)
        case .beforeValue where byte == UInt8(ascii: "-"): place = .secretNumber
        case .beforeValue, .secretNumber: return number(byte)
        case .secretText(let isEscaped): return secret(byte, isEscaped)
        }
        return nil
    }

    private mutating func isSensitive() -> Bool {
        guard text.count <= SensitiveKey.longest else { return true }
        if let evaluated = evaluated[text] { return evaluated }
        let key = String(decoding: text, as: UTF8.self)
        let isSensitive = SensitiveKey.isSecret(key) || SensitiveKey.isIdentity(key)
        if evaluated.count == Self.mostEvaluated { evaluated = [:] }
        evaluated[text] = isSensitive
        return isSensitive
    }

    private mutating func begin(_ byte: UInt8) {
        guard byte == UInt8(ascii: "\"") else { return place = .outside }
        text.removeAll(keepingCapacity: true)
        place = .text(isEscaped: false)
    }

    private mutating func add(_ byte: UInt8) {
        if text.count <= SensitiveKey.longest { text.append(byte) }
        place = .text(isEscaped: false)
    }

    private mutating func number(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"):
            place = .secretNumber
            return UInt8(ascii: "1")
        case UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"), UInt8(ascii: "+"), UInt8(ascii: "-"):
            if case .beforeValue = place { place = .outside }
        default: begin(byte)
        }
        return nil
    }

    private mutating func secret(_ byte: UInt8, _ isEscaped: Bool) -> UInt8? {
        // A text has no line feed within, and ends with a quote that no backslash escapes.
        if byte == UInt8(ascii: "\n") || (byte == UInt8(ascii: "\"") && !isEscaped) {
            place = .outside
            return nil
        }
        place = .secretText(isEscaped: byte == UInt8(ascii: "\\") && !isEscaped)
        return UInt8(ascii: "*")
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
}
