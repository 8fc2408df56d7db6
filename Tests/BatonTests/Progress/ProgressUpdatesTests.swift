import BatonTesting
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct ProgressUpdatesTests {
    private let stage = TestQueue()
    private let seen = EventLog<String>()

    /// Logs each update, and then "end".
    @discardableResult
    private func read(_ updates: OperationProgressUpdates, into log: EventLog<String>) -> Task<Void, Never> {
        stage.steps.task {
            for await progress in updates { log("\(progress)") }
            log("end")
        }
    }

    @Test func onlyTheNewestIsKept() {
        let context = OperationContext(queue: stage.queue)
        read(context.operation.progressUpdates, into: seen)
        stage.steps.runAll()
        for count in 1...5 { context.progress.report(completed: count, of: 10) }
        stage.steps.runAll()
        context.progress.advance()
        context.progress.advance()
        stage.steps.runAll()
        #expect(seen.events == ["0 %", "5 of 10 (50 %)", "7 of 10 (70 %)"])
        context.operation.cancel()
        stage.steps.runAll()
        #expect(seen.events.dropFirst(3) == ["7 of 10 (70 %)", "end"], "Once more, as finished.")
    }

    @Test func aValueThatReturnsToTheLastOneIsNotDelivered() {
        let context = OperationContext(queue: stage.queue)
        read(context.operation.progressUpdates, into: seen)
        stage.steps.runAll()
        context.progress.advance()
        context.progress.completedUnitCount = 0
        stage.steps.runAll()
        #expect(seen.events == ["0 %"])
        context.progress.advance()
        stage.steps.runAll()
        #expect(seen.events == ["0 %", "1 (0 %)"])
        context.operation.cancel()
        stage.steps.runAll()
    }

    @Test func askedBeforeTheAddItSeesTheWholeRun() {
        let gate = Gate()
        let operation = AsyncOperation { context in
            context.progress.report(completed: 1, of: 2)
            await gate.wait()
        }
        read(operation.progressUpdates, into: seen)
        stage.steps.runAll()
        stage.run(operation)
        gate.open()
        stage.steps.runAll()
        #expect(seen.events == ["0 %", "1 of 2 (50 %)", "2 of 2 (100 %)", "end"])
    }

    @Test func askedAfterTheFinishItHasOneElement() {
        let operation = AsyncOperation { context in context.progress.report(completed: 1, of: 2) }
        let silent = AsyncOperation { throw Oops() }
        stage.run(operation, silent)
        read(operation.progressUpdates, into: seen)
        stage.steps.runAll()
        read(silent.progressUpdates, into: seen)
        stage.steps.runAll()
        #expect(seen.events == ["2 of 2 (100 %)", "end", "0 %", "end"])
    }

    @Test func iteratorsAreIndependent() {
        let context = OperationContext(queue: stage.queue)
        let updates = context.operation.progressUpdates
        let other = EventLog<String>()
        read(updates, into: seen)
        stage.steps.runAll()
        context.progress.advance()
        read(updates, into: other)
        stage.steps.runAll()
        context.progress.advance()
        stage.steps.runAll()
        #expect(seen.events == ["0 %", "1 (0 %)", "2 (0 %)"])
        #expect(other.events == ["1 (0 %)", "2 (0 %)"])
        context.operation.cancel()
        stage.steps.runAll()
        #expect(seen.events.last == "end")
        #expect(other.events.last == "end")
    }

    @Test(arguments: [true, false]) func aCancelBeforeTheRunEndsIt(isAdded: Bool) {
        let operation = AsyncOperation {}
        stage.queue.isSuspended = true
        if isAdded { stage.queue.add(operation) }
        read(operation.progressUpdates, into: seen)
        stage.steps.runAll()
        #expect(seen.events == ["0 %"])
        operation.cancel()
        stage.steps.runAll()
        #expect(seen.events == ["0 %", "0 %", "end"])
    }

    @Test func theQueuesReleaseEndsIt() {
        let operation = AsyncOperation {}
        AsyncOperationQueue(isSuspended: true, executor: stage.steps).add(operation)
        read(operation.progressUpdates, into: seen)
        stage.steps.runAll()
        #expect(operation.ending == "queueReleased")
        #expect(seen.events.last == "end")
    }

    // MARK: Cancellation of the reader

    @Test func aCancelOfTheReaderEndsItsWait() {
        let context = OperationContext(queue: stage.queue)
        let reader = read(context.operation.progressUpdates, into: seen)
        let other = EventLog<String>()
        read(context.operation.progressUpdates, into: other)
        stage.steps.runAll()
        reader.cancel()
        stage.steps.runAll()
        #expect(seen.events == ["0 %", "end"])
        context.progress.advance()
        stage.steps.runAll()
        #expect(seen.events == ["0 %", "end"])
        #expect(other.events == ["0 %", "1 (0 %)"])
        context.operation.cancel()
        stage.steps.runAll()
    }

    @Test func aCancelledReaderGetsNothing() {
        let context = OperationContext(queue: stage.queue)
        let reader = read(context.operation.progressUpdates, into: seen)
        reader.cancel()
        stage.steps.runAll()
        #expect(seen.events == ["end"])
    }

    /// The reader is cancelled after it has asked for an update and before it waits, so its cancellation handler finds
    /// no waiter.
    @Test func aReaderThatIsCancelledBeforeItWaitsDoesNotWait() {
        let state = ProgressState()
        stage.steps.task { [seen] in
            guard case .wait(let id) = state.next(after: state.value) else { return }
            withUnsafeCurrentTask { $0?.cancel() }
            await state.wait(id, after: state.value)
            seen("returned")
        }
        stage.steps.runAll()
        #expect(seen.events == ["returned"])
    }

    @Test func anIteratorThatHasEndedStaysAtItsEnd() async {
        let operation = AsyncOperation {}
        operation.cancel()
        var iterator = operation.progressUpdates.makeAsyncIterator()
        #expect(await iterator.next()?.isFinished == true)
        #expect(await iterator.next() == nil)
        #expect(await iterator.next() == nil)
    }

    @Test func readersComeAndGoWhileItChanges() async {
        let context = OperationContext(queue: stage.queue)
        let updates = context.operation.progressUpdates
        await withTaskGroup { group in
            for _ in 0..<4 {
                group.addTask { for _ in 0..<500 { context.progress.advance() } }
            }
            for _ in 0..<200 {
                group.addTask {
                    let reader = Task {
                        for await _ in updates {}
                    }
                    await Task.yield()
                    reader.cancel()
                    await reader.value
                }
            }
        }
        #expect(context.operation.progress.completedUnitCount == 2000)
        #expect(context.operation.progressState.waiterCount == 0)
    }

    // MARK: Lifetimes

    @Test func aReleasedOperationEndsIt() {
        let tokens = Tokens()
        do {
            let token = tokens.make()
            let operation = AsyncOperation { token.touch() }
            read(operation.progressUpdates, into: seen)
            stage.steps.runAll()
            #expect(tokens.alive == 1)
        }
        #expect(tokens.alive == 0, "Who iterates does not keep it alive.")
        stage.steps.runAll()
        #expect(seen.events == ["0 %", "end"])
    }

    @Test func askedForBeforeTheReleaseItHasOneElement() {
        let updates = AsyncOperation {}.progressUpdates
        read(updates, into: seen)
        stage.steps.runAll()
        #expect(seen.events == ["0 %", "end"])
    }

    @Test func nothingIsLeftOfOperationSequenceAndReaders() {
        weak var state: ProgressState?
        do {
            let gate = Gate()
            let operation = stage.waiting("a", at: gate)
            state = operation.progressState
            let reader = read(operation.progressUpdates, into: seen)
            read(operation.progressUpdates, into: seen)
            stage.run(operation)
            reader.cancel()
            gate.open()
            stage.steps.runAll()
        }
        #expect(seen.events.filter { $0 == "end" }.count == 2)
        #expect(state == nil)
    }
}
