import Synchronization

/// Work that uses processor time only.
@inline(never)
func spin(_ iterations: Int) {
    // The seed is loaded each time, because the optimizer would merge calls of a loop over a constant.
    var state = seed.load(ordering: .relaxed)
    for _ in 0..<iterations {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
    }
    // The state is never 0, but the optimizer does not know that, so it cannot remove the loop.
    if state == 0 { fatalError("xorshift does not reach zero") }
}

private let seed = Atomic<UInt64>(88_172_645_463_325_252)

/// The iterations of `spin` in a microsecond. The best of ten measurements counts, so that bodies are not too short on
/// a busy machine.
let spinsPerMicrosecond: Int = {
    let probe = 200_000
    let best = (0..<10).map { _ in measure { spin(probe) } }.min() ?? 1
    return max(1, Int(Double(probe) * 1000 / best))
}()
