/// The faults and delays of a scripted Bluetooth device, drawn by a seed.
package struct GATTFaults: Sendable, Hashable {
    /// The connection is lost after so many answers and values.
    package var breaksAfter: Int?
    /// The time that an answer or a value takes.
    package var delay: ClosedRange<Duration>?
    /// How many of a thousand values are cut at a random place.
    package var cut: Int
    /// How many of a thousand values are replaced by random bytes.
    package var garbage: Int

    /// Creates faults; none by default.
    package init(
        breaksAfter: Int? = nil, delay: ClosedRange<Duration>? = nil, cut: Int = 0, garbage: Int = 0
    ) {
        self.breaksAfter = breaksAfter
        self.delay = delay
        self.cut = cut
        self.garbage = garbage
    }

    /// No faults.
    package static let none = GATTFaults()

    /// The value as it arrives.
    func damaged(_ bytes: [UInt8], _ random: inout some RandomNumberGenerator) -> [UInt8] {
        guard cut + garbage > 0 else { return bytes }
        let draw = Int.random(in: 0..<1000, using: &random)
        if draw < cut { return Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &random))) }
        guard draw < cut + garbage else { return bytes }
        return (0..<Int.random(in: 0...24, using: &random)).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    }
}
