import BatonTesting
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct DeliveryTests {
    @Test func everyElementRunsInAnOperationOfItsOwn() {
        let stage = TestQueue()
        stage.consume(Numbers(4).deliver(to: Doubling(), on: stage.queue))
        stage.steps.runAll()
        #expect(stage.ran == ["0", "2", "4", "6", "end"])
        #expect(stage.queue.operationCount == 0)
    }

    @Test func aClosureIsEnoughAndMayWantItsContext() {
        let stage = TestQueue()
        stage.consume(Numbers(2).deliver(on: stage.queue) { number in number + 10 })
        stage.steps.runAll()
        stage.consume(
            Numbers(2).deliver(on: stage.queue) { number, context in
                try await context.run(AsyncOperation { number + 20 })
            })
        stage.steps.runAll()
        #expect(stage.ran == ["10", "11", "end", "20", "21", "end"])
    }

    @Test func nothingHappensBeforeAnOutputIsAskedFor() {
        let stage = TestQueue()
        let numbers = Numbers(4)
        let iterator = numbers.deliver(to: Doubling(), on: stage.queue).makeAsyncIterator()
        stage.steps.runAll()
        #expect(numbers.taken.count == 0)
        withExtendedLifetime(iterator) {}
    }

    @Test(arguments: [[3, 2, 1, 0], [1, 3, 0, 2]]) func theOrderOfTheElementsIsKept(finishing: [Int]) {
        let stage = TestQueue()
        let gates = Gates(4)
        stage.consume(
            Numbers(4).deliver(on: stage.queue) { number in
                await gates[number].wait()
                return number
            })
        stage.steps.runAll()
        var open: Set<Int> = []
        for number in finishing {
            gates[number].open()
            stage.steps.runAll()
            open.insert(number)
            #expect(stage.ran.filter { $0 != "end" } == (0..<4).prefix { open.contains($0) }.map { "\($0)" })
        }
        #expect(stage.ran.last == "end")
    }

    @Test func onArrivalTheyComeAsTheyFinish() {
        let stage = TestQueue()
        let gates = Gates(4)
        stage.consume(
            Numbers(4).deliver(on: stage.queue, order: .arrival) { number in
                await gates[number].wait()
                return number
            })
        for number in [2, 0, 3, 1] {
            stage.steps.runAll()
            gates[number].open()
        }
        stage.steps.runAll()
        #expect(stage.ran == ["2", "0", "3", "1", "end"])
    }

    @Test(arguments: [OutputOrder.preserved, .arrival]) func soManyAreInFlightAndNoMore(order: OutputOrder) {
        let stage = TestQueue()
        let gates = Gates(9)
        let numbers = Numbers(9)
        stage.consume(
            numbers.deliver(on: stage.queue, width: 3, order: order) { number in
                await gates[number].wait()
                return number
            })
        for number in 0..<9 {
            stage.steps.runAll()
            #expect(numbers.taken.count == min(number + 3, 9))
            #expect(stage.queue.operationCount == min(3, 9 - number))
            gates[number].open()
        }
        stage.steps.runAll()
        #expect(stage.ran == (0..<9).map { "\($0)" } + ["end"])
    }

    /// Finished operations count until their outputs are consumed.
    @Test(arguments: [OutputOrder.preserved, .arrival]) func aSlowConsumerHoldsUpstreamBack(order: OutputOrder) {
        let stage = TestQueue()
        let numbers = Numbers(.max)
        let gates = Gates(5)
        let outputs = numbers.deliver(to: Doubling(), on: stage.queue, width: 4, order: order)
        stage.steps.task {
            var count = 0
            for await _ in outputs.results {
                await gates[count].wait()
                count += 1
                if count == 5 { break }
            }
        }
        for number in 0..<5 {
            stage.steps.runAll()
            #expect(stage.queue.operationCount == 0)
            // The numbers that were taken are those that were consumed, and four more.
            #expect(numbers.taken.count == number + 1 + 4)
            gates[number].open()
        }
        stage.steps.runAll()
        #expect(numbers.iterators.alive == 0)
    }

    @Test func aSlowOneHoldsUpstreamBackWhenTheOrderIsKept() {
        let stage = TestQueue()
        let gate = Gate()
        let numbers = Numbers(.max)
        let consumer = stage.consume(
            numbers.deliver(on: stage.queue, width: 3) { number in
                if number == 0 { await gate.wait() }
                return number
            })
        stage.steps.runAll()
        #expect(numbers.taken.count == 3)
        #expect(stage.queue.operationCount == 1)
        consumer.cancel()
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["cancelled with the task that awaited it"])
    }

    @Test(arguments: [(5, 5), (AsyncOperationQueue.unlimited, 64)]) func theDefaultIsTheWidthOfTheQueue(
        queueWidth: Int, expected: Int
    ) {
        let stage = TestQueue(width: queueWidth)
        let gate = Gate()
        let numbers = Numbers(100)
        stage.consume(numbers.deliver(on: stage.queue) { _ in await gate.wait() })
        stage.steps.runAll()
        #expect(numbers.taken.count == expected)
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran.count == 101)
    }

    @Test(arguments: [0, -1, .min]) func aWidthBelowOneIsMisuseAndCountsAsOne(width: Int) {
        let stage = TestQueue()
        let gates = Gates(2)
        let numbers = Numbers(2)
        stage.consume(numbers.deliver(on: stage.queue, width: width) { await gates[$0].wait() })
        #expect(stage.misuseKinds == [.invalidDeliveryWidth(width)])
        stage.steps.runAll()
        #expect(numbers.taken.count == 1)
        for gate in gates.all { gate.open() }
        stage.steps.runAll()
        #expect(stage.ran == ["()", "()", "end"])
    }

    @Test func eachOperationMayBeConfigured() {
        let stage = TestQueue()
        let outputs = Numbers(3).deliver(to: Doubling(), on: stage.queue) { operation, number in
            operation.name = "number \(number)"
            operation.addDependency(stage.noting("before \(number)"))
            operation.addCondition("not 1") { operation in number == 1 ? .skip(operation.name ?? "") : .satisfied }
        }
        stage.consume(outputs.results)
        stage.steps.runAll()
        #expect(stage.ran.filter { $0.hasPrefix("before") }.count == 3)
        #expect(stage.ran.filter { !$0.hasPrefix("before") } == ["0", "skipped: number 1", "4", "end"])
    }

    @Test("An operation that its configuration cancels has failed")
    func oneThatIsConfiguredToBeCancelledHasFailed() {
        let stage = TestQueue()
        let outputs = Numbers(3).deliver(to: Doubling(), on: stage.queue) { operation, number in
            if number == 1 { operation.cancel() }
        }
        stage.consume(outputs.results)
        stage.steps.runAll()
        #expect(stage.ran == ["0", "cancelled on request", "4", "end"])
    }

    @Test func twoIterationsAreTwoRuns() {
        let stage = TestQueue()
        let numbers = Numbers(3)
        let outputs = numbers.deliver(to: Doubling(), on: stage.queue)
        stage.consume(outputs)
        stage.consume(outputs)
        stage.steps.runAll()
        #expect(stage.ran.sorted() == ["0", "0", "2", "2", "4", "4", "end", "end"])
        #expect(numbers.taken.count == 6)
    }

    @Test func deliveriesCanBeChained() {
        let stage = TestQueue(width: 1)
        stage.consume(
            Numbers(5).deliver(to: Doubling(), on: stage.queue, width: 2)
                .deliver(on: stage.queue, width: 3) { number in "<\(number)>" })
        stage.steps.runAll()
        #expect(stage.ran == ["<0>", "<2>", "<4>", "<6>", "<8>", "end"])
    }
}
