/// The fields of a form, or of what follows the question mark of an address: `application/x-www-form-urlencoded`.
struct FormFields: Sendable, Hashable {
    /// The most fields: the form of a device with all settings has about a hundred.
    static let maximum = 400

    /// A field with its value.
    struct Field: Sendable, Hashable {
        var name: String
        var value: String
    }

    /// In the order of the form.
    private(set) var list: [Field] = []

    /// No fields.
    init() {}

    /// Reads fields; `nil` for what no browser sends.
    init?(_ bytes: some Collection<UInt8>) {
        for part in bytes.split(separator: UInt8(ascii: "&")) {
            let sides = part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard list.count < Self.maximum, let name = Self.decoded(sides[0]),
                let value = sides.count > 1 ? Self.decoded(sides[1]) : ""
            else { return nil }
            list.append(Field(name: name, value: value))
        }
    }

    /// The first value of this name; `nil` without one.
    subscript(name: String) -> String? { list.first { $0.name == name }?.value }

    /// All values of a name.
    func all(_ name: String) -> [String] { list.filter { $0.name == name }.map(\.value) }

    /// The value without spaces around it; `nil` without one, or if nothing is left.
    func text(_ name: String) -> String? {
        let words = self[name]?.split(whereSeparator: \.isWhitespace).joined(separator: " ") ?? ""
        return words.isEmpty ? nil : words
    }

    private static func decoded(_ bytes: some Collection<UInt8>) -> String? {
        var text: [UInt8] = []
        var rest = Array(bytes)[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): text.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst()?.hexadecimalValue, let low = rest.popFirst()?.hexadecimalValue else {
                    return nil
                }
                text.append(high << 4 | low)
            default: text.append(byte)
            }
        }
        // A zero ends a text in C.
        return text.contains(0) ? nil : String(validating: text, as: UTF8.self)
    }
}

extension UInt8 {
    /// The value of a hexadecimal digit; `nil` for another character.
    fileprivate var hexadecimalValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
