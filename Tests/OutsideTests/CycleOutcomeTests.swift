// The number of a guarantee begins the name of its tests.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import Baton
import BatonTesting
import Testing

@Suite("The operations that fail because of a cycle do not depend on the order of adding")
struct CycleOutcomeTests {
    enum Way: CaseIterable {
        case atOnce, oneByOne, onTwoQueues
    }

    /// Adds the operations in the given order, and returns when all have finished.
    private func run(_ operations: [AnyOperation], _ way: Way = .oneByOne) async throws {
        let queues = [AsyncOperationQueue(), AsyncOperationQueue()]
        switch way {
        case .atOnce: queues[0].add(operations)
        case .oneByOne: for operation in operations { queues[0].add(operation) }
        case .onTwoQueues: for (index, operation) in operations.enumerated() { queues[index % 2].add(operation) }
        }
        try await within { for queue in queues { await queue.waitUntilIdle() } }
    }

    @Test("Two cycles that share an operation, in every order", arguments: Way.allCases)
    func G8_everyMemberOfCyclesThatShareAnOperationFails(way: Way) async throws {
        for order in permutations(of: 3) {
            let hub = AsyncOperation("hub") {}
            let a = AsyncOperation("a") {}
            let b = AsyncOperation("b") {}
            hub.addDependency(a).addDependency(b)
            a.addDependency(hub)
            b.addDependency(hub)
            let all: [AnyOperation] = [hub, a, b]
            try await run(order.map { all[$0] }, way)
            for operation in all { #expect(operation.isOnCycle, "\(operation) in the order \(order)") }
            for spoke in [a, b] { #expect(spoke.cycle.map { Set($0) } == [hub.reference, spoke.reference]) }
        }
    }

    @Test("A cycle with a second path through it, in every order", arguments: Way.allCases)
    func cycleWithASecondWay(way: Way) async throws {
        for order in permutations(of: 5) {
            // There are two paths from `a` to `d`, and one back.
            let (a, b, c, d) = (
                AsyncOperation("a") {}, AsyncOperation("b") {}, AsyncOperation("c") {}, AsyncOperation("d") {}
            )
            a.addDependency(b).addDependency(c)
            b.addDependency(d)
            c.addDependency(d)
            d.addDependency(a)
            let outside = AsyncOperation("outside") {}.addDependency(c).addDependency(b)
            let all: [AnyOperation] = [a, b, c, d, outside]
            try await run(order.map { all[$0] }, way)
            for operation in [a, b, c, d] { #expect(operation.isOnCycle, "\(operation) in the order \(order)") }
            #expect(outside.error == nil && outside.state == .finished)
        }
    }

    @Test("Cycles that share a group, whose child is on one of them, in every order", arguments: Way.allCases)
    func cyclesThroughAGroup(way: Way) async throws {
        for order in permutations(of: 4) {
            let (a, c) = (AsyncOperation("a") {}, AsyncOperation("c") {})
            let group = GroupOperation("group", c)
            group.addDependency(a)
            a.addDependency(group).addDependency(c)
            c.addDependency(group)
            let witness = AsyncOperation("witness") {}.addDependency(c, on: .failure)
            let all: [AnyOperation] = [group, a, c, witness]
            try await run(order.map { all[$0] }, way)
            for operation in [group, a, c] { #expect(operation.isOnCycle, "\(operation) in the order \(order)") }
            #expect(witness.error == nil)
        }
    }

    @Test(
        "A child depends on a dependent of its group, beside another cycle, in every order", arguments: Way.allCases)
    func groupAddedToABrokenCycle(way: Way) async throws {
        for order in permutations(of: 3) {
            let (x, y, z) = (AsyncOperation("x") {}, AsyncOperation("y") {}, AsyncOperation("z") {})
            let group = GroupOperation("group", x)
            y.addDependency(z).addDependency(group)
            z.addDependency(y)
            x.addDependency(y, on: .success)
            let all: [AnyOperation] = [y, z, group]
            try await run(order.map { all[$0] }, way)
            for operation in [x, y, z] { #expect(operation.isOnCycle, "\(operation) in the order \(order)") }
            // A group that has begun fails because of its child.
            #expect(group.error != nil, "in the order \(order)")
        }
    }

    @Test("A cycle of which two operations are left when a second cycle is closed, in every order")
    func G8_secondCycleThroughALateOperation() async throws {
        for order in permutations(of: 6) {
            let all = ["first", "second", "lead", "late", "third", "fourth"].map { AsyncOperation($0) {} }
            let (first, second, lead, late, third, fourth) = (all[0], all[1], all[2], all[3], all[4], all[5])
            first.addDependency(second).addDependency(lead)
            second.addDependency(first)
            lead.addDependency(late)
            // Without `first` and `second`, `lead` is on no cycle.
            late.addDependency(first).addDependency(third)
            third.addDependency(late).addDependency(fourth)
            fourth.addDependency(third)
            try await run(order.map { all[$0] })
            for operation in all { #expect(operation.isOnCycle, "\(operation) in the order \(order)") }
        }
    }

    @Test("An operation that waits for a late one, which ends on a second cycle with another one, in every order")
    func waitsForAMemberOfASecondCycle() async throws {
        // Operation 4 depends on itself. Operations 2 and 3 wait for each other, and reach the rest only through
        // operation 1.
        let graph = RandomGraph(sources: [[1, 5], [0], [3], [2, 1], [5, 4, 2], [4, 0]])
        for order in permutations(of: 6) {
            let operations = graph.operations
            try await run(order.map { operations[$0] })
            for operation in operations { #expect(operation.isOnCycle, "\(operation) in the order \(order)") }
        }
    }

    @Test("An operation on two broken cycles ends at its add, although the next one on the later cycle is missing")
    func lateOperationOnTwoBrokenCycles() {
        let queue = AsyncOperationQueue()
        let (first, second) = (AsyncOperation("first") {}, AsyncOperation("second") {})
        let (third, fourth) = (AsyncOperation("third") {}, AsyncOperation("fourth") {})
        let (late, absent) = (AsyncOperation("late") {}, AsyncOperation("absent") {})
        first.addDependency(second).addDependency(late)
        second.addDependency(first)
        late.addDependency(first).addDependency(absent)
        absent.addDependency(third)
        third.addDependency(late).addDependency(fourth)
        fourth.addDependency(third)
        queue.add(first, second)
        queue.add(third, fourth)
        #expect([first, second, third, fourth].allSatisfy { $0.isOnCycle })
        queue.add(late)
        #expect(late.isOnCycle)
    }

    @Test("An operation that leaves a broken cycle does not end with its former dependency")
    func operationThatDropsOutAndWaits() async throws {
        let queue = AsyncOperationQueue()
        let (a, b) = (AsyncOperation("a") {}, AsyncOperation("b") {})
        let late = AsyncOperation("late") {}.addDependency(a)
        let gate = Gate()
        let other = AsyncOperation("other") { await gate.wait() }
        let dropped = AsyncOperation("dropped") {}.addDependency(late).addDependency(other)
        a.addDependency(b).addDependency(dropped)
        b.addDependency(a)
        queue.add(a, b)
        #expect(a.isOnCycle && b.isOnCycle)
        dropped.removeDependency(late)
        queue.add(other, dropped)
        queue.add(late)
        #expect(late.isOnCycle)
        gate.open()
        try await within { await queue.waitUntilIdle() }
        #expect(dropped.error == nil)
    }

    @Test("An operation that depends on a child of a failing group fails with both, in every order")
    func childThatEndsWithItsGroup() async throws {
        for order in permutations(of: 4) {
            let (y, z) = (AsyncOperation("y") {}, AsyncOperation("z") {})
            let child = AsyncOperation("child") {}.addDependency(y)
            let group = GroupOperation("group", child)
            let follower = AsyncOperation("follower") {}.addDependency(child)
            y.addDependency(z).addDependency(group).addDependency(follower)
            z.addDependency(y)
            group.addDependency(y)
            let all: [AnyOperation] = [y, z, group, follower]
            try await run(order.map { all[$0] })
            for operation in all + [child] { #expect(operation.isOnCycle, "\(operation) in the order \(order)") }
        }
    }

    enum HandlerWait: CaseIterable {
        case itself, dependent
    }

    @Test(
        "A willFinish handler of a cancelled operation that awaits it or its dependent gets an error",
        arguments: HandlerWait.allCases, [false, true])
    func handlerThatWaitsForItsOwnEnd(wait: HandlerWait, isAdded: Bool) async throws {
        try await within {
            let queue = AsyncOperationQueue()
            let operation = AsyncOperation("operation") {}
            let dependent = AsyncOperation("dependent") {}.addDependency(operation)
            let isTold = Guarded(false)
            operation.willFinish { _ in
                do throws(OperationError) {
                    if wait == .itself { try await operation.value } else { try await dependent.value }
                } catch {
                    if case .dependencyCycle = error { isTold.withLock { $0 = true } }
                }
            }
            operation.cancel()
            if isAdded { queue.add(operation, dependent) } else { queue.add(dependent) }
            await queue.waitUntilIdle()
            while operation.state != .finished { await Task.yield() }
            // The dependent has not begun, so it is the operation that fails.
            #expect(isTold.withLock { $0 } || dependent.isOnCycle)
        }
    }

    @Test("Every spoke of a large wheel fails", arguments: Way.allCases)
    func everySpokeFails(way: Way) async throws {
        for place in [0, 10_000, 20_000] {
            let hub = AsyncOperation("hub") {}
            let spokes = (0..<20_000).map { _ in AsyncOperation {} }
            for spoke in spokes {
                hub.addDependency(spoke)
                spoke.addDependency(hub)
            }
            var order: [AnyOperation] = spokes
            order.insert(hub, at: place)
            try await run(order, way)
            #expect(hub.isOnCycle)
            #expect(spokes.allSatisfy { $0.cycle.map { Set($0) } == [hub.reference, $0.reference] })
        }
    }

    @Test("Dependents of a cycle follow their edges, and its dependencies run")
    func whatIsAroundACycle() async throws {
        for order in permutations(of: 6) {
            let before = AsyncOperation("before") { 1 }
            let hub = AsyncOperation("hub") { 2 }
            let a = AsyncOperation("a") {}.addDependency(hub).addDependency(before)
            let b = AsyncOperation("b") {}.addDependency(hub)
            hub.addDependency(a).addDependency(b)
            let reader = hub.then { $0 }
            let after = AsyncOperation("after") {}.addDependency(a).addDependency(hub)
            let all: [AnyOperation] = [before, hub, a, b, reader, after]
            try await run(order.map { all[$0] })
            #expect([hub, a, b].allSatisfy { $0.isOnCycle })
            #expect(before.error == nil && after.error == nil)
            guard case .dependencyFailed(let source, _, _)? = reader.error else {
                Issue.record("the reader ended with \(String(describing: reader.error))")
                continue
            }
            #expect(source == hub.reference)
        }
    }

    @Test("An operation that leaves the cycle before it is added runs")
    func operationThatDropsOut() async throws {
        let hub = AsyncOperation("hub") {}
        let a = AsyncOperation("a") {}.addDependency(hub)
        let b = AsyncOperation("b") {}.addDependency(hub)
        hub.addDependency(a).addDependency(b)
        let queue = AsyncOperationQueue()
        queue.add(hub, a)
        #expect(hub.isOnCycle && a.isOnCycle)
        #expect(b.state == .created)
        b.removeDependency(hub)
        queue.add(b)
        try await within { await queue.waitUntilIdle() }
        #expect(b.error == nil)
    }

    @Test("A cycle leads through operations that are added much later")
    func cycleThatLeadsThroughLateOperations() async throws {
        for order in permutations(of: 3) {
            let hub = AsyncOperation("hub") {}
            let a = AsyncOperation("a") {}.addDependency(hub)
            // Three more operations form a path back to the hub.
            let late = (0..<3).map { AsyncOperation("late \($0)") {} }
            late[0].addDependency(late[1])
            late[1].addDependency(late[2])
            late[2].addDependency(hub)
            hub.addDependency(a).addDependency(late[0])
            let queue = AsyncOperationQueue()
            queue.add(hub, a)
            #expect(hub.isOnCycle && a.isOnCycle)
            for index in order { queue.add(late[index]) }
            try await within { await queue.waitUntilIdle() }
            for operation in late {
                #expect(operation.isOnCycle, "\(operation) in the order \(order)")
                #expect(operation.cycle?.contains(operation.reference) == true)
            }
        }
    }

    /// The operations of a strongly connected component fail, and the others run.
    @Test("Random graphs in random orders end as the model predicts", arguments: 0..<200)
    func G7_graphsWithCyclesAddedInAnyOrder(seed: UInt64) async throws {
        var generator = Generator(state: seed)
        let graph = RandomGraph(&generator)
        let way = Way.allCases.randomElement(using: &generator)!
        let operations = graph.operations
        try await run(operations.shuffled(using: &generator), way)
        let members = graph.membersOfCycles
        let numbers = Dictionary(uniqueKeysWithValues: operations.enumerated().map { ($1.reference, $0) })
        for (index, operation) in operations.enumerated() {
            #expect(operation.state == .finished)
            #expect(operation.isOnCycle == members.contains(index), "operation \(index), added \(way)")
            guard let cycle = operation.cycle else { continue }
            let path = cycle.map { numbers[$0]! }
            #expect(path.contains(index), "operation \(index) is told \(path)")
            #expect(Set(path).count == path.count)
            for (next, source) in zip(path, path.dropFirst() + path.prefix(1)) {
                #expect(graph.sources[next].contains(source), "\(next) does not wait for \(source)")
            }
        }
    }

    @Test("Small graphs that are full of cycles end the same in many orders")
    func smallGraphsInManyOrders() async throws {
        var generator = Generator(state: 1)
        for round in 0..<6_000 {
            let count = Int.random(in: 5...8, using: &generator)
            // The graph has pairs that wait for each other, and edges between some of the pairs.
            let sources = (0..<count).map { index in
                [index ^ 1].filter { $0 < count }
                    + (0..<Int.random(in: 0...2, using: &generator)).map { _ in
                        Int.random(in: 0..<count, using: &generator)
                    }
            }
            let graph = RandomGraph(sources: sources)
            let operations = graph.operations
            let order = operations.indices.shuffled(using: &generator)
            try await run(order.map { operations[$0] })
            let members = graph.membersOfCycles
            for (index, operation) in operations.enumerated() {
                #expect(
                    operation.isOnCycle == members.contains(index),
                    "operation \(index) of \(sources) in the order \(order), round \(round)")
            }
        }
    }

    @Test("Threads add the members of overlapping cycles at once")
    func G8_threadsThatAddAtOnce() async throws {
        for seed in 0..<1_500 as Range<UInt64> {
            var generator = Generator(state: seed)
            let graph = RandomGraph(&generator)
            let operations = graph.operations
            let queues = [AsyncOperationQueue(), AsyncOperationQueue()]
            let order = operations.shuffled(using: &generator)
            await withTaskGroup { group in
                for thread in 0..<4 {
                    group.addTask {
                        for index in stride(from: thread, to: order.count, by: 4) {
                            queues[index % 2].add(order[index])
                        }
                    }
                }
            }
            try await within { for queue in queues { await queue.waitUntilIdle() } }
            let members = graph.membersOfCycles
            for (index, operation) in operations.enumerated() {
                #expect(operation.isOnCycle == members.contains(index), "operation \(index) of seed \(seed)")
            }
        }
    }

    @Test("A body that awaits one of two overlapping cycles closes both")
    func bodyThatClosesTwoCycles() async throws {
        let queue = AsyncOperationQueue()
        let gate = Gate()
        let body = AsyncOperation<Void>("body") { context in
            await gate.wait()
            let end = AsyncOperation("end") {}
            let left = AsyncOperation("left") {}.addDependency(context.operation)
            let right = AsyncOperation("right") {}.addDependency(context.operation)
            end.addDependency(left).addDependency(right)
            queue.add(left, right)
            await #expect(throws: OperationError.self) { try await context.run(end) }
            #expect([left, right, end].allSatisfy { $0.isOnCycle })
        }
        queue.add(body)
        gate.open()
        try await within { await queue.waitUntilIdle() }
        #expect(body.error == nil)
    }

    @Test("Bodies that wait for each other in a large graph get an error")
    func bodiesThatWaitForOneAnother() async throws {
        // The graph is larger than the part that the call that closes the cycle searches.
        let queue = AsyncOperationQueue()
        let gate = Gate()
        let bodies = (0..<2).map { _ in AsyncOperation<Void>.Promise() }
        let made = (0..<2).map { index in
            AsyncOperation<Void>("body \(index)") {
                await gate.wait()
                try await bodies[1 - index].operation.value
            }
        }
        for index in 0..<2 { bodies[index].operation = made[index] }
        let around = (0..<2_000).map { _ in AsyncOperation {} }
        for (index, operation) in around.enumerated() {
            operation.addDependency(made[index % 2])
        }
        queue.add(made)
        queue.add(around)
        gate.open()
        try await within { await queue.waitUntilIdle() }
        #expect(made.contains { $0.error != nil })
    }
}

extension AsyncOperation where Output == Void {
    /// Holds an operation, so that bodies can refer to each other.
    fileprivate final class Promise: @unchecked Sendable {
        var operation = AsyncOperation<Void> {}
    }
}

private struct RandomGraph {
    let sources: [[Int]]

    init(sources: [[Int]]) { self.sources = sources }

    var operations: [AsyncOperation<Void>] {
        let operations = sources.indices.map { AsyncOperation("\($0)") {} }
        for (index, sources) in sources.enumerated() {
            for source in sources { operations[index].addDependency(operations[source]) }
        }
        return operations
    }

    init(_ generator: inout Generator) {
        let count = Int.random(in: 2...(Bool.random(using: &generator) ? 12 : 400), using: &generator)
        let density = Int.random(in: 1...3, using: &generator)
        // Most edges lead from larger numbers to smaller ones, so that there are several components.
        let backwards = Int.random(in: 0...20, using: &generator)
        sources = (0..<count).map { index in
            (0..<Int.random(in: 0...density, using: &generator)).map { _ in
                let isBackwards = Int.random(in: 0..<100, using: &generator) < backwards
                return isBackwards || index == 0
                    ? Int.random(in: index..<count, using: &generator) : Int.random(in: 0..<index, using: &generator)
            }
        }
    }

    /// The operations from which a path leads back to themselves.
    var membersOfCycles: Set<Int> {
        Set(
            sources.indices.filter { start in
                var seen: Set<Int> = []
                var next = sources[start]
                while let node = next.popLast() {
                    if node == start { return true }
                    if seen.insert(node).inserted { next += sources[node] }
                }
                return false
            })
    }
}

private struct Generator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

private func permutations(of count: Int) -> [[Int]] {
    if count == 0 { return [[]] }
    return permutations(of: count - 1).flatMap { shorter in
        (0..<count).map { place in Array(shorter[..<place]) + [count - 1] + Array(shorter[place...]) }
    }
}
