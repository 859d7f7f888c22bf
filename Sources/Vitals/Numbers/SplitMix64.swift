/// Numbers that are the same for the same seed, for jitter, simulations and tests, and not for secrets. A generator is a
/// value: whoever has one of its own draws the same, whatever others draw. The algorithm is SplitMix64 (Steele, Lea, Flood:
/// Fast splittable pseudorandom number generators, 2014).
package struct SplitMix64: RandomNumberGenerator, Sendable, Hashable {
    private var state: UInt64

    /// The numbers of a seed.
    package init(seed: UInt64) { state = seed }

    /// The next number.
    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A generator of its own, for a part whose numbers must not depend on what another part draws.
    package mutating func split() -> SplitMix64 { SplitMix64(seed: next()) }
}
