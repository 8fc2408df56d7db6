import BatonTesting
import Synchronization
import Testing

@testable import Baton

@Suite("An add brings the inputs along", .timeLimit(.minutes(10))) struct AddUpstreamTests {
    private let stage = TestQueue()

    private func number(_ name: String, _ inputs: AsyncOperation<Int>...) -> AsyncOperation<Int> {
        inputs.isEmpty
            ? AsyncOperation(name) { [log = stage.log] in
                log(name)
                return 1
            }
            : AsyncOperation.collect(name, inputs).then(name) { [log = stage.log] numbers in
                log(name)
                return numbers.reduce(1, +)
            }
    }

    @Test(
        "Adding an operation adds its inputs, whatever way it is added",
        arguments: ["add", "add(to:)", "array", "several", "submit"])
    func everyWay(_ way: String) async throws {
        let first = number("first")
        let second = number("second", first)
        let third = number("third", second, first)
        switch way {
        case "add": #expect(stage.queue.add(third) === third)
        case "add(to:)": #expect(third.add(to: stage.queue) === third)
        case "array": stage.queue.add([third])
        case "several": stage.queue.add(third, stage.noting("other"))
        default: stage.steps.task { [queue = stage.queue] in try? await queue.submit(third) }
        }
        stage.steps.runAll()
        #expect(stage.ran.filter { $0 != "other" } == ["first", "second", "third"])
        #expect(try third.result!.get() == 4)
        #expect(stage.misuseKinds == [])
    }

    @Test("Plain dependencies are not added with an operation, unless the call includes them")
    func dependencies() {
        let gate = stage.noting("gate")
        let first = number("first").addDependency(gate)
        let second = number("second", first)
        stage.run(second)
        #expect(stage.ran == [] && gate.state == .created && first.state == .waiting)
        stage.run(gate)
        #expect(stage.ran == ["gate", "first", "second"])
        let other = stage.noting("other")
        let third = number("third", number("input").addDependency(other))
        stage.queue.add(third, includingDependencies: true)
        stage.steps.runAll()
        #expect(stage.ran.suffix(3) == ["other", "input", "third"])
    }

    @Test("Adding several operations includes their dependencies if the call says so, and each runs once")
    func dependenciesOfSeveral() {
        let shared = stage.noting("shared")
        let first = stage.noting("first", after: shared)
        let second = stage.noting("second", after: shared, first)
        let third = stage.noting("third", after: stage.noting("other"))
        stage.queue.add(second, first, third, includingDependencies: true)
        stage.steps.runAll()
        #expect(stage.ran.sorted() == ["first", "other", "second", "shared", "third"])
        #expect(stage.misuseKinds == [])
    }

    @Test("An input that was brought along may be added again to the same queue, and is misuse on another one")
    func secondAdds() {
        let gate = Gate()
        let first = AsyncOperation("first") {
            await gate.wait()
            return 1
        }
        let second = AsyncOperation("second", first) { $0 + 1 }
        stage.run(second)
        let misuses = EventLog<Misuse>()
        AsyncOperationQueue { misuses($0) }.add(first)
        #expect(misuses.events.map(\.kind) == [.addedWithReader(second.reference)])
        #expect(
            misuses.events.first.map { "\($0)" }?.contains(
                "‘first’ was added to another queue with ‘second’, which needs it; this add was ignored") == true)

        let third = AsyncOperation("third", first) { $0 + 1 }
        stage.run(first, third)
        #expect(stage.misuseKinds == [.addedTwice])
    }

    @Test("An input that is added after it was brought along is not misuse, before and after its end")
    func addedAfterwards() {
        let first = number("first")
        let second = number("second", first)
        stage.queue.add(second)
        stage.queue.add(first)
        stage.steps.runAll()
        let early = number("early")
        stage.run(number("late", early))
        stage.run(early)
        #expect(stage.misuseKinds == [])
        stage.run(early)
        #expect(stage.misuseKinds == [.addedTwice])
    }

    @Test("Inputs on another queue are left where they are")
    func otherQueues() {
        let other = TestQueue(on: stage.steps)
        let gate = Gate()
        let first = AsyncOperation("first") {
            await gate.wait()
            return 1
        }
        other.run(first)
        let second = AsyncOperation("second", first) { $0 + 1 }
        stage.run(second)
        #expect(second.state == .waiting)
        #expect(stage.queue.operationCount == 1 && other.queue.operationCount == 1)
        gate.open()
        stage.steps.runAll()
        #expect(try! second.result!.get() == 2)
    }

    @Test("A barrier brings its inputs along", arguments: [false, true])
    func barriers(_ isUnique: Bool) {
        let first = number("first")
        let barrier = number("barrier", first)
        if isUnique { barrier.unique(by: "\(#function)", policy: .join) }
        stage.queue.isSuspended = true
        stage.queue.add(stage.noting("before"))
        stage.queue.addBarrier(barrier)
        stage.queue.add(stage.noting("after"))
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(stage.ran == ["before", "first", "barrier", "after"])
        #expect(barrier.ending == "success")
    }

    @Test("An operation behind a barrier waits for it, with its inputs")
    func behindBarriers() {
        stage.queue.isSuspended = true
        stage.queue.addBarrier(stage.noting("barrier"))
        stage.queue.add(number("second", number("first")))
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(stage.ran == ["barrier", "first", "second"])
    }

    @Test(
        "A duplicate does not bring its inputs along, but the original does",
        arguments: UniquenessPolicy.allCases)
    func duplicates(_ policy: UniquenessPolicy) {
        let key = "\(#function) \(policy)"
        let original = number("original", number("input")).unique(by: key, policy: policy)
        let unwanted = number("unwanted")
        let duplicate = number("duplicate", unwanted).unique(by: key, policy: policy)
        stage.queue.isSuspended = true
        stage.queue.add([original])
        let reader = number("reader", duplicate)
        stage.queue.add(reader)
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(stage.queue.operationCount == 0)
        switch policy {
        case .join:
            #expect(stage.ran == ["input", "original", "reader"])
            #expect(unwanted.state == .created)
        case .reject:
            #expect(stage.ran == ["input", "original"])
            #expect(unwanted.state == .created)
        case .replace: #expect(stage.ran.suffix(3) == ["unwanted", "duplicate", "reader"])
        }
    }

    @Test("A cycle that an add closes with an input fails, and nothing hangs")
    func cycles() {
        let first = number("first")
        let second = number("second", first)
        first.addDependency(second)
        stage.run(second)
        #expect(first.ending.contains("cycle") && second.result != nil)
        #expect(stage.queue.operationCount == 0)
    }

    @Test("A queue that was shut down does not accept inputs either")
    func shutDown() async {
        await stage.queue.drain()
        let first = number("first")
        let second = number("second", first)
        stage.run(second)
        #expect(second.result != nil && first.result != nil)
        #expect(stage.ran == [] && stage.queue.operationCount == 0)
    }

    @Test("Graphs run completely in any order, whichever part of them is added")
    func anyOrder() {
        var generator = SeededGenerator(seed: 39)
        for _ in 0..<300 {
            let stage = TestQueue()
            var all: [AsyncOperation<Int>] = []
            for place in 0..<Int.random(in: 1...20, using: &generator) {
                let inputs = all.shuffled(using: &generator).prefix(Int.random(in: 0...3, using: &generator))
                let operation =
                    inputs.isEmpty
                    ? AsyncOperation("\(place)") { 1 }
                    : AsyncOperation.collect(Array(inputs)).then("\(place)") { $0.reduce(1, &+) }
                all.append(operation)
            }
            let wanted = all.shuffled(using: &generator).prefix(Int.random(in: 1...all.count, using: &generator))
            if Bool.random(using: &generator) {
                stage.queue.add(Array(wanted))
            } else {
                for operation in wanted { stage.queue.add(operation) }
            }
            stage.steps.runAll()
            #expect(wanted.allSatisfy { $0.ending == "success" })
            #expect(stage.misuseKinds == [] && stage.queue.operationCount == 0)
        }
    }

    @Test("Two threads may add parts of one graph to two queues at the same moment")
    func threads() async throws {
        for _ in 0..<200 {
            let misuses = EventLog<Misuse>()
            let queues = (0..<2).map { _ in AsyncOperationQueue { misuses($0) } }
            let runs = Atomic(0)
            let source = AsyncOperation("source") {
                runs.wrappingAdd(1, ordering: .relaxed)
                return 1
            }
            let readers = (0..<2).map { number in source.then("\(number)") { $0 + number } }
            await withTaskGroup(of: Void.self) { group in
                for (queue, reader) in zip(queues, readers) { group.addTask { queue.add(reader) } }
                group.addTask { queues[0].add(source) }
            }
            #expect(try await readers[0].value == 1)
            #expect(try await readers[1].value == 2)
            #expect(runs.load(ordering: .relaxed) == 1)
            #expect(misuses.events.allSatisfy { if case .addedWithReader = $0.kind { true } else { false } })
        }
    }

    @Test("The report of an input that another queue adds may look for its reader while that reader finishes")
    func readerThatFinishes() async throws {
        for _ in 0..<200 {
            let misuses = EventLog<Misuse>()
            let sources = (0..<20).map { number in AsyncOperation("source \(number)") { number } }
            let reader = AsyncOperation.collect("reader", sources)
            AsyncOperationQueue().add(reader)
            AsyncOperationQueue { misuses($0) }.add(sources)
            #expect(try await reader.value == Array(0..<20))
            #expect(reader.inputs.isEmpty)
            #expect(misuses.events.count == sources.count)
            #expect(misuses.events.allSatisfy { if case .addedWithReader = $0.kind { true } else { false } })
        }
    }

    @Test("A barrier that another thread adds does not come between an input and its reader")
    func barriersOfOthers() async throws {
        for _ in 0..<300 {
            let queue = AsyncOperationQueue()
            let reader = AsyncOperation("reader", AsyncOperation("input") { 1 }) { $0 + 1 }
            let barrier = AsyncOperation("barrier") {}
            await withTaskGroup(of: Void.self) { group in
                group.addTask { queue.add(reader) }
                group.addTask { queue.addBarrier(barrier) }
            }
            #expect(try await reader.value == 2)
            try await barrier.value
        }
    }
}
