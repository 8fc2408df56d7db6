import Baton
import BatonTesting
import Testing

@Suite("Costs of dependencies", .timeLimit(.minutes(5)))
struct DependencyCostTests {
    enum Order: CaseIterable, Sendable {
        case firstToLast, lastToFirst, random

        func order<Element>(_ elements: [Element]) -> [Element] {
            switch self {
            case .firstToLast: elements
            case .lastToFirst: elements.reversed()
            case .random: elements.shuffled()
            }
        }
    }

    @Test("Dependencies are removed in any order, with or without policies", arguments: Order.allCases, [false, true])
    func removing(order: Order, withPolicies: Bool) async {
        await expectNearlyLinear(2_000) { count in
            let sources = (0..<count).map { _ in AsyncOperation {} }
            let input = AsyncOperation { 1 }
            let operation = AsyncOperation<Void>(input) { _ in }
            for source in sources { operation.addDependency(source, on: withPolicies ? .success : .always) }
            for source in order.order(sources) { operation.removeDependency(source) }
            #expect(operation.dependencies == [input])
        }
    }

    @Test("Dependencies are removed and added alternately")
    func inTurns() async {
        await expectNearlyLinear(2_000) { count in
            let sources = (0..<count).map { _ in AsyncOperation {} }
            let operation = AsyncOperation {}
            for source in sources { operation.addDependency(source, on: .success) }
            for source in sources {
                operation.removeDependency(source)
                operation.addDependency(source, on: .failure)
            }
            #expect(operation.dependencies == sources)
        }
    }

    @Test("Operations that are not dependencies are removed")
    func strangers() async {
        await expectNearlyLinear(2_000) { count in
            let sources = (0..<count).map { _ in AsyncOperation {} }
            let operation = AsyncOperation {}
            for source in sources { operation.addDependency(source) }
            for _ in 0..<count { operation.removeDependency(AsyncOperation {}) }
            #expect(operation.dependencies.count == count)
        }
    }

    @Test("The remaining dependencies keep their order and policies")
    func whatIsLeft() async throws {
        let queue = AsyncOperationQueue()
        let sources = (0..<100).map { number in
            AsyncOperation { if number == 40 { throw CancellationError() } }
        }
        let operation = AsyncOperation {}
        for source in sources { operation.addDependency(source, on: .success) }
        operation.addDependency(sources[3], on: .success)
        for number in [40, 3, 99, 0, 40] { operation.removeDependency(sources[number]) }
        operation.addDependency(sources[40], on: .failure).addDependency(sources[0])
        var left = sources
        for number in [99, 40, 3, 0] { left.remove(at: number) }
        #expect(operation.dependencies == left + [sources[40], sources[0]])
        queue.add(sources + [operation])
        try await within { try await operation.value }
    }

    @Test("A removed dependency is released at once")
    func release() {
        let operation = AsyncOperation {}
        var sources = (0..<50).map { _ in AsyncOperation {} }
        for source in sources { operation.addDependency(source, on: .success) }
        weak let removed = sources[20]
        operation.removeDependency(sources[20])
        sources.remove(at: 20)
        #expect(removed == nil)
        #expect(operation.dependencies == sources)
    }
}

@Suite("Costs of delays since the start of a chain", .timeLimit(.minutes(5)))
struct ChainDelayTests {
    @Test("A chain has many such delays")
    func chain() async {
        await expectNearlyLinear(500) { count in
            var last = AsyncOperation { 1 }
            for _ in 0..<count { last = last.delayed(untilAtLeast: .milliseconds(1)) }
            #expect(last.state == .created)
        }
    }

    @Test("Many such delays of one operation are made and released")
    func ofOne() async {
        let shared = AsyncOperation { 1 }.addDependency(AsyncOperation {})
        await expectNearlyLinear(2_000) { count in
            for _ in 0..<count { _ = shared.delayed(untilAtLeast: .milliseconds(1)) }
        }
    }

    @Test("Dependencies and such delays of one operation are added alternately")
    func inTurns() async {
        await expectNearlyLinear(250) { count in
            let operation = AsyncOperation {}
            let delays = (0..<count).map { _ in
                operation.addDependency(AsyncOperation {})
                return operation.delayed(untilAtLeast: .milliseconds(1))
            }
            #expect(delays.last?.state == .created)
        }
    }

    @Test("Each delay counts from the first start among the dependencies at the time of the call")
    func changesBetweenDelays() async throws {
        let clock = TestClock()
        let queue = AsyncOperationQueue(clock: clock)
        let gates = (0..<4).map { _ in Gate() }
        let sources = gates.map { gate in AsyncOperation { await gate.wait() } }
        let operation = AsyncOperation {}.addDependency(sources[3])
        func delay() -> AsyncOperation<Void> { operation.delayed(untilAtLeast: .seconds(20)) }
        let fourth = delay()
        operation.addDependency(sources[2])
        let third = delay()
        sources[3].addDependency(sources[1])
        let second = delay()
        operation.removeDependency(sources[2])
        operation.addDependency(sources[0])
        let first = delay()
        queue.add(operation, sources[3])
        let delays = [first, second, third, fourth]
        // Each delay has a queue of its own.
        for delay in delays { AsyncOperationQueue(clock: clock).add(delay) }
        for number in 0..<3 {
            queue.add(sources[number])
            await gates[number].waitForWaiters(count: 1)
            clock.advance(by: .seconds(1))
        }
        gates[1].open()
        await gates[3].waitForWaiters(count: 1)
        for gate in gates { gate.open() }
        await clock.waitForSleepers(count: 4)
        // The first source started at 0, and the time is now 3.
        clock.advance(by: .seconds(16))
        for (number, delay) in delays.enumerated() {
            #expect(delays[number...].allSatisfy { $0.state != .finished })
            clock.advance(by: .seconds(1))
            try await within { try await delay.value }
        }
    }

    @Test("A source that started before the call counts from the call, on the clock of its queue")
    func startedBefore() async throws {
        let clock = TestClock()
        let queue = AsyncOperationQueue(clock: clock)
        let gate = Gate()
        let source = queue.add { await gate.wait() }
        await gate.waitForWaiters(count: 1)
        let after = source.delayed(untilAtLeast: .seconds(5))
        queue.add(after)
        clock.advance(by: .seconds(3))
        gate.open()
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(2))
        try await within { try await after.value }
    }

    @Test("Each delay of a chain counts from the first start, including operations added between two calls")
    func semantics() async throws {
        let clock = TestClock()
        let queue = AsyncOperationQueue(clock: clock)
        let (first, second) = (Gate(), Gate())
        let early = AsyncOperation { await first.wait() }
        let source = AsyncOperation<Int> {
            await second.wait()
            return 1
        }
        let before = source.delayed(untilAtLeast: .seconds(5))
        source.addDependency(early)
        let after = source.delayed(untilAtLeast: .seconds(5))
        let last = after.delayed(untilAtLeast: .seconds(7))
        queue.add([early, source, before, after, last])
        await first.waitForWaiters(count: 1)
        clock.advance(by: .seconds(3))
        first.open()
        await second.waitForWaiters(count: 1)
        clock.advance(by: .seconds(1))
        second.open()
        // `early` started at 0 and `source` at 3; the time is now 4.
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(1))
        #expect(try await within { try await after.value } == 1)
        #expect(before.state != .finished)
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(2))
        #expect(try await within { try await last.value } == 1)
        clock.advance(by: .seconds(1))
        #expect(try await within { try await before.value } == 1)
    }
}

@Suite("Costs of inputs that an add brings along", .timeLimit(.minutes(5)))
struct BroughtInputsTests {
    private func chain(_ count: Int) -> [AsyncOperation<Int>] {
        (1..<count).reduce(into: [AsyncOperation { 0 }]) { chain, _ in chain.append(chain.last!.map { $0 + 1 }) }
    }

    @Test("The last operation of a chain is added, or each of them", arguments: ["last", "each", "each from the end"])
    func chains(_ way: String) async {
        await expectNearlyLinear(reduced(5_000)) { count in
            let queue = AsyncOperationQueue()
            let chain = chain(count)
            switch way {
            case "last": queue.add(chain.last!)
            case "each": for operation in chain { queue.add(operation) }
            default: for operation in chain.reversed() { queue.add(operation) }
            }
            #expect(try! await chain.last!.value == count - 1)
            await queue.waitUntilIdle()
        }
    }

    @Test("Arrays are added in order, from the end and shuffled", arguments: ["in order", "from the end", "shuffled"])
    func arrays(_ order: String) async {
        await expectNearlyLinear(reduced(5_000)) { count in
            var generator = SeededGenerator(seed: 5)
            let queue = AsyncOperationQueue()
            let chain = chain(count)
            switch order {
            case "in order": queue.add(chain)
            case "from the end": queue.add(chain.reversed())
            default: queue.add(chain.shuffled(using: &generator))
            }
            #expect(try! await chain.last!.value == count - 1)
            await queue.waitUntilIdle()
        }
    }

    @Test("One operation has many inputs, and one input has many readers")
    func wide() async {
        await expectNearlyLinear(reduced(5_000)) { count in
            let queue = AsyncOperationQueue()
            let all = AsyncOperation.collect((0..<count).map { number in AsyncOperation { number } })
            queue.add(all)
            #expect(try! await all.value.count == count)
            let shared = AsyncOperation { 1 }
            let readers = (0..<count).map { number in shared.map { $0 + number } }
            for reader in readers { queue.add(reader) }
            #expect(try! await readers.last!.value == count)
            await queue.waitUntilIdle()
        }
    }
}
