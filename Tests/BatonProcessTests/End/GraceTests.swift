import Baton
import BatonProcess
import BatonTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10))) struct GraceTests {
    private let log = EventLog<String>()
    private let clock = TestClock()
    private let queue = AsyncOperationQueue()

    private func start(_ script: String, _ argument: String = "", grace: Duration = .seconds(7)) -> AsyncOperation<
        SubprocessResult
    > {
        let operation = AsyncOperation(
            sh(script, argument, output: .lines { [log] in log($0) }, grace: grace, clock: clock))
        queue.add(operation)
        return operation
    }

    @Test("A program that ignores the signal is killed after the grace period")
    func oneThatIgnoresTheSignalIsKilledAfterTheGrace() async {
        let operation = start("trap '' TERM; echo $$; exec sleep 1000")
        let pid = Int32(await log.waitForCount(1)[0]) ?? 0
        operation.cancel()
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(6))
        #expect(Neighbours.isAlive(pid))
        clock.advance(by: .seconds(1))
        await operation.finished()
        #expect(operation.wasCancelled)
        #expect(!Neighbours.isAlive(pid))
    }

    @Test func withoutGraceItIsKilledAtOnce() async {
        let operation = start("trap '' TERM; echo ready; exec sleep 1000", grace: .zero)
        await log.waitForCount(1)
        operation.cancel()
        await operation.finished()
        #expect(operation.wasCancelled)
        #expect(clock.sleeperCount == 0)
    }

    @Test func inItsGraceItCanCleanUp() async throws {
        let folder = try Folder()
        let operation = start(
            "trap 'echo clean > $1; exit 0' TERM; echo ready; sleep 1000 & wait", folder.file("mark"))
        await log.waitForCount(1)
        operation.cancel()
        await operation.finished()
        #expect(folder.read("mark") == "clean\n")
    }

    @Test("A stopped program ends, too")
    func oneThatWasStoppedEndsToo() async {
        let operation = start("echo $$; kill -STOP $$; exec sleep 1000")
        await log.waitForCount(1)
        operation.cancel()
        await operation.finished()
        #expect(operation.wasCancelled)
    }

    @Test func theAlarmGoesWithTheProgram() async throws {
        let folder = try Folder()
        let operation = start(
            "trap 'until test -e $1; do sleep 0.01; done; exit 0' TERM; echo ready; sleep 1000 & wait",
            folder.file("mark"))
        await log.waitForCount(1)
        operation.cancel()
        await clock.waitForSleepers(count: 1)
        _ = try folder.write("", to: "mark")
        await operation.finished()
        while clock.sleeperCount > 0 { await Task.yield() }
    }
}
