import BatonTesting
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct AddingTests {
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

    @Test("An add of an operation that another queue has names that queue")
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
                "‘operation’: was added to the queue ‘first’ before", "‘operation’: was added to a queue twice",
            ])
        first.steps.runAll()
        #expect(first.ran == ["operation"])
    }

    /// Adds more operations than are entered under one lock, with dependencies in both directions of the order.
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

    /// The workers run and end inside the add, so each batch finds none. The last operation is refused, so nothing
    /// follows a batch for which no worker was started.
    @Test(arguments: [64, 128, 192, 256, 1024, 4096]) func workersThatEndDuringTheAdd(count: Int) {
        let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1, executor: ImmediateExecutor()) { _ in }
        let workers = EventLog<WorkerTaskContext>()
        let operations = (0..<count).map { _ in AsyncOperation { workers(WorkerTaskContext.current!) } }
        queue.add(operations + [operations[0]])
        #expect(operations.allSatisfy { $0.state == .finished })
        let starts = zip(workers.events, workers.events.dropFirst()).count { $0 !== $1 }
        #expect(starts <= 3 + count / 1024, "Not one for every 64 operations.")
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

    /// The `added` event is reported when the operation belongs to the queue. An operation that waits has not been
    /// linked then. An operation that does not wait has been linked and reported as ready, but is not in a list yet.
    @Test func aCancelWhileItIsBeingAddedEndsItWhenItIsLinked() {
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
            let meeting = Meeting(of: 2)
            async let cancelled: Void = {
                await meeting.everybodyIsHere()
                operation.cancel()
            }()
            await meeting.everybodyIsHere()
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
