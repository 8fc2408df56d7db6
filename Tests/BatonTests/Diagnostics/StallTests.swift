import BatonTesting
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct StallTests {
    private let stage = TestQueue(name: "photos")
    private let gate = Gate()
    private let reports = EventLog<StallReport>()

    @discardableResult
    private func watch(after limit: Duration = .seconds(8)) -> StallObservation {
        stage.queue.onStall(after: limit) { [reports] in reports($0) }
    }

    /// Advances the clock one second at a time, so that the stall timer fires at the right times.
    private func advance(by seconds: Int) {
        for _ in 0..<seconds { stage.advance(by: .seconds(1)) }
    }

    private var pendingTimers: Int { stage.queue.core.timerService.count }

    @Test("A body that runs for longer than the limit is a stall")
    func longBodies() {
        watch()
        stage.run(stage.waiting("slow", at: gate))
        // The start is seen when the first quarter of the limit, 2 seconds, has passed.
        advance(by: 9)
        #expect(reports.events.isEmpty)
        advance(by: 1)
        #expect(
            reports.events.map(\.description) == [
                "Nothing has progressed in the queue ‘photos’ for 8.0 seconds, and 1 operation has not finished. "
                    + "‘slow’ has been executing for 8.0 seconds."
            ])
        gate.open()
        stage.steps.runAll()
    }

    @Test("A report on an exclusion whose holder runs says that the holder may wait for the other operation")
    func exclusionsOfBodies() {
        watch()
        let file = Names()("file")
        stage.run(stage.waiting("holder", at: gate).addCondition(.limited(file, to: 1)))
        stage.run(stage.noting("second").addCondition(.limited(file, to: 1)))
        advance(by: 10)
        #expect(
            reports.events.first?.description.contains(
                "If one of these bodies waits for another operation in an unstructured task") == true)
        gate.open()
        stage.steps.runAll()
    }

    @Test("A stall is reported once, and the next one after progress")
    func reportsAfterProgress() {
        watch()
        let missing = stage.noting("missing")
        stage.run(stage.noting("waiting", after: missing))
        advance(by: 40)
        #expect(reports.events.count == 1)
        stage.run(stage.noting("progress"))
        advance(by: 10)
        #expect(reports.events.count == 2)
        #expect(reports.events.map(\.operationCount) == [1, 1])
        advance(by: 40)
        #expect(reports.events.count == 2)
        stage.run(missing)
        advance(by: 40)
        #expect(reports.events.count == 2)
    }

    @Test("A start, a finish and a run of a repetition each count as progress")
    func progressOfEveryKind() {
        watch()
        let gates = (0..<3).map { _ in Gate() }
        let other = stage.waiting("other", at: gate)
        stage.run(other)
        for gate in gates { stage.run(stage.waiting("slow", at: gate)) }
        for gate in gates {
            advance(by: 7)
            gate.open()
            stage.steps.runAll()
        }
        // The operation `late` makes the only progress by starting, because its dependency finishes in another queue.
        let elsewhere = TestQueue(on: stage.steps)
        let source = elsewhere.noting("source")
        let late = stage.noting("late", after: source).repeat(every: .seconds(7))
        stage.run(late)
        advance(by: 7)
        elsewhere.run(source)
        advance(by: 70)
        #expect(reports.events.isEmpty)
        late.cancel()
        advance(by: 10)
        #expect(reports.events.count == 1)
        gate.open()
        stage.steps.runAll()
    }

    /// The report names each root once, also a root in another queue. Roots that other operations wait for come first.
    @Test("A report names the roots that the operations wait for")
    func roots() {
        watch()
        let uploads = TestQueue(name: "uploads", isSuspended: true, on: stage.steps)
        let upload = uploads.noting("upload")
        uploads.run(upload)
        let missing = stage.noting("missing")
        for number in 0..<20 {
            let operation = stage.noting("\(number)", after: upload)
            if number > 10 { operation.addDependency(missing) }
            stage.run(operation)
        }
        advance(by: 10)
        #expect(
            reports.events.map(\.description) == [
                "Nothing has progressed in the queue ‘photos’ for 8.0 seconds, and 20 operations have not finished. "
                    + "‘missing’ was not added to any queue: add it, or use `run` or `add(to:)`. "
                    + "‘upload’ is ready, and its queue ‘uploads’ is suspended: set its `isSuspended` to false."
            ])
        #expect(reports.events.first?.explanations.map(\.operation) == [missing.reference, upload.reference])
        upload.cancel()
        missing.cancel()
        stage.steps.runAll()
    }

    @Test("A suspension is a stall, and its report contains ten roots at most")
    func suspensions() {
        stage.queue.isSuspended = true
        watch()
        for number in 0..<15 { stage.run(stage.noting("\(number)")) }
        advance(by: 10)
        #expect(reports.events.first?.explanations.count == 10)
        #expect(reports.events.first?.rootCount == 15)
        #expect(reports.events.first?.description.hasSuffix("And 5 more.") == true)
        stage.queue.cancelAll()
        stage.steps.runAll()
    }

    @Test("A stall report lists the ten operations whose handlers have run for longest, in order")
    func manyHandlersThatDoNotReturn() {
        watch()
        let operations = (0..<15).map { stage.noting("\($0)") }
        for operation in operations {
            operation.didFinish { _ in await gate.wait() }
            stage.run(operation)
        }
        advance(by: 10)
        #expect(reports.events.first?.operationsInHandlers == operations.prefix(10).map(\.reference))
        gate.open()
        stage.steps.runAll()
    }

    @Test("A start handler that does not return is reported after its operation has finished")
    func aStartHandlerThatDoesNotReturn() {
        watch()
        let saved = stage.noting("saved")
        saved.didStart { await gate.wait() }.didFinish { _ in }
        stage.run(saved)
        advance(by: 10)
        #expect(reports.events.first?.operationsInHandlers == [saved.reference])
        gate.open()
        stage.steps.runAll()
        #expect(saved.ending == "success" && reports.events.count == 1)
    }

    @Test("A handler that does not return is reported once all operations have finished, and again with later ones")
    func aHandlerThatDoesNotReturn() {
        watch()
        let saved = stage.noting("saved")
        saved.didFinish { _ in await gate.wait() }
        stage.run(saved)
        advance(by: 10)
        let sentence = "Handlers of ‘saved’ have not returned: the queue is idle when they have."
        #expect(
            reports.events.map(\.description) == [
                "Nothing has progressed in the queue ‘photos’ for 8.0 seconds. \(sentence)"
            ])
        #expect(reports.events.first?.operationCount == 0)
        #expect(reports.events.first?.operationsInHandlers == [saved.reference])

        let later = stage.waiting("later", at: gate)
        stage.run(later)
        advance(by: 10)
        #expect(reports.events.count == 2)
        #expect(
            reports.events.last?.description.hasSuffix("‘later’ has been executing for 8.0 seconds. \(sentence)")
                == true)
        #expect(pendingTimers == 1)

        gate.open()
        stage.steps.runAll()
        #expect(pendingTimers == 0, "The queue is idle, and nothing is watched.")
        advance(by: 100)
        #expect(reports.events.count == 2)
    }

    // MARK: The timer

    @Test("All stall handlers of a queue share one timer, and an empty queue has none")
    func oneTimer() {
        watch()
        watch(after: .seconds(80))
        #expect(pendingTimers == 0)
        let operations = (0..<100).map { _ in stage.waiting("waiting", at: gate) }
        stage.queue.add(operations)
        #expect(pendingTimers == 1)
        stage.steps.runAll()
        advance(by: 5)
        #expect(pendingTimers == 1)
        gate.open()
        stage.steps.runAll()
        #expect(pendingTimers == 0)
        stage.run(stage.noting("again"))
        #expect(pendingTimers == 0)
        stage.queue.addBarrier(stage.noting("missing").then {})
        #expect(pendingTimers == 1)
        stage.queue.cancelAll()
        #expect(pendingTimers == 0)
        advance(by: 100)
        #expect(reports.events.isEmpty)
    }

    @Test func operationsThatWereAddedBeforeTheWatchAreWatched() {
        stage.run(stage.waiting("slow", at: gate))
        advance(by: 100)
        watch()
        advance(by: 7)
        #expect(reports.events.isEmpty)
        advance(by: 1)
        #expect(reports.events.count == 1)
        gate.open()
        stage.steps.runAll()
    }

    @Test("Each handler has its own limit")
    func ownLimits() {
        let late = EventLog<Duration>()
        watch()
        stage.queue.onStall(after: .seconds(20)) { late($0.duration) }
        stage.run(stage.waiting("slow", at: gate))
        advance(by: 10)
        #expect(reports.events.count == 1)
        #expect(late.events.isEmpty)
        advance(by: 12)
        #expect(late.events == [.seconds(20)])
        #expect(reports.events.count == 1)
        gate.open()
        stage.steps.runAll()
    }

    @Test func aNegativeLimitIsMisuseAndCountsAsZero() {
        watch(after: .seconds(-1))
        #expect(stage.misuseKinds == [.negativeDuration("the time of a stall")])
        stage.run(stage.waiting("slow", at: gate))
        stage.advance(by: .milliseconds(1))
        stage.advance(by: .milliseconds(1))
        #expect(reports.events.count == 1)
        gate.open()
        stage.steps.runAll()
    }

    // MARK: The handler

    @Test("A handler whose observation is cancelled is released and not called any more")
    func cancelledObservation() {
        let tokens = Tokens()
        let observation = {
            let token = tokens.make()
            return stage.queue.onStall(after: .seconds(8)) { [reports] in
                token.touch()
                reports($0)
            }
        }()
        stage.run(stage.waiting("slow", at: gate))
        #expect(pendingTimers == 1)
        observation.cancel()
        observation.cancel()
        #expect(tokens.alive == 0)
        #expect(pendingTimers == 0)
        advance(by: 20)
        #expect(reports.events.isEmpty)
        gate.open()
        stage.steps.runAll()
    }

    @Test("A handler that does not return delays neither other handlers nor its own next call")
    func handlerThatDoesNotReturn() {
        let (never, stalls) = (Gate(), Tally())
        stage.queue.onStall(after: .seconds(8)) { _ in
            stalls.add()
            await never.wait()
        }
        watch()
        stage.run(stage.waiting("slow", at: gate))
        advance(by: 10)
        #expect(stalls.count == 1)
        #expect(reports.events.count == 1)
        stage.run(stage.noting("other"))
        #expect(stage.ran == ["slow", "other"])
        advance(by: 10)
        #expect(stalls.count == 2)
        gate.open()
        stage.steps.runAll()
        #expect(stage.queue.operationCount == 0)
        never.open()
        stage.steps.runAll()
    }

    @Test("A handler runs on a task that is not cancelled, and may cancel the operations of its queue")
    func handlerThatCancelsTheQueue() {
        let isCancelled = EventLog<Bool>()
        stage.queue.onStall(after: .seconds(8)) { [weak queue = stage.queue] _ in
            isCancelled(Task.isCancelled)
            queue?.cancelAll()
        }
        let slow = AsyncOperation("slow") { try await Gate().waitUnlessCancelled() }
        stage.run(slow)
        advance(by: 10)
        #expect(isCancelled.events == [false])
        #expect(slow.ending == "cancelled with everything in its queue")
    }

    /// A handler that never returns retains neither the queue nor its operations.
    @Test("A queue that is released releases its handlers and removes its timer")
    func releasedQueue() {
        let (tokens, steps, clock, never) = (Tokens(), StepExecutor(), TestClock(), Gate())
        weak var core: QueueCore?
        do {
            let token = tokens.make()
            let queue = AsyncOperationQueue(executor: steps, clock: clock)
            core = queue.core
            queue.onStall(after: .seconds(8)) { _ in
                token.touch()
                await never.wait()
            }
            queue.onStall(after: .seconds(8)) { _ in token.touch() }
            queue.add { [gate] in await gate.wait() }
            steps.runAll()
        }
        #expect(core != nil)
        for _ in 0..<10 {
            clock.advance(by: .seconds(1))
            steps.runAll()
        }
        gate.open()
        steps.runAll()
        #expect(core == nil)
        #expect(clock.sleeperCount == 0)
        never.open()
        steps.runAll()
        #expect(tokens.alive == 0)
    }

    /// Operations are added and finish while other tasks add and remove handlers. Afterwards there is a timer if and
    /// only if the queue contains an operation.
    @Test("On threads, the timer exists exactly while the queue has operations")
    func timerUnderThreads() async throws {
        for _ in 0..<50 {
            let queue = AsyncOperationQueue(executor: ThreadExecutor(threads: 2), clock: TestClock())
            let gate = Gate()
            await withTaskGroup(of: Void.self) { group in
                group.addTask { for _ in 0..<20 { queue.onStall(after: .seconds(1)) { _ in }.cancel() } }
                group.addTask { queue.onStall(after: .seconds(1)) { _ in } }
                group.addTask { for _ in 0..<100 { queue.add {} } }
                group.addTask { for _ in 0..<100 { _ = try? await queue.run(AsyncOperation {}) } }
            }
            await queue.waitUntilIdle()
            // A worker may still be about to remove a timer that it has set.
            func timers(become count: Int) async {
                while queue.core.timerService.count != count { await Task.yield() }
            }
            await timers(become: 0)
            queue.add { await gate.wait() }
            await timers(become: 1)
            gate.open()
            await queue.waitUntilIdle()
            await timers(become: 0)
        }
    }
}
