import Baton
import BatonProcess
import BatonTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10))) struct StreamingTests {
    private let log = EventLog<String>()

    private func logging() -> StandardOutput { .lines { [log] in log($0) } }

    @Test func linesComeInOrderWithoutTheirEnds() async throws {
        let result = try await sh("printf 'one\\r\\n\\nthree'", output: logging()).result()
        #expect(log.events == ["one", "", "three"])
        #expect(result.standardOutput.isEmpty)
    }

    @Test func linesComeWhileTheProgramRuns() async throws {
        let operation = AsyncOperation(sh("echo first; exec sleep 1000", output: logging()))
        AsyncOperationQueue().add(operation)
        await log.waitForCount(1)
        #expect(operation.state == .executing)
        operation.cancel()
        await operation.finished()
        #expect(operation.wasCancelled)
    }

    @Test func invalidTextIsRepairedInLinesAndExactInData() async throws {
        let script = "printf 'a\\377b\\n\\303'"
        _ = try await sh(script, output: logging()).result()
        #expect(log.events == ["a\u{FFFD}b", "\u{FFFD}"])
        let exact = try await sh(script).result()
        #expect(exact.standardOutput == Data([0x61, 0xFF, 0x62, 0x0A, 0xC3]))
        #expect(exact.text == "a\u{FFFD}b\n\u{FFFD}")
    }

    @Test func linesOfStandardError() async throws {
        let errors = StandardError.lines { [log] in log("err \($0)") }
        let result = try await sh("echo a >&2; echo out; echo b >&2", errors: errors).result()
        #expect(log.events == ["err a", "err b"])
        #expect(result.text == "out\n")
        #expect(await sh("echo c >&2; exit 1", errors: errors).failure()?.description.hasSuffix(": c") == true)
    }

    /// When the program reports that it is done, at most the contents of a pipe and one piece can be unread.
    @Test func aSlowReaderSlowsTheProgram() async throws {
        let gate = Gate()
        let taken = EventLog<Int>()
        let takenWhenDone = EventLog<Int>()
        let program = sh(
            "head -c 1000000 /dev/zero; echo done >&2",
            output: .bytes { piece in
                await gate.wait()
                taken(piece.count)
            },
            errors: .lines { _ in takenWhenDone(taken.events.reduce(0, +)) })
        let operation = AsyncOperation(program)
        AsyncOperationQueue().add(operation)
        await gate.waitForWaiters(count: 1)
        #expect(takenWhenDone.count == 0)
        gate.open()
        _ = try await operation.value
        #expect(taken.events.reduce(0, +) == 1_000_000)
        #expect(takenWhenDone.events.count == 1 && takenWhenDone.events[0] >= 1_000_000 - (128 << 10))
    }

    @Test func aHandlerThatThrowsEndsTheProgram() async {
        let program = Subprocess(
            "yes",
            output: .lines { [log] line in
                log(line)
                if log.count == 3 { throw Oops() }
            })
        let operation = AsyncOperation(program)
        AsyncOperationQueue().add(operation)
        await operation.finished()
        #expect(operation.error?.underlyingError is Oops)
        #expect(log.count == 3)
    }

    @Test func tooMuchOutputEndsTheProgram() async {
        #expect(
            await Subprocess("yes", output: .collected(limit: 100_000)).failure()
                == .outputTooLong(program: "yes", limit: 100_000))
        #expect(
            await sh("exec yes >&2", errors: .collected(limit: 0)).failure()
                == .outputTooLong(program: "/bin/sh", limit: 0))
        let exactly = Subprocess("head", arguments: ["-c", "100000", "/dev/zero"], output: .collected(limit: 100_000))
        #expect(await exactly.failure() == nil)
    }

    @Test("The errors of a limit of one byte use the singular")
    func limitOfOneByte() {
        let output = SubprocessError.outputTooLong(program: "yes", limit: 1)
        #expect("\(output)".contains("it wrote more than 1 byte. Raise the limit, or use lines or a file"))
        let line = SubprocessError.lineTooLong(program: "yes", limit: 1)
        #expect("\(line)".contains("it wrote a line of more than 1 byte. Raise the limit, or use bytes"))
    }

    @Test func tooLongALineEndsTheProgram() async {
        let endless = Subprocess("cat", arguments: ["/dev/zero"], output: .lines(longest: 200_000) { _ in })
        #expect(await endless.failure() == .lineTooLong(program: "cat", limit: 200_000))
    }

    @Test func muchOutputGoesThroughInPieces() async throws {
        let largest = EventLog<Int>()
        let size = EventLog<Int>()
        let program = Subprocess(
            "head", arguments: ["-c", "64000000", "/dev/zero"],
            output: .bytes { piece in
                if piece.count > largest.events.last ?? 0 { largest(piece.count) }
                size(piece.count)
            })
        _ = try await program.result()
        #expect(size.events.reduce(0, +) == 64_000_000)
        #expect(largest.events.last.map { $0 <= 64 << 10 } == true)
    }

    @Test func outputOfOneProgramDoesNotWaitForAnother() async throws {
        let gate = Gate()
        let queue = AsyncOperationQueue()
        let stuck = AsyncOperation(Subprocess("yes", output: .bytes { _ in try await gate.waitUnlessCancelled() }))
        queue.add(stuck)
        await gate.waitForWaiters(count: 1)
        for _ in 0..<20 { #expect(try await queue.run(AsyncOperation(Subprocess("echo"))).text == "\n") }
        stuck.cancel()
        await stuck.finished()
        #expect(stuck.wasCancelled)
    }
}
