import BatonTesting
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct DeliveryCancelTests {
    private let stage = TestQueue()

    /// Each operation waits at the gate, even if it is cancelled, and logs its end.
    private func outputs(
        _ numbers: Numbers<Never>, at gate: Gate, width: Int = 3
    ) -> OperationOutputs<Numbers<Never>, Int> {
        numbers.deliver(on: stage.queue, width: width) { [log = stage.log] number in
            await gate.wait()
            log("ended \(number)\(Task.isCancelled ? ", cancelled" : "")")
            return number
        }
    }

    @Test func theConsumersCancelEndsAllAndWaitsForIt() {
        let gate = Gate()
        let numbers = Numbers(.max)
        let consumer = stage.consume(outputs(numbers, at: gate))
        stage.steps.runAll()
        consumer.cancel()
        stage.steps.runAll()
        #expect(stage.ran == [])
        gate.open()
        stage.steps.runAll()
        #expect(Set(stage.ran.dropLast()) == ["ended 0, cancelled", "ended 1, cancelled", "ended 2, cancelled"])
        #expect(stage.ran.last == "cancelled with the task that awaited it")
        #expect(numbers.taken.count == 3)
        #expect(numbers.iterators.alive == 0)
    }

    @Test func resultsEndWithoutAnError() {
        let gate = Gate()
        let consumer = stage.consume(outputs(Numbers(.max), at: gate).results)
        stage.steps.runAll()
        consumer.cancel()
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran.count == 4)
        #expect(stage.ran.last == "end")
    }

    @Test func aConsumerThatWasCancelledBeforeBeginsNothing() {
        let numbers = Numbers(.max)
        let outputs = numbers.deliver(to: Doubling(), on: stage.queue)
        stage.consume(outputs).cancel()
        stage.steps.runAll()
        #expect(stage.ran == ["cancelled with the task that awaited it"])
        #expect(numbers.taken.count == 0)
    }

    @Test func operationsThatAreCancelledBeforeTheyRunNeverRun() {
        let gate = Gate()
        let stage = TestQueue(width: 1)
        let consumer = stage.consume(
            Numbers(.max).deliver(on: stage.queue, width: 3) { [log = stage.log] number in
                log("began \(number)")
                await gate.wait()
            })
        stage.steps.runAll()
        consumer.cancel()
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["began 0", "cancelled with the task that awaited it"])
    }

    @Test func anUpstreamThatNeverReturnsIsCancelled() {
        let numbers = Numbers(.max, gate: Gate())
        let consumer = stage.consume(numbers.deliver(to: Doubling(), on: stage.queue))
        stage.steps.runAll()
        #expect(numbers.iterators.alive == 1)
        consumer.cancel()
        stage.steps.runAll()
        #expect(stage.ran == ["cancelled with the task that awaited it"])
        #expect(numbers.iterators.alive == 0)
    }

    @Test func anUpstreamThatIsStillMakingAnElementAddsNoMore() {
        let gate = Gate()
        let (began, made) = (Tally(), Tally())
        let upstream = AsyncStream<Int>(unfolding: {
            began.add()
            await gate.wait()
            return 1
        })
        let consumer = stage.consume(
            upstream.deliver(on: stage.queue, configure: { _, _ in made.add() }) { [log = stage.log] _ in log("ran") })
        stage.steps.runAll()
        consumer.cancel()
        stage.steps.runAll()
        #expect(began.count == 1)
        #expect(stage.ran == [])
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["cancelled with the task that awaited it"])
        #expect(made.count <= 1)
    }

    @Test func aLoopThatIsLeftCancelsTheRest() {
        let numbers = Numbers(.max)
        let gate = Gate()
        let outputs = numbers.deliver(on: stage.queue, width: 3) { [log = stage.log] number in
            if number > 1 { await gate.wait() }
            if Task.isCancelled { log("cancelled \(number)") }
            return number
        }
        stage.steps.task { [log = stage.log] in
            for await result in outputs.results {
                guard let output = try? result.get() else { return log("failed") }
                log("\(output)")
                if output == 1 { break }
            }
        }
        stage.steps.runAll()
        #expect(stage.ran == ["0", "1"])
        #expect(numbers.iterators.alive == 0)
        gate.open()
        stage.steps.runAll()
        #expect(Set(stage.ran.dropFirst(2)) == Set((2..<numbers.taken.count).map { "cancelled \($0)" }))
        #expect(stage.queue.operationCount == 0)
    }

    @Test func anIteratorThatIsReleasedCancelsTheRest() {
        let gate = Gate()
        let numbers = Numbers(.max)
        let outputs = outputs(numbers, at: gate)
        let consumer = stage.steps.task {
            var iterator = outputs.makeAsyncIterator()
            // The consumer is cancelled, and returns without asking for another element.
            _ = try? await iterator.next()
        }
        stage.steps.runAll()
        consumer.cancel()
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran.count == 3)
        #expect(stage.queue.operationCount == 0)
    }

    @Test func aCancelInTheLoopsBodyIsSeenAtTheNextOutput() {
        let numbers = Numbers(.max)
        let outputs = numbers.deliver(to: Doubling(), on: stage.queue, width: 2)
        stage.steps.task { [log = stage.log] in
            do throws(OperationError) {
                for try await output in outputs {
                    log("\(output)")
                    withUnsafeCurrentTask { $0?.cancel() }
                }
            } catch { log(error.inShort) }
        }
        stage.steps.runAll()
        #expect(stage.ran == ["0", "cancelled with the task that awaited it"])
        #expect(numbers.iterators.alive == 0)
    }

    // MARK: Released resources

    enum Way: CaseIterable { case toTheEnd, failure, cancel, leaving, results }

    @Test(arguments: Way.allCases) func nothingIsAliveAfterwards(way: Way) async {
        let tokens = Tokens()
        let queue = AsyncOperationQueue(maxConcurrentOperationCount: 4)
        await consume(on: queue, tokens, way)
        await queue.waitUntilIdle()
        // The task that iterates upstream may not have ended yet.
        while tokens.alive > 0 { await Task.yield() }
    }

    private func consume(on queue: AsyncOperationQueue, _ tokens: Tokens, _ way: Way) async {
        let upstream = AsyncStream { continuation in
            for _ in 0..<100 { continuation.yield(tokens.make()) }
            if way != .cancel { continuation.finish() }
        }
        let captured = tokens.make()
        let outputs = upstream.deliver(on: queue, width: 8, order: .arrival) { token in
            captured.touch()
            if way == .failure || way == .results { throw TokenError(token: token) }
            return token
        }
        let consumer = Task {
            var count = 0
            if way == .results { for await _ in outputs.results { count += 1 } }
            for try await _ in outputs {
                count += 1
                if count == 50, way == .leaving { break }
                if count == 50, way == .cancel { withUnsafeCurrentTask { $0?.cancel() } }
            }
        }
        _ = await consumer.result
    }
}
