import Foundation
import Testing

/// Rounds of both kinds for as long as `BATON_SOAK` says, in seconds, or until a million have been played: `make soak`.
///
/// Begins with a seed that it prints, or with `BATON_SEED`: with that of a round that failed, it begins with that round. Neither threads nor memory may grow with the rounds.
@Suite(.enabled(if: Soak.seconds != nil, "only with BATON_SOAK: see make soak"))
struct SoakTests {
    @Test(.timeLimit(.minutes(600)))
    func everyPromiseHoldsForALongTime() async throws {
        let soak = Soak(
            seconds: Soak.seconds ?? 0, first: Seeds.chosen ?? UInt64.random(in: 1...1_000_000) * 1_000_000_000)
        print("Soak: seeds from \(soak.first)")
        // What is made once and kept has been made after these.
        try await soak.play(200)
        let before = Usage.now
        print("Soak: begins with \(before)")
        try await soak.playUntilTheEnd()
        let after = Usage.now
        print("Soak: \(soak.count) rounds, ends with \(after)")
        #expect(after.threads <= before.threads)
        // What the allocator may waste, and less for each round than the smallest object.
        #expect(after.resident - before.resident < 32_000_000 + soak.count * 16)
    }
}

private final class Soak {
    static let seconds = ProcessInfo.processInfo.environment["BATON_SOAK"].flatMap(Double.init)
    private static let most = 1_000_000

    let first: UInt64
    private(set) var count = 0
    private let end: ContinuousClock.Instant

    init(seconds: Double, first: UInt64) {
        self.first = first
        end = .now + .seconds(seconds)
    }

    func playUntilTheEnd() async throws {
        var report = ContinuousClock.now + .seconds(60)
        while count < Self.most, .now < end {
            try await play(50)
            guard .now >= report else { continue }
            print("Soak: \(count) rounds, \(Usage.now)")
            report += .seconds(60)
        }
    }

    /// One of three is under threads. Of the sizes, small ones are more frequent, because they find more in the same time.
    func play(_ rounds: Int) async throws {
        for _ in 0..<rounds {
            let seed = first + UInt64(count)
            do {
                switch seed % 12 {
                case 0, 4, 8: try await ThreadStressTests.play(seed % 24 == 0 ? 20...90 : 2...12, seed: seed)
                case 1: _ = try await SeededStressTests.play(50...150, seed: seed)
                case 2, 5, 9, 10: _ = try await SeededStressTests.play(5...40, seed: seed)
                default: _ = try await SeededStressTests.play(1...9, seed: seed)
                }
            } catch {
                print("Soak: BATON_SEED=\(seed): \(error)")
                throw error
            }
            count += 1
        }
    }
}

/// What the process has of what can leak; nothing where there is no `/proc`.
private struct Usage: CustomStringConvertible {
    let threads: Int
    /// In bytes, in memory.
    let resident: Int

    static var now: Usage {
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count) ?? 0
        let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ")
            .dropFirst().first
        return Usage(threads: threads, resident: (pages.flatMap { Int($0) } ?? 0) * Int(getpagesize()))
    }

    var description: String { "\(threads) threads and \(resident / 1024) kB" }
}
