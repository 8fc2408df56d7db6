/// A random number generator whose numbers depend on its seed alone: they are the same on every machine and in every
/// process.
///
/// ```swift
/// var generator = SeededGenerator(seed: 7)
/// let order = Array(1...10).shuffled(using: &generator)
/// ```
///
/// The algorithm is SplitMix64, after Sebastiano Vigna's public-domain `splitmix64.c`
/// (https://prng.di.unimi.it/splitmix64.c), the generator of Guy Steele, Doug Lea and Christine Flood, "Fast splittable
/// pseudorandom number generators" (2014).
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Makes a generator.
    ///
    /// - Parameter seed: The seed. Generators with equal seeds return equal sequences.
    public init(seed: UInt64) {
        state = seed
    }

    /// Returns the next number of the sequence.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Returns a number below `bound`. The standard library's method is not used, because its algorithm may change from
    /// one release to the next.
    mutating func next(below bound: Int) -> Int {
        // The bias for a bound far below 2^64 is much too small for a test to notice.
        Int(next().multipliedFullWidth(by: UInt64(bound)).high)
    }

    /// Returns a number in the range. The range may have more elements than `Int.max`.
    mutating func next(in range: ClosedRange<Int>) -> Int {
        let span = UInt64(truncatingIfNeeded: range.upperBound) &- UInt64(truncatingIfNeeded: range.lowerBound)
        let draw = next()
        let offset = span == .max ? draw : draw.multipliedFullWidth(by: span + 1).high
        return range.lowerBound &+ Int(truncatingIfNeeded: offset)
    }
}
