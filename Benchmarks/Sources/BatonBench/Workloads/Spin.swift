import Synchronization

/// Work that takes a processor's time and nothing else.
@inline(never)
func spin(_ iterations: Int) {
    // Read anew each time: of a loop over a constant the optimizer makes one call.
    var state = seed.load(ordering: .relaxed)
    for _ in 0..<iterations {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
    }
    // Never so, but the optimizer does not know it and has to leave the loop alone.
    if state == 0 { fatalError("xorshift does not reach zero") }
}

private let seed = Atomic<UInt64>(88_172_645_463_325_252)

/// How often `spin` goes round in a microsecond: the best of ten, so that a busy machine does not make bodies short.
let spinsPerMicrosecond: Int = {
    let probe = 200_000
    let best = (0..<10).map { _ in measure { spin(probe) } }.min() ?? 1
    return max(1, Int(Double(probe) * 1000 / best))
}()
