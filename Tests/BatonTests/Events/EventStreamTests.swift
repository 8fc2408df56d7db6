import BatonTesting
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct EventStreamTests {
    let stage = TestQueue()

    @Test func anOperationsStreamEndsAfterTheFinish() {
        let operation = stage.noting("a")
        let notes = stage.read(operation.events)
        stage.run(operation, stage.noting("other"))
        #expect(notes.events == ["a added", "a ready", "a started", "a finished success", "end"])
    }

    @Test func eventsAreKeptUntilSomebodyReads() {
        let operation = stage.noting("a")
        let events = operation.events
        stage.run(operation)
        let notes = stage.read(events)
        stage.steps.runAll()
        #expect(notes.events == ["a added", "a ready", "a started", "a finished success", "end"])
    }

    @Test func afterTheFinishThereIsTheFinishAlone() {
        let operation = stage.noting("a")
        stage.run(operation)
        let numbers = EventLog<UInt64>()
        let queueEvents = stage.queue.events
        let notes = stage.read(operation.events)
        stage.steps.task {
            for await event in operation.events { numbers(event.number) }
            stage.queue.add(stage.noting("b"))
            for await event in queueEvents {
                numbers(event.number)
                break
            }
        }
        stage.steps.runAll()
        #expect(notes.events == ["a finished success", "end"])
        #expect(numbers.count == 2 && numbers.events[0] < numbers.events[1])
    }

    @Test("The stream of an operation that nobody adds ends when the operation is released")
    func oneThatNobodyAddsEndsTheStreamWhenItIsReleased() {
        var operation: AnyOperation? = stage.noting("a")
        let notes = stage.read(operation!.events)
        stage.steps.runAll()
        #expect(notes.events == [])
        operation = nil
        stage.steps.runAll()
        #expect(notes.events == ["end"])
    }

    @Test("An operation that is cancelled before it is added publishes the cancel and the finish")
    func oneThatIsCancelledAndNeverAddedTellsItAll() {
        let operation = stage.noting("a")
        let events = EventLog<OperationEvent>()
        let stream = operation.events
        operation.cancel()
        stage.steps.task { for await event in stream { events(event) } }
        stage.run(operation)
        #expect(events.events.map(\.inShort) == ["a cancel", "a finished cancelled"])
        #expect(events.events.map(\.number) == [1, 2])
        #expect(events.events.allSatisfy { $0.queue == nil && $0.time == .zero })
    }

    @Test func aQueuesStreamEndsWithTheQueue() async {
        let notes = EventLog<String>()
        let operation = AsyncOperation("a") {}
        var reader: Task<Void, Never>?
        do {
            let queue = AsyncOperationQueue()
            let events = queue.events
            reader = Task {
                for await event in events { notes(event.inShort) }
                notes("end")
            }
            queue.add(operation)
        }
        await reader?.value
        #expect(notes.events == ["a added", "a ready", "a started", "a finished success", "end"])
    }

    @Test func aStreamOfAnIdleQueueEndsWhenTheQueueIsReleased() {
        var queue: AsyncOperationQueue? = AsyncOperationQueue(executor: stage.steps)
        let notes = stage.read(queue!.events)
        stage.steps.runAll()
        #expect(notes.events == [])
        queue = nil
        stage.steps.runAll()
        #expect(notes.events == ["end"])
    }

    @Test func aCancelledReaderEnds() {
        let events = stage.queue.events
        let ended = EventLog<Bool>()
        let task = stage.steps.task {
            for await _ in events {}
            ended(Task.isCancelled)
        }
        stage.steps.runAll()
        #expect(ended.events == [])
        task.cancel()
        stage.steps.runAll()
        #expect(ended.events == [true])
    }

    @Test func aReaderThatWasCancelledBeforeItBeganEnds() {
        let events = stage.queue.events
        let notes = stage.noteEvents()
        let task = stage.steps.task { for await _ in events { notes("read") } }
        task.cancel()
        stage.steps.runAll()
        #expect(notes.events == [])
    }

    @Test func iteratorsOfOneSequenceShareItsEvents() {
        let operation = stage.noting("a")
        let events = operation.events
        let (first, second) = (stage.read(events), stage.read(events))
        stage.steps.runAll()
        stage.run(operation)
        let all = first.events + second.events
        #expect(all.filter { $0 == "end" }.count == 2)
        #expect(all.count == 6)
        #expect(all.contains("a started"))
    }

    @Test func aBoundedStreamSaysHowManyWereDropped() {
        let events = EventLog<OperationEvent>()
        let stream = stage.queue.events(buffering: .newest(2))
        stage.run(stage.noting("a"), stage.noting("b"))
        let task = stage.steps.task { for await event in stream { events(event) } }
        stage.steps.runAll()
        #expect(events.events.map(\.inShort) == ["a dropped 6", "b started", "b finished success"])
        #expect(zip(events.events, events.events.dropFirst()).allSatisfy { $0.number < $1.number })
        stage.run(stage.noting("c"))
        #expect(events.events.suffix(2).map(\.inShort) == ["c started", "c finished success"])
        task.cancel()
        stage.steps.runAll()
    }

    @Test func aStreamOfNothingIsMisuseAndKeepsOne() {
        let operation = stage.noting("a")
        let streams = [stage.queue.events(buffering: .newest(0)), operation.events(buffering: .newest(-1))]
        stage.run(operation)
        let notes = stage.read(streams[1])
        stage.steps.runAll()
        #expect(notes.events == ["a dropped 3", "a finished success", "end"])
        #expect(stage.misuseKinds == [.invalidEventLimit(0)], "That of an operation without a queue is complained of.")
    }

    @Test func aStreamThatNobodyReadsAnyMoreCostsNothing() {
        do { _ = stage.queue.events }
        #expect(!stage.queue.core.broadcaster.isObserved)
        let operation = stage.noting("a")
        stage.run(operation)
        #expect(!operation.isObserved)
    }

    @Test func timesAreThoseOfTheQueuesClock() {
        let clock = TestClock()
        let queue = AsyncOperationQueue(name: "timed", executor: stage.steps, clock: clock)
        let events = EventLog<OperationEvent>()
        queue.observe { events($0) }
        queue.add(AsyncOperation("a") {})
        clock.advance(by: .seconds(3))
        stage.steps.runAll()
        #expect(events.events.map(\.time) == [.zero, .zero, .seconds(3), .seconds(3)])
        #expect(events.events.allSatisfy { $0.queue?.name == "timed" && $0.queue?.number == queue.core.number })
    }
}
