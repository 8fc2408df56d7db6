import BatonTesting
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct AddTests {
    @Test("One operation, several, an array or a closure can be added")
    func oneSeveralAnArrayAClosure() {
        let stage = TestQueue(width: 1)
        stage.queue.add(stage.noting("one"))
        stage.queue.add(stage.noting("two"), stage.noting("three"), stage.noting("four"))
        stage.queue.add([stage.noting("five"), stage.noting("six")])
        let seven = stage.queue.add("seven") { [log = stage.log] in
            log("seven")
            return 7
        }
        stage.queue.add([])
        stage.steps.runAll()
        #expect(stage.ran == ["one", "two", "three", "four", "five", "six", "seven"])
        #expect(try! seven.result?.get() == 7)
        #expect(seven.name == "seven")
    }

    @Test func arraysOfOneTypeAndOfSeveral() {
        let stage = TestQueue(width: 1)
        let ofOneType: [AsyncOperation<Void>] = ["one", "two"].map { stage.noting($0) }
        let number = AsyncOperation { [log = stage.log] in
            log("three")
            return 3
        }
        let ofSeveral: [AnyOperation] = [number, GroupOperation(stage.noting("four"))]
        stage.queue.add(ofOneType)
        stage.queue.add(ofSeveral)
        stage.queue.add(ofOneType[..<1] + [stage.noting("five")])
        stage.queue.add([AsyncOperation<Int>]())
        stage.steps.runAll()
        #expect(stage.ran == ["one", "two", "three", "four", "five"])
        #expect(stage.misuseKinds == [.addedTwice])
    }

    @Test("Adding an operation to a second queue is a misuse that names the first")
    func addToAnotherQueue() {
        let (first, second) = (TestQueue(name: "first"), TestQueue(name: "second"))
        let operation = first.noting("operation")
        first.queue.add(operation)
        second.queue.add(operation)
        first.queue.add(operation)
        let misuses = second.misuses.events + first.misuses.events
        #expect(misuses.map(\.kind) == [.addedTwice, .addedTwice])
        #expect(misuses.map(\.queue) == ["first", nil])
        #expect(
            misuses.map { "\($0)".prefix { $0 != ";" } } == [
                "‘operation’ was added to the queue ‘first’ before", "‘operation’ was added to a queue twice",
            ])
        first.steps.runAll()
        #expect(first.ran == ["operation"])
    }

    /// Adds a number of operations around the batch size of 64, of which the first depends on all others.
    @Test(arguments: [63, 64, 65, 200]) func manyAtOnce(count: Int) {
        let stage = TestQueue(width: 1)
        let last = stage.noting("last")
        var operations: [AnyOperation] = [last]
        for number in 0..<count {
            let operation = stage.noting("\(number)")
            last.addDependency(operation)
            operations.append(operation)
        }
        stage.queue.add(operations)
        #expect(stage.queue.operationCount == count + 1)
        stage.steps.runAll()
        #expect(stage.ran == (0..<count).map { "\($0)" } + ["last"])
        #expect(stage.queue.operationCount == 0)
    }

    /// No worker is left when the next batch is added. The last operation is rejected, so the add ends without starting
    /// a worker.
    @Test(arguments: [320, 1024, 4096]) func workersThatEndDuringTheAdd(count: Int) {
        let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1, executor: ImmediateExecutor()) { _ in }
        let workers = EventLog<WorkerTaskContext>()
        let operations = (0..<count).map { _ in AsyncOperation { workers(WorkerTaskContext.current!) } }
        queue.add(operations + [operations[0]])
        #expect(operations.allSatisfy { $0.state == .finished })
        let starts = zip(workers.events, workers.events.dropFirst()).count { $0 !== $1 }
        #expect(starts <= 3 + count / 1024, "The add starts fewer workers than one per batch.")
        queue.add([])
        #expect(queue.operationCount == 0)
    }

    @Test func aBodyMayAdd() {
        let stage = TestQueue(width: 1)
        let adding = AsyncOperation { [queue = stage.queue, log = stage.log] in
            queue.add { log("added") }
            log("adding")
        }
        stage.run(adding)
        #expect(stage.ran == ["adding", "added"])
    }

    @Test func aBodyDoesNotInheritTaskLocals() {
        let stage = TestQueue()
        let words = EventLog<String>()
        Ambience.$word.withValue("loud") { stage.queue.add { words(Ambience.word) } }
        stage.steps.runAll()
        #expect(words.events == ["quiet"])
    }

    @Test func bodiesAndHandlersRunOnTheQueuesExecutor() {
        let stage = TestQueue()
        let operation = stage.queue.add {}
        operation.didFinish { _ in }
        #expect(operation.state != .finished)
        #expect(stage.steps.runAll() >= 2)
        #expect(operation.state == .finished)
    }

    /// The `added` event is reported when the operation belongs to the queue. Until then, an operation with
    /// unfinished dependencies is not linked to them, and one without is linked, but not yet in the ready list.
    @Test func anOperationThatIsCancelledWhileItIsAddedFinishesWhenItIsLinked() {
        let known = EventLog<AnyOperation>()
        let kinds = EventLog<String>()
        let stage = TestQueue { event in
            kinds(event.inShort)
            if case .added = event.kind { known.events.last?.cancel() }
        }
        let source = AsyncOperation("source") {}
        for operation in [stage.noting("bare"), stage.noting("dependent", after: source)] {
            known(operation)
            stage.run(operation)
            #expect(operation.ending == "cancelled on request")
            #expect(stage.queue.operationCount == 0)
        }
        #expect(
            kinds.events == [
                "bare added", "bare ready", "bare cancel", "bare finished cancelled",
                "dependent added source", "dependent waiting", "dependent cancel", "dependent finished cancelled",
            ])
        stage.run(source)
        #expect(stage.ran == [])
    }

    /// An operation that is cancelled while another thread adds it finishes once, whichever comes first.
    @Test func aCancelThatRacesWithTheAddEndsItOnce() async {
        let finishes = EventLog<UInt64>()
        let queue = AsyncOperationQueue(probe: { if case .finished = $0.kind { finishes($0.operation.id) } })
        let source = AsyncOperation {}
        for number in 0..<500 {
            let operation = AsyncOperation {}
            if number % 2 == 0 { operation.addDependency(source) }
            let meeting = MeetingPoint(of: 2)
            async let cancelled: Void = {
                await meeting.arriveAndWait()
                operation.cancel()
            }()
            await meeting.arriveAndWait()
            queue.add(operation)
            await cancelled
            if number % 2 == 0 { #expect(operation.ending == "cancelled on request") }
        }
        queue.add(source)
        await queue.waitUntilIdle()
        #expect(queue.operationCount == 0)
        #expect(Set(finishes.events).count == finishes.count)
    }
}

private enum Ambience {
    @TaskLocal static var word = "quiet"
}
