/// The identifier of a Bluetooth service or characteristic: 128 bits, or 16 bits assigned by the Bluetooth SIG, which stand for
/// `0000xxxx-0000-1000-8000-00805f9b34fb` (Bluetooth Core Specification, Vol 3, Part B, 2.5.1).
public struct BluetoothUUID: Sendable, Hashable, CustomStringConvertible {
    /// The first eight bytes as written, most significant first.
    public let high: UInt64
    /// The last eight bytes as written, most significant first.
    public let low: UInt64

    private static let baseHigh: UInt64 = 0x0000_0000_0000_1000
    private static let baseLow: UInt64 = 0x8000_0080_5f9b_34fb

    /// The identifier with these 16 bits of the Bluetooth SIG, such as `0x180d`.
    public init(_ short: UInt16) { self.init(high: Self.baseHigh | UInt64(short) << 32, low: Self.baseLow) }

    /// The identifier with these halves, most significant bits first.
    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Reads `180d`, `0x180D`, or 32 hexadecimal digits with or without hyphens, in any case; `nil` for anything else.
    public init?(_ text: String) {
        var digits = text.lowercased().filter { $0 != "-" }
        if digits.hasPrefix("0x") { digits.removeFirst(2) }
        guard
            digits.utf8.allSatisfy({
                UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || UInt8(ascii: "a")...UInt8(ascii: "f") ~= $0
            })
        else { return nil }
        switch digits.utf8.count {
        case 4:
            guard let short = UInt16(digits, radix: 16) else { return nil }
            self.init(short)
        case 32:
            guard let high = UInt64(digits.prefix(16), radix: 16), let low = UInt64(digits.suffix(16), radix: 16) else {
                return nil
            }
            self.init(high: high, low: low)
        default: return nil
        }
    }

    /// The 16 bits of the Bluetooth SIG; `nil` for any other identifier.
    public var short: UInt16? {
        low == Self.baseLow && high & 0xffff_0000_ffff_ffff == Self.baseHigh ? UInt16(high >> 32 & 0xffff) : nil
    }

    /// The four digits of an identifier of the Bluetooth SIG, else all 128 bits; in lower case.
    public var shortest: String {
        guard let short else { return description }
        let digits = String(short, radix: 16)
        return String(repeating: "0", count: 4 - digits.utf8.count) + digits
    }

    /// All 128 bits in lower case with hyphens, as BlueZ writes them.
    public var description: String {
        let digits = Self.digits(high) + Self.digits(low)
        let parts = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(decoding: digits[$0], as: UTF8.self) }
        return parts.joined(separator: "-")
    }

    private static func digits(_ half: UInt64) -> [UInt8] {
        let text = String(half, radix: 16)
        return Array((String(repeating: "0", count: 16 - text.utf8.count) + text).utf8)
    }
}
