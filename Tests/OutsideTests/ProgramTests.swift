import Baton
import BatonProcess
import Foundation
import Synchronization
import Testing

@Suite("Programs do what they do in a shell")
struct ProgramTests {
    /// What a closure for lines was given.
    private final class Lines: Sendable {
        private let state = Mutex<[String]>([])

        var all: [String] { state.withLock { $0 } }

        func note(_ line: String) { state.withLock { $0.append(line) } }
    }

    // MARK: Lines

    @Test(
        "The lines before a line that is too long are handed over",
        arguments: ["printf 'one\\ntwo\\nxxxxxxxxxxxxxxxxxxxx'", "printf 'one\\ntwo\\nxxxxxxxxxxxxxxxxxxxx\\nfour\\n'"])
    func linesBeforeTooLongOne(script: String) async throws {
        let lines = Lines()
        let program = Subprocess.shell(script, output: .lines(longest: 10) { lines.note($0) })
        #expect(await program.failure() == .lineTooLong(program: "/bin/sh", limit: 10))
        #expect(lines.all == ["one", "two"])
        let errors = Lines()
        let other = Subprocess.shell("(\(script)) >&2", errors: .lines(longest: 10) { errors.note($0) })
        #expect(await other.failure() == .lineTooLong(program: "/bin/sh", limit: 10))
        #expect(errors.all == ["one", "two"])
    }

    @Test("A carriage return and a newline do not count for the length of a line")
    func carriageReturnDoesNotCount() async throws {
        let lines = Lines()
        let program = Subprocess.shell(
            "printf '0123456789\\r\\n0123456789\\n0123456789'", output: .lines(longest: 10) { lines.note($0) })
        _ = try await program.result()
        #expect(lines.all == ["0123456789", "0123456789", "0123456789"])
    }
}

extension Subprocess {
    static func shell(
        _ script: String, input: StandardInput = .none, output: StandardOutput = .collected(),
        errors: StandardError = .tail()
    ) -> Subprocess {
        Subprocess("/bin/sh", arguments: ["-c", script], input: input, output: output, errors: errors)
    }

    func result() async throws -> SubprocessResult { try await AsyncOperationQueue().run(AsyncOperation(self)) }

    /// Nil: it succeeded, or failed with something else.
    func failure() async -> SubprocessError? {
        do {
            _ = try await result()
            return nil
        } catch { return (error as? OperationError)?.underlyingError as? SubprocessError }
    }
}
