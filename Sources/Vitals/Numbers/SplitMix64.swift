/// A random number generator that gives the same numbers for the same seed, for jitter, simulations and tests; not for
/// secrets. It is a value: a copy draws its own numbers, and other copies do not change them. The algorithm is SplitMix64 (Steele,
/// Lea, Flood: Fast splittable pseudorandom number generators, 2014).
package struct SplitMix64: RandomNumberGenerator, Sendable, Hashable {
    private var state: UInt64

    /// A generator with this seed.
    package init(seed: UInt64) { state = seed }

    /// The next number.
    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A separate generator, for a part whose numbers must not depend on what other parts draw.
    package mutating func split() -> SplitMix64 { SplitMix64(seed: next()) }
}
