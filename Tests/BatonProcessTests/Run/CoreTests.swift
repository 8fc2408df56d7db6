import Baton
import BatonProcess
import BatonTesting
import Foundation
import Testing

/// Tests features of the core module with programs.
@Suite(.timeLimit(.minutes(10))) struct CoreTests {
    @Test func aFailedProgramIsRetried() async throws {
        let folder = try Folder()
        let script = sh("echo x >> $1; test $(wc -l < $1) -ge 3", folder.file("count"))
        let operation = AsyncOperation(script).retry(.immediately, attempts: 5) { error in
            if case .exited? = error.underlyingError as? SubprocessError { true } else { false }
        }
        _ = try await AsyncOperationQueue().run(operation)
        #expect(operation.attempts.count == 3)
        #expect(folder.read("count") == "x\nx\nx\n")
    }

    @Test func aProgramThatIsNotThereIsNotRetriedIfSoSaid() async {
        let operation = AsyncOperation(Subprocess("/nothing")).retry(.immediately, attempts: 5) { error in
            if case .exited? = error.underlyingError as? SubprocessError { true } else { false }
        }
        _ = try? await AsyncOperationQueue().run(operation)
        #expect(operation.attempts.count == 1)
    }

    @Test func aTimeLimitEndsTheProgram() async {
        let clock = TestClock()
        let log = EventLog<Int32>()
        let queue = AsyncOperationQueue(clock: clock)
        let operation = AsyncOperation(
            sh("echo $$; exec sleep 1000", output: .lines { log(Int32($0) ?? 0) }))
        operation.timeout(.seconds(3))
        queue.add(operation)
        let pid = await log.waitForCount(1)[0]
        clock.advance(by: .seconds(3))
        await operation.finished()
        guard case .timedOut(after: .seconds(3), _)? = operation.error else {
            Issue.record("\(operation): \(String(describing: operation.error))")
            return
        }
        #expect(!Neighbours.isAlive(pid))
    }

    @Test func anAttemptThatTookTooLongIsFollowedByAnother() async throws {
        let clock = TestClock()
        let folder = try Folder()
        let log = EventLog<String>()
        let script = sh(
            "if test -e $1; then echo second; else touch $1; echo first; exec sleep 1000; fi", folder.file("mark"),
            output: .lines { log($0) })
        let operation = AsyncOperation(script).timeout(.seconds(3)).retry(.immediately, attempts: 2)
        AsyncOperationQueue(clock: clock).add(operation)
        await log.waitForCount(1)
        clock.advance(by: .seconds(3))
        _ = try await operation.value
        #expect(log.events == ["first", "second"])
    }

    @Test func aNameLimitsHowManyRun() async throws {
        let folder = try Folder()
        let queue = AsyncOperationQueue()
        let operations = (0..<10).map { _ in
            AsyncOperation(sh("mkdir $1 && rmdir $1", folder.file("alone")))
                .addCondition(.mutuallyExclusive("folder"))
        }
        queue.add(operations)
        for operation in operations { _ = try await operation.value }
    }

    @Test func nothingOfItIsRetained() async throws {
        final class Held: Sendable {}
        weak var held: Held?
        let operation: AsyncOperation<SubprocessResult>
        do {
            let object = Held()
            held = object
            operation = AsyncOperation(
                Subprocess("echo", output: .lines { _ in withExtendedLifetime(object) {} }))
        }
        #expect(held != nil)
        _ = try await AsyncOperationQueue().run(operation)
        // The tasks that have read the program's output may not have ended yet.
        while held != nil { await Task.yield() }
    }
}
