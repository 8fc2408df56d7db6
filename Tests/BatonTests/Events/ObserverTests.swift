import BatonTesting
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct ObserverTests {
    let stage = TestQueue()

    @Test func anObserverOfAnOperationIsToldOfThatAlone() {
        let observer = NotingObserver()
        let operation = stage.noting("a").addObserver(observer)
        stage.run(stage.noting("other"), operation)
        #expect(observer.notes.events == ["a added", "a ready", "a started", "a finished success"])
    }

    @Test("An observer that is added late gets the later events")
    func oneThatComesLateIsToldOfWhatFollows() {
        let gate = Gate()
        let (ofQueue, ofOperation, afterwards) = (NotingObserver(), NotingObserver(), NotingObserver())
        let running = stage.waiting("a", at: gate)
        stage.run(running)
        stage.queue.addObserver(ofQueue)
        running.addObserver(ofOperation)
        gate.open()
        stage.steps.runAll()
        running.addObserver(afterwards)
        stage.steps.runAll()
        for observer in [ofQueue, ofOperation, afterwards] { #expect(observer.notes.events == ["a finished success"]) }
    }

    @Test("An observer that is added while the operation runs gets every further run")
    func oneThatComesWhileTheOperationRunsIsToldOfEveryFurtherRun() {
        let (gate, observer) = (Gate(), NotingObserver())
        let operation = AsyncOperation("a") { await gate.wait() }.repeat(every: .zero, count: 3)
        stage.run(operation)
        operation.addObserver(observer)
        gate.open()
        stage.steps.runAll()
        #expect(
            observer.notes.events == [
                "a repeating in 0.0 seconds", "a ready", "a started", "a repeating in 0.0 seconds", "a ready",
                "a started",
                "a finished success",
            ])
    }

    @Test("An observer may be added while the operation waits")
    func oneThatComesWhileTheOperationWaits() {
        let source = stage.noting("source")
        let operation = stage.noting("a", after: source)
        stage.run(operation)
        let observer = NotingObserver()
        stage.queue.addObserver(observer)
        stage.run(source)
        let ofIt = observer.notes.events.filter { $0.hasPrefix("a ") }
        #expect(ofIt == ["a ready", "a started", "a finished success"])
    }

    /// The misuse of an operation is reported when other operations of the same add are adopted, and are not yet in the
    /// queue.
    @Test("An observer that is added during an add gets the later events")
    func oneThatComesInTheMiddleOfAnAddIsToldOfWhatFollows() {
        let notes = EventLog<String>()
        let queue = AsyncOperationQueue(executor: stage.steps)
        let added = stage.noting("added")
        queue.add(added)
        stage.steps.runAll()
        queue.onMisuse = { [weak queue] _ in queue?.observe { notes($0.inShort) } }
        queue.add(stage.noting("a"), added)
        stage.steps.runAll()
        #expect(notes.events == ["added misuse addedTwice", "a started", "a finished success"])
    }

    @Test func progressOfOneThatRunsAlready() {
        let (gate, second) = (Gate(), Gate())
        let operation = AsyncOperation("a") { context in
            context.progress.report(completed: 1, of: 4)
            await gate.wait()
            context.progress.report(completed: 2, of: 4)
            await second.wait()
        }
        stage.run(operation)
        let observer = NotingObserver()
        operation.addObserver(observer)
        gate.open()
        stage.steps.runAll()
        #expect(observer.notes.events == ["a progress 0.5"])
        second.open()
        stage.steps.runAll()
        #expect(observer.notes.events == ["a progress 0.5", "a finished success"])
    }

    @Test func aCancelledObservationIsToldNothingMore() {
        let observer = NotingObserver()
        let observation = stage.queue.addObserver(observer)
        stage.run(stage.noting("a"))
        observation.cancel()
        observation.cancel()
        stage.run(stage.noting("b"))
        #expect(observer.notes.count == 4)
        #expect(!stage.queue.core.broadcaster.isObserved)
    }

    @Test func cancellingAnObservationDropsItsUndeliveredEvents() {
        let observer = NotingObserver()
        let observation = stage.queue.addObserver(observer)
        stage.queue.add(stage.noting("a"))
        observation.cancel()
        stage.steps.runAll()
        #expect(observer.notes.events == [])
    }

    @Test func theObserverOfAnEarlyCancelledOperationIsToldWithoutAQueue() async {
        let received = EventLog<String>()
        let operation = AsyncOperation("a") {}.observe { received($0.inShort) }
        operation.cancel()
        await received.waitForCount(2)
        #expect(received.events == ["a cancel", "a finished cancelled"])
    }

    @Test func anObserverMayAddOperations() {
        let notes = stage.noteEvents()
        stage.queue.observe { [stage] event in
            if case .finished = event.kind, event.operation.name == "a" { stage.queue.add(stage.noting("b")) }
        }
        stage.run(stage.noting("a"))
        #expect(stage.ran == ["a", "b"])
        #expect(notes.events.suffix(4) == ["b added", "b ready", "b started", "b finished success"])
    }

    @Test func anObserverMayCancelWhatItIsToldOf() {
        let gate = Gate()
        let operation = stage.waiting("a", at: gate)
        operation.observe { event in
            if case .started = event.kind {
                operation.cancel()
                gate.open()
            }
        }
        let observer = NotingObserver()
        operation.addObserver(observer)
        stage.run(operation)
        #expect(observer.notes.events == ["a added", "a ready", "a started", "a cancel", "a finished success"])
    }

    @Test func anObserverMayObserveAndTakeItselfAway() {
        let own = Locked<OperationObservation?>(nil)
        let received = EventLog<String>()
        let observation = stage.queue.observe { [stage] event in
            received(event.inShort)
            stage.queue.observe { received("inner \($0.inShort)") }
            own.withLock { $0.take() }?.cancel()
        }
        own.withLock { $0 = observation }
        stage.run(stage.noting("a"))
        #expect(received.events.filter { !$0.hasPrefix("inner") } == ["a added"])
        #expect(received.events.contains("inner a finished success"))
    }

    @Test("An observer that cancels its task is called on another task")
    func oneThatCancelsItsOwnTaskIsCalledOnAnother() {
        let received = EventLog<Bool>()
        stage.queue.observe { _ in
            received(Task.isCancelled)
            withUnsafeCurrentTask { $0?.cancel() }
        }
        stage.run(stage.noting("a"))
        #expect(received.events == [false, false, false, false])
    }

    @Test @MainActor func aBlockRunsOnTheIsolationItDeclares() async {
        let queue = AsyncOperationQueue()
        let received = EventLog<String>()
        let observation = queue.observe { @MainActor event in
            MainActor.assertIsolated()
            received(event.inShort)
        }
        queue.add(AsyncOperation("a") {})
        await queue.waitUntilIdle()
        await observation.delivered()
        #expect(received.events == ["a added", "a ready", "a started", "a finished success"])
    }

    @Test func deliveredReturnsWhenEverythingBeforeItWasTold() {
        let gate = Gate()
        let log = stage.log
        let observation = stage.queue.observe { event in
            if case .finished = event.kind { await gate.wait() }
            log("told \(event.inShort)")
        }
        stage.queue.add(AsyncOperation("a") {})
        stage.steps.runAll()
        stage.steps.task {
            await observation.delivered()
            log("delivered")
        }
        stage.steps.runAll()
        #expect(!stage.ran.contains("delivered"))
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran.suffix(2) == ["told a finished success", "delivered"])
        observation.cancel()
        stage.steps.task {
            await observation.delivered()
            log("gone")
        }
        stage.steps.runAll()
        #expect(stage.ran.last == "gone")
    }

    @Test func removingAnObserverResumesItsWaiters() {
        let (gate, log) = (Gate(), stage.log)
        let observation = stage.queue.observe { _ in await gate.wait() }
        stage.run(AsyncOperation("a") {})
        stage.steps.task {
            await observation.delivered()
            log("goes on")
        }
        stage.steps.runAll()
        observation.cancel()
        stage.steps.runAll()
        #expect(stage.ran == ["goes on"])
        gate.open()
        stage.steps.runAll()
    }

    @Test func aQueueWithASlowObserverIsIdleAllTheSame() {
        let (gate, log) = (Gate(), stage.log)
        stage.queue.observe { _ in await gate.wait() }
        stage.run(AsyncOperation("a") {})
        stage.steps.task { [queue = stage.queue] in
            await queue.waitUntilIdle()
            log("idle")
        }
        stage.steps.runAll()
        #expect(stage.ran == ["idle"])
        gate.open()
        stage.steps.runAll()
    }
}
