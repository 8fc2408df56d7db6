import BatonTesting
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct DeliveryEndTests {
    /// Each operation waits at its gate, even if it is cancelled, and logs its end. The operation of the number
    /// `failing` fails.
    private func outputs(
        of stage: TestQueue, _ gates: Gates, failing: Int, order: OutputOrder = .preserved
    ) -> OperationOutputs<Numbers<Never>, Int> {
        Numbers(gates.all.count).deliver(on: stage.queue, order: order) { [log = stage.log] number in
            await gates[number].wait()
            log("ended \(number)\(Task.isCancelled ? ", cancelled" : "")")
            if number == failing { throw Oops() }
            return number
        }
    }

    @Test func aFailureComesAtItsPlaceWhenTheRestHasEnded() {
        let stage = TestQueue()
        let gates = Gates(4)
        stage.consume(outputs(of: stage, gates, failing: 1))
        stage.steps.runAll()
        gates[1].open()
        stage.steps.runAll()
        gates[0].open()
        stage.steps.runAll()
        #expect(stage.ran == ["ended 1", "ended 0", "0"])
        gates[2].open()
        stage.steps.runAll()
        #expect(stage.ran.last == "ended 2, cancelled")
        gates[3].open()
        stage.steps.runAll()
        #expect(stage.ran.suffix(2) == ["ended 3, cancelled", "failed: oops"])
    }

    @Test func onArrivalAFailureCancelsTheRest() {
        let stage = TestQueue()
        let gates = Gates(3)
        stage.consume(outputs(of: stage, gates, failing: 1, order: .arrival))
        stage.steps.runAll()
        for number in [2, 1, 0] {
            gates[number].open()
            stage.steps.runAll()
        }
        #expect(stage.ran == ["ended 2", "2", "ended 1", "ended 0, cancelled", "failed: oops"])
    }

    @Test func afterAFailureUpstreamIsNotAskedAndHasEnded() {
        let stage = TestQueue()
        let numbers = Numbers(.max)
        stage.consume(
            numbers.deliver(on: stage.queue, width: 2) { number in
                if number == 5 { throw Oops() }
                return number
            })
        stage.steps.runAll()
        #expect(stage.ran == ["0", "1", "2", "3", "4", "failed: oops"])
        #expect(numbers.taken.count <= 7)
        #expect(numbers.iterators.alive == 0)
        #expect(stage.queue.operationCount == 0)
    }

    @Test func dependenciesOfACancelledOperationAreCancelled() {
        let stage = TestQueue()
        let gates = Gates(2)
        let never = stage.waiting("before 1", at: gates[1])
        stage.consume(
            Numbers(2).deliver(
                on: stage.queue, configure: { operation, number in if number == 1 { operation.addDependency(never) } }
            ) { _ in
                await gates[0].wait()
                throw Oops()
            })
        stage.steps.runAll()
        gates[0].open()
        stage.steps.runAll()
        #expect(never.isCancelled)
        gates[1].open()
        stage.steps.runAll()
        #expect(stage.ran == ["before 1", "failed: oops"])
    }

    @Test func resultsGoOnAfterAFailure() {
        let stage = TestQueue()
        let gates = Gates(3)
        stage.consume(outputs(of: stage, gates, failing: 1).results)
        for gate in gates.all { gate.open() }
        stage.steps.runAll()
        #expect(stage.ran.filter { !$0.hasPrefix("ended") } == ["0", "failed: oops", "2", "end"])
        #expect(!stage.ran.contains { $0.hasSuffix("cancelled") })
    }

    @Test(arguments: [OutputOrder.preserved, .arrival]) func upstreamsErrorComesAfterWhatIsInFlight(
        order: OutputOrder
    ) {
        let stage = TestQueue()
        let gates = Gates(3)
        let outputs = Numbers(3, then: Oops(text: "dry")).deliver(on: stage.queue, order: order) { number in
            await gates[number].wait()
            return number
        }
        stage.consume(outputs)
        stage.steps.runAll()
        #expect(stage.ran == [])
        for gate in gates.all { gate.open() }
        stage.steps.runAll()
        #expect(stage.ran.dropLast().sorted() == ["0", "1", "2"])
        #expect(stage.ran.last == "failed: dry")
        stage.consume(outputs.results)
        stage.steps.runAll()
        #expect(stage.ran.last == "upstream: dry")
    }

    @Test func anOperationErrorOfUpstreamIsPassedOnAsItIs() {
        let stage = TestQueue()
        let failing = Numbers(3).deliver(on: stage.queue) { number in
            if number == 1 { throw Oops() }
            return number
        }
        stage.consume(failing.deliver(to: Doubling(), on: stage.queue))
        stage.steps.runAll()
        #expect(stage.ran == ["0", "failed: oops"])
    }

    @Test func anUpstreamThatThrowsAnything() {
        let stage = TestQueue()
        let upstream = AsyncThrowingStream<Int, any Error> { continuation in
            continuation.yield(1)
            continuation.finish(throwing: Oops(text: "torn"))
        }
        stage.consume(upstream.deliver(to: Doubling(), on: stage.queue))
        stage.steps.runAll()
        #expect(stage.ran == ["2", "failed: torn"])
    }

    @Test func anEmptyUpstreamIsAnEmptySequence() {
        let stage = TestQueue()
        stage.consume(Numbers(0).deliver(to: Doubling(), on: stage.queue))
        stage.steps.runAll()
        #expect(stage.ran == ["end"])
    }

    @Test func afterTheEndThereIsNothing() {
        let stage = TestQueue()
        let outputs = Numbers(1).deliver(on: stage.queue) { _ in throw Oops() }
        stage.steps.task { [log = stage.log] in
            var iterator = outputs.makeAsyncIterator()
            for _ in 0..<3 {
                do throws(OperationError) { log("\(try await iterator.next() == nil)") } catch { log(error.inShort) }
            }
        }
        stage.steps.runAll()
        #expect(stage.ran == ["failed: oops", "true", "true"])
    }

    @Test func aSuspendedQueueHoldsEverything() {
        let stage = TestQueue(isSuspended: true)
        stage.consume(Numbers(3).deliver(to: Doubling(), on: stage.queue))
        stage.steps.runAll()
        #expect(stage.ran == [])
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(stage.ran == ["0", "2", "4", "end"])
    }

    @Test func aQueueThatIsShutDownEndsIt() {
        let stage = TestQueue()
        let gates = Gates(1)
        let numbers = Numbers(.max)
        let outputs = numbers.deliver(on: stage.queue, width: 2) { number in
            if number == 1 { await gates[0].wait() }
            return number
        }
        stage.consume(outputs)
        stage.steps.runAll()
        stage.steps.task { await stage.queue.drain() }
        stage.steps.runAll()
        gates[0].open()
        stage.steps.runAll()
        #expect(stage.ran == ["0", "1", "2", "queueShutDown"])
        #expect(numbers.iterators.alive == 0)
        stage.consume(outputs.results)
        stage.steps.runAll()
        #expect(stage.ran == ["0", "1", "2", "queueShutDown", "end"])
        #expect(numbers.iterators.alive == 0)
    }

    enum ShutdownKind: CaseIterable {
        case draining, cuttingOff
    }

    @Test(
        "Draining or shutting down a queue ends a sequence that has no new elements", arguments: ShutdownKind.allCases,
        [false, true])
    func silentSequences(closing: ShutdownKind, arePlain: Bool) {
        let (stage, gate) = (TestQueue(), Gate())
        let (numbers, more) = AsyncStream.makeStream(of: Int.self)
        more.yield(0)
        more.yield(1)
        let outputs = numbers.deliver(on: stage.queue, width: 4) { number in
            if number == 1 { await gate.wait() }
            return number
        }
        if arePlain { stage.consume(outputs) } else { stage.consume(outputs.results) }
        stage.steps.runAll()
        stage.steps.task {
            switch closing {
            case .draining: await stage.queue.drain()
            case .cuttingOff: await stage.queue.shutdown(within: .zero)
            }
            stage.log("closed")
        }
        stage.steps.runAll()
        #expect(stage.ran == ["0"])
        gate.open()
        stage.steps.runAll()
        #expect(Set(stage.ran) == ["0", "1", arePlain ? "queueShutDown" : "end", "closed"])
        // An iteration that begins now fails as well.
        stage.log.clear()
        let (others, _) = AsyncStream.makeStream(of: Int.self)
        let late = others.deliver(on: stage.queue) { $0 }
        if arePlain { stage.consume(late) } else { stage.consume(late.results) }
        stage.steps.runAll()
        #expect(stage.ran == [arePlain ? "queueShutDown" : "end"])
        #expect(stage.queue.core.state.withLock { $0.shutdownListeners.isEmpty })
    }

    @Test(
        "A body can continue to iterate while its queue drains, but not after a shutdown",
        arguments: ShutdownKind.allCases)
    func sequencesInBodies(closing: ShutdownKind) {
        let stage = TestQueue()
        let (numbers, more) = AsyncStream.makeStream(of: Int.self)
        more.yield(0)
        let body = AsyncOperation { [queue = stage.queue] in
            for try await number in numbers.deliver(on: queue, { $0 }) { stage.log("\(number)") }
        }
        stage.run(body)
        stage.steps.task {
            switch closing {
            case .draining: await stage.queue.drain()
            case .cuttingOff: await stage.queue.shutdown(within: .zero)
            }
        }
        stage.steps.runAll()
        more.yield(1)
        stage.steps.runAll()
        more.finish()
        stage.steps.runAll()
        #expect(stage.ran == (closing == .draining ? ["0", "1"] : ["0"]))
        #expect(body.ending == (closing == .draining ? "success" : "cancelled with everything in its queue"))
        #expect(stage.queue.core.state.withLock { $0.shutdownListeners.isEmpty })
    }

    @Test func aQueueThatIsCutOffEndsIt() {
        let stage = TestQueue()
        let numbers = Numbers(.max)
        stage.consume(numbers.deliver(on: stage.queue) { _ in try await Gate().waitUnlessCancelled() })
        stage.steps.runAll()
        stage.steps.task { await stage.queue.shutdown(within: .zero) }
        stage.steps.runAll()
        #expect(stage.ran == ["cancelled with everything in its queue"])
        #expect(numbers.iterators.alive == 0)
    }

    @Test("A queue that closes ends its sequences in the order in which they began")
    func closingOrder() {
        let stage = TestQueue()
        for number in 0..<16 {
            let (silence, _) = AsyncStream<Int>.makeStream()
            stage.steps.task {
                for await _ in silence.deliver(on: stage.queue, { $0 }).results {}
                stage.log("\(number)")
            }
            stage.steps.runAll()
        }
        stage.steps.task { await stage.queue.drain() }
        stage.steps.runAll()
        #expect(stage.ran == (0..<16).map { "\($0)" })
    }
}
