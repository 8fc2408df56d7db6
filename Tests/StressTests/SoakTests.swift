import Baton
import Foundation
import Synchronization
import Testing

/// Runs rounds under seeds and under threads for `BATON_SOAK` seconds, or until a million rounds have run: `make
/// soak`.
///
/// The first seed is printed. `BATON_SEED` selects it: with the seed of a round that failed, the test begins with that
/// round. The rounds must increase neither the number of threads nor the memory.
@Suite(.serialized, .enabled(if: Soak.seconds != nil, "only with BATON_SOAK: see make soak"))
struct SoakTests {
    private static let soak = Soak(first: Seeds.chosen ?? UInt64.random(in: 1...1_000_000) * 1_000_000_000)

    /// There is one test case per minute, because Swift Testing keeps the source location of every error until a case
    /// ends.
    @Test(.timeLimit(.minutes(10)), arguments: Soak.parts)
    func everyPromiseHoldsForALongTime(part: Soak.Part) async throws { try await Self.soak.play(part) }
}

final class Soak: Sendable {
    /// One test case: a part of the time.
    struct Part: Sendable, CustomTestStringConvertible {
        let number: Int
        let length: Duration

        var testDescription: String { "\(length) of part \(number)" }
    }

    static let seconds = ProcessInfo.processInfo.environment["BATON_SOAK"].flatMap(Int.init)
    private static let most: UInt64 = 1_000_000

    static let parts = stride(from: 0, to: seconds ?? 0, by: 60).enumerated().map { number, start in
        Part(number: number + 1, length: .seconds(min(60, (seconds ?? 0) - start)))
    }

    private let first: UInt64
    private let count = Atomic<UInt64>(0)
    private let hasFailed = Atomic<Bool>(false)
    private let beginning = Mutex<Usage?>(nil)

    init(first: UInt64) { self.first = first }

    func play(_ part: Part) async throws {
        if hasFailed.load(ordering: .relaxed) { return }
        let end = ContinuousClock.now + part.length
        if part.number == 1 { try await begin() }
        while count.load(ordering: .relaxed) < Self.most, .now < end { try await play(50) }
        let now = Usage.now
        print("Soak: \(count.load(ordering: .relaxed)) rounds, \(now)")
        let before = try #require(beginning.withLock { $0 })
        #expect(now.threads <= before.threads + Usage.moreThreads)
        #expect(now.resident <= before.resident + Usage.moreMemory)
    }

    private func begin() async throws {
        print("Soak: seeds from \(first)")
        // These rounds create everything that is created once and kept.
        try await play(200)
        let usage = Usage.now
        print("Soak: begins with \(usage)")
        beginning.withLock { $0 = usage }
    }

    /// One round in three runs under threads. Small graphs are more frequent, because they find more faults in the
    /// same time.
    private func play(_ rounds: Int) async throws {
        for _ in 0..<rounds {
            let seed = first + count.load(ordering: .relaxed)
            do {
                switch seed % 12 {
                case 0, 4, 8: try await ThreadStressTests.play(seed % 24 == 0 ? 20...90 : 2...12, seed: seed)
                case 1: _ = try await SeededStressTests.play(50...150, seed: seed)
                case 2, 5, 9, 10: _ = try await SeededStressTests.play(5...40, seed: seed)
                default: _ = try await SeededStressTests.play(1...9, seed: seed)
                }
            } catch {
                hasFailed.store(true, ordering: .relaxed)
                print("Soak: BATON_SEED=\(seed): \(error)")
                throw error
            }
            count.add(1, ordering: .relaxed)
        }
    }
}

/// The resources of the process that can leak. They are zero where `/proc` does not exist.
private struct Usage: CustomStringConvertible {
    /// The number of bytes that the allocator may waste and Swift Testing may keep for one part.
    static let moreMemory = 24_000_000
    /// The number of threads that may be added. Dispatch ends idle threads after a while, and starts others.
    static let moreThreads = 8

    let threads: Int
    /// The resident memory in bytes.
    let resident: Int

    static var now: Usage {
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count) ?? 0
        let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ")
            .dropFirst().first
        return Usage(threads: threads, resident: (pages.flatMap { Int($0) } ?? 0) * Int(getpagesize()))
    }

    var description: String { "\(threads) threads and \(resident / 1024) kB" }
}
