import Baton
import BatonProcess
import BatonTesting
import Foundation
import Testing

/// A program writes a gigabyte, which must not be kept in memory. Each test has a process of its own, because it
/// measures the memory of the process.
@Suite(.timeLimit(.minutes(10)), .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/status")))
struct MuchOutputTests {
    private static func gigabyte(_ output: StandardOutput) -> Subprocess {
        Subprocess("head", arguments: ["-c", "1000000000", "/dev/zero"], output: output)
    }

    @Test func inPieces() async {
        await #expect(processExitsWith: .success) {
            let memory = Memory()
            let count = Counter()
            _ = try await Self.gigabyte(.bytes { count.add($0.count) }).result()
            precondition(count.total == 1_000_000_000)
            memory.expectLittleMore()
        }
    }

    @Test func inLines() async {
        await #expect(processExitsWith: .success) {
            let memory = Memory()
            let count = Counter()
            let line = String(repeating: "x", count: 99_999)
            let script = sh("yes $1 | head -n 10000", line, output: .lines { count.add($0.utf8.count + 1) })
            _ = try await script.result()
            precondition(count.total == 1_000_000_000)
            memory.expectLittleMore()
        }
    }

    @Test func ofStandardErrorOnlyTheEndIsKept() async {
        await #expect(processExitsWith: .success) {
            let memory = Memory()
            let script = sh("head -c 1000000000 /dev/zero >&2; echo end >&2", errors: .tail(limit: 4))
            let result = try await script.result()
            precondition(result.standardError == Data("end\n".utf8))
            memory.expectLittleMore()
        }
    }

    @Test func collectedItIsEndedAtTheLimit() async {
        await #expect(processExitsWith: .success) {
            let memory = Memory()
            let failure = await Self.gigabyte(.collected()).failure()
            precondition(failure == .outputTooLong(program: "head", limit: StandardOutput.defaultLimit))
            memory.expectLittleMore()
        }
    }
}

/// Measures the peak memory of this process.
private struct Memory {
    private let before = Self.most

    func expectLittleMore() {
        precondition(Self.most < before + 40_000_000 || Self.isSanitized, "\(Self.most) bytes, and \(before) before")
    }

    private static var most: Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        let kilobytes = line?.split { " \t".contains($0) }.dropFirst().first.flatMap { Int($0) }
        return (kilobytes ?? 0) * 1024
    }

    /// Under a sanitizer, whose own memory counts as well, the measurement is meaningless.
    private static let isSanitized = ["__tsan_init", "__asan_init"].contains { (name: String) in
        dlsym(dlopen(nil, RTLD_NOW), name) != nil
    }
}

private final class Counter: @unchecked Sendable {
    // @unchecked: handlers are called one at a time, and before the outcome.
    private(set) var total = 0

    func add(_ count: Int) { total += count }
}
