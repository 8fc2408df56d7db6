import Testing

/// Expects that the time of `program` grows no faster than n log n: at four times the size it takes less than eight
/// times as long. Quadratic time would be sixteen times as long.
///
/// Noise only makes a run longer, so the fastest run of each size counts, and one measurement that passes is enough.
///
/// - Parameters:
///   - size: The smaller size. Choose it so that the program takes some milliseconds.
///   - program: The program, which is called several times with each size.
func expectNearlyLinear(
    _ size: Int, sourceLocation: SourceLocation = #_sourceLocation, _ program: (Int) async throws -> Void
) async rethrows {
    guard let ratios = try await steepGrowth(size, program) else { return }
    Issue.record("a fourfold size took \(ratios) times as long", sourceLocation: sourceLocation)
}

/// Returns the ratios of several measurements, or nil if one of them was small enough.
func steepGrowth(_ size: Int, _ program: (Int) async throws -> Void) async rethrows -> [Double]? {
    var ratios: [Double] = []
    for _ in 0..<5 {
        let small = try await fastest(of: 3, program, size)
        let large = try await fastest(of: 2, program, 4 * size)
        // A program that takes less may end before a second thread has started, and so before any thread waits for
        // another one. It is no measure for a larger one.
        let ratio = large / max(small, .milliseconds(5))
        if ratio < 8 { return nil }
        ratios.append(ratio)
    }
    return ratios
}

private func fastest(of count: Int, _ program: (Int) async throws -> Void, _ size: Int) async rethrows -> Duration {
    var best = Duration.seconds(1_000_000)
    for _ in 0..<count {
        best = min(best, try await ContinuousClock().measure { try await program(size) })
    }
    return best
}
