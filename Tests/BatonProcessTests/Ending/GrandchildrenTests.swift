import Baton
import BatonProcess
import BatonTesting
import Foundation
import Testing

/// Processes that a program starts and does not wait for.
@Suite(.timeLimit(.minutes(10))) struct GrandchildrenTests {
    private let log = EventLog<String>()
    private let queue = AsyncOperationQueue()

    @Test func oneThatIsLeftBehindDoesNotDelayTheEnd() async throws {
        let result = try await sh("sleep 1000 & echo $!").result()
        let pid = Int32(result.text.dropLast()) ?? 0
        // It was not cancelled, so this is nobody's business.
        #expect(Neighbours.isAlive(pid))
        Neighbours.end(pid)
    }

    @Test func whatTheProgramWroteIsCompleteAllTheSame() async throws {
        let result = try await sh("sleep 1000 & head -c 60000 /dev/zero; echo; echo $!").result()
        #expect(result.standardOutput.count > 60_000)
        let pid = Int32(result.text.split(separator: "\n").last ?? "") ?? 0
        Neighbours.end(pid)
    }

    /// Its pipe is never empty, and never at its end.
    @Test func oneThatWritesOnDoesNotDelayTheEnd() async throws {
        let program = sh("yes & echo $! >&2", output: .bytes { _ in }, errors: .collected())
        let result = try await program.result()
        // It got a broken pipe.
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

    @Test func oneThatIgnoresTheSignalDoesNotOutliveACancelledProgram() async {
        let script = "sh -c 'trap \"\" TERM; echo $$; exec sleep 1000' & wait"
        // With this clock the grace never ends.
        let operation = AsyncOperation(sh(script, output: .lines { [log] in log($0) }, clock: TestClock()))
        queue.add(operation)
        let pid = Int32(await log.waitForCount(1)[0]) ?? 0
        operation.cancel()
        await operation.finished()
        await Neighbours.waitForEnd(of: pid)
    }

    @Test func theyAreAllOfOneGroupThatIsNotOurs() async throws {
        let text = try await sh("echo $$; ps -o pgid= -p $$").result().text
        let numbers = text.split(whereSeparator: \.isWhitespace)
        #expect(numbers.count == 2)
        #expect(numbers.first == numbers.last)
    }
}
