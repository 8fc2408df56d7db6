/// Marsaglia's xorshift generator, with the same seed in every run.
struct Xorshift: RandomNumberGenerator {
    private var state: UInt64 = 88_172_645_463_325_252

    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }

    /// Returns `number` different values of a range.
    mutating func picks(_ number: Int, from first: Int, count: Int) -> [Int32] {
        var result: [Int32] = []
        while result.count < number {
            let pick = Int32(first + Int(next() % UInt64(count)))
            if !result.contains(pick) { result.append(pick) }
        }
        return result
    }
}
