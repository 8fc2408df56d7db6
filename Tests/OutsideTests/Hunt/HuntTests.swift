import Baton
import Foundation
import Testing

/// Searches for unforeseen faults with random programs that use pairs of features. See `make hunt`.
@Suite("Hunt", .serialized)
struct HuntTests {
    @Test("No pair of features violates a guarantee", .timeLimit(.minutes(10)))
    func aFewSeconds() async throws {
        guard Hunt.seconds == nil, Hunt.seed == nil else { return }
        var hunt = Hunt(without: Hunt.left.union(Hunt.unmended))
        for seed in 0..<UInt64(reduced(1_000)) { try await hunt.play(seed) }
        #expect(hunt.failures == 0)
    }

    @Test("No pair of features violates a guarantee, for a long time", .enabled(if: Hunt.seconds != nil))
    func forALongTime() async throws {
        var hunt = Hunt(without: Hunt.left)
        let end = ContinuousClock.now + .seconds(Hunt.seconds ?? 0)
        if let seed = Hunt.seed {
            for _ in 0..<(seed % Hunt.growthShare == 0 ? 1 : 50) where .now < end && hunt.failures == 0 {
                try await hunt.play(seed)
            }
        } else {
            var seed = UInt64.random(in: 1...1_000_000) * 1_000_000_000
            Hunt.say("Hunt: seeds from \(seed)")
            while .now < end, hunt.failures < 20 {
                try await hunt.play(seed)
                seed += 1
            }
            Hunt.say("Hunt: \(hunt.rounds) rounds, and \(hunt.growths) of growth\n\(hunt.coverage.table)")
            let missing = hunt.coverage.missing
            print(
                "Hunt: "
                    + (missing.isEmpty ? "every pair was covered" : "not covered: \(missing.joined(separator: ", "))"))
        }
        #expect(hunt.failures == 0)
    }
}

struct Hunt {
    static let seconds = number("BATON_HUNT").map(Int.init)
    static let seed = number("HUNT_SEED")
    /// The path of a file to which the seed of each round is written, so that it is known after a crash.
    private static let note = ProcessInfo.processInfo.environment["BATON_HUNT_NOTE"]
    /// The features that the environment excludes from the hunt, separated by spaces.
    static let left = Set(
        (ProcessInfo.processInfo.environment["HUNT_WITHOUT"] ?? "").split(separator: " ").compactMap {
            Feature(rawValue: String($0))
        })
    /// The features that the short hunt excludes, because they have known faults that are being fixed.
    static let unmended: Set<Feature> = []

    /// One of this many rounds measures growth. It is a prime, so that it divides no count of features or traits.
    static let growthShare: UInt64 = 61

    /// The time after which a round counts as hung. A round takes a few milliseconds, or a hundred times as long under
    /// a sanitizer on a busy machine.
    private static let limit = Duration.seconds(300)

    let without: Set<Feature>
    private(set) var coverage = Coverage()
    private(set) var growths = 0
    private(set) var rounds = 0
    private(set) var failures = 0

    init(without: Set<Feature>) { self.without = without }

    mutating func play(_ seed: UInt64) async throws {
        if let note = Self.note { try? "\(seed)".write(toFile: note, atomically: false, encoding: .utf8) }
        if seed % Self.growthShare == 0, Self.seconds != nil { return await playGrowth(seed) }
        let program = HuntProgram(seed: seed, without: without)
        let round = HuntRound(program)
        do {
            let say = Self.say
            try await within(Self.limit) {
                say("Hunt: \(seed) hangs")
                say(round.stuck)
                round.faults.withLock { $0.append("a hang") }
                round.giveUp()
            } _: {
                await round.play()
            }
        } catch is TookTooLong {}
        rounds += 1
        coverage.add(program)
        let faults = round.faults.withLock { $0 }
        if faults.isEmpty { return }
        failures += 1
        report(seed, faults.prefix(10).joined(separator: "\n  "), "\n\(program)")
    }

    private mutating func playGrowth(_ seed: UInt64) async {
        let growth = HuntGrowth(seed: seed / Self.growthShare)
        growths += 1
        let fault: String?
        do {
            fault = try await within(.seconds(300)) { await growth.play() }
        } catch {
            fault = "\(growth): a hang"
        }
        guard let fault else { return }
        failures += 1
        report(seed, fault)
    }

    /// Prints at once, without a buffer, so that the text is not lost if the process is killed.
    static func say(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }

    private func report(_ seed: UInt64, _ faults: String, _ program: String = "") {
        let names = without.map(\.rawValue).sorted().joined(separator: " ")
        let text = (names.isEmpty ? "" : "HUNT_WITHOUT=\"\(names)\" ") + "HUNT_SEED=\(seed) make hunt\n  \(faults)"
        Self.say("Hunt: \(text)\(program)")
        Issue.record("\(text)")
    }

    private static func number(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
    }
}
