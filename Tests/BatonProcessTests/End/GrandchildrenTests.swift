import Baton
import BatonProcess
import BatonTesting
import Foundation
import Testing

/// Tests of processes that a program starts and does not wait for.
@Suite(.timeLimit(.minutes(10))) struct GrandchildrenTests {
    private let log = EventLog<String>()
    private let queue = AsyncOperationQueue()

    @Test("A grandchild that is left behind does not delay the end")
    func oneThatIsLeftBehindDoesNotDelayTheEnd() async throws {
        let result = try await sh("sleep 1000 & echo $!").result()
        let pid = Int32(result.text.dropLast()) ?? 0
        // The program was not cancelled, so its children are left alone.
        #expect(Neighbours.isAlive(pid))
        Neighbours.end(pid)
    }

    @Test func theOutputOfTheProgramIsCompleteAllTheSame() async throws {
        let result = try await sh("sleep 1000 & head -c 60000 /dev/zero; echo; echo $!").result()
        #expect(result.standardOutput.count > 60_000)
        let pid = Int32(result.text.split(separator: "\n").last ?? "") ?? 0
        Neighbours.end(pid)
    }

    /// The child `yes` keeps writing, so the pipe is never empty and never at its end.
    @Test("A grandchild that continues to write does not delay the end")
    func oneThatWritesOnDoesNotDelayTheEnd() async throws {
        let program = sh("yes & echo $! >&2", output: .bytes { _ in }, errors: .collected())
        let result = try await program.result()
        // The child `yes` ends because its pipe is broken.
        await Neighbours.waitForEnd(of: Int32(String(decoding: result.standardError, as: UTF8.self).dropLast()) ?? 0)
    }

    @Test func aCancelEndsThemToo() async {
        let operation = AsyncOperation(
            sh("sleep 1000 & sleep 1000 & echo $!; wait", output: .lines { [log] in log($0) }))
        queue.add(operation)
        let pid = Int32(await log.waitForCount(1)[0]) ?? 0
        #expect(Neighbours.isAlive(pid))
        operation.cancel()
        await operation.finished()
        #expect(operation.wasCancelled)
        await Neighbours.waitForEnd(of: pid)
    }

    @Test("A grandchild that ignores the signal does not outlive a cancelled program")
    func oneThatIgnoresTheSignalDoesNotOutliveACancelledProgram() async {
        let script = "sh -c 'trap \"\" TERM; echo $$; exec sleep 1000' & wait"
        // Nobody advances this clock, so the grace period never ends.
        let operation = AsyncOperation(sh(script, output: .lines { [log] in log($0) }, clock: TestClock()))
        queue.add(operation)
        let pid = Int32(await log.waitForCount(1)[0]) ?? 0
        operation.cancel()
        await operation.finished()
        await Neighbours.waitForEnd(of: pid)
    }

    @Test("A program and its grandchildren are in a process group of their own")
    func theyAreAllOfOneGroupThatIsNotOurs() async throws {
        let text = try await sh("echo $$; ps -o pgid= -p $$").result().text
        let numbers = text.split(whereSeparator: \.isWhitespace)
        #expect(numbers.count == 2)
        #expect(numbers.first == numbers.last)
    }
}
