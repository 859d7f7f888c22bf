import GatewayKit

/// The present values (sources: MackeyStingray/o2r, `o2state.py`; khromov, `RT_PARAM`).
struct OxiValues: Sendable, Hashable {
    /// Per cent; `nil` without a signal.
    var oxygen: Int?
    /// Beats per minute; `nil` without a signal.
    var pulse: Int?
    var charge: Int
    var isCharging: Bool
    var isWorn: Bool

    private static let length = 12

    init(bytes: [UInt8]) throws(FormatError) {
        guard bytes.count >= Self.length else { throw FormatError("its values have \(bytes.count) bytes") }
        oxygen = Self.oxygen(bytes[0])
        pulse = Self.pulse(bytes[1], bytes[2])
        charge = Int(bytes[7])
        guard charge <= 100 else { throw FormatError("its charge is \(charge) %") }
        isCharging = bytes[8] == 1 || bytes[8] == 2
        isWorn = bytes[11] != 0
    }

    /// A saturation; 255 means no finger, and what is below 10 for no signal.
    static func oxygen(_ byte: UInt8) -> Int? { (10...100).contains(byte) ? Int(byte) : nil }

    /// A pulse of two bytes; 65535 means no finger, 0 for no signal. The rings measure up to 250.
    static func pulse(_ low: UInt8, _ high: UInt8) -> Int? {
        let pulse = Int(low) | Int(high) << 8
        return (1...250).contains(pulse) ? pulse : nil
    }
}
