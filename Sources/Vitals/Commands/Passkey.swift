/// The six digits that a device shows while it is paired. No text of it shows them, so that no log has them.
public struct Passkey: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The greatest one (Bluetooth Core Specification, Vol 3, Part H, 2.3.5.3).
    public static let greatest: UInt32 = 999_999

    /// The digits as a number.
    public let number: UInt32

    /// A passkey of six digits, with its leading zeros; `nil` for any other text.
    public init?(_ digits: String) {
        guard digits.utf8.count == 6, digits.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }),
            let number = UInt32(digits)
        else { return nil }
        self.number = number
    }

    /// A passkey as a number, without its leading zeros; `nil` beyond `greatest`.
    public init?(_ number: Int) {
        guard (0...Int(Self.greatest)).contains(number) else { return nil }
        self.number = UInt32(number)
    }

    /// The six digits.
    public var digits: String {
        let text = String(number)
        return String(repeating: "0", count: 6 - text.utf8.count) + text
    }

    /// Not the digits.
    public var description: String { "******" }
    /// Not the digits.
    public var debugDescription: String { description }
    /// Nothing of it.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
