import Baton
import BatonFoundation
import Foundation
import Testing

/// Tests operations of Baton and Foundation that wait for each other, in queues that are as narrow as possible.
@Suite("Bridged operations in narrow queues")
struct BridgeTests {
    private let queue = AsyncOperationQueue()
    private let order = Order()

    private func foundation(_ name: String) -> BlockOperation {
        let operation = BlockOperation { [order] in order.note(name) }
        operation.name = name
        return operation
    }

    private func ours(_ name: String) -> AsyncOperation<Void> { AsyncOperation(name) { [order] in order.note(name) } }

    /// Adds the operations in the given order, and returns when all have finished.
    private func run(_ operations: [Foundation.Operation], width: Int) async throws {
        let narrow = OperationQueue()
        narrow.maxConcurrentOperationCount = width
        for operation in operations { narrow.addOperation(operation) }
        try await within { [operations] in
            while !operations.allSatisfy(\.isFinished) { await Task.yield() }
        }
    }

    @Test(
        "Operations that depend on Foundation operations behind them run after those", arguments: 1...3, [true, false])
    func dependenciesBehind(width: Int, isEdgeFirst: Bool) async throws {
        let before = (0..<width).map { foundation("before \($0)") }
        let after = (0..<width).map { ours("after \($0)") }
        var bridges: [Foundation.Operation] = []
        for (before, after) in zip(before, after) {
            if isEdgeFirst { after.addDependency(before) }
            bridges.append(after.foundationOperation(on: queue))
            if !isEdgeFirst { after.addDependency(before) }
        }
        try await run(bridges + before, width: width)
        for place in 0..<width { #expect(order.has("before \(place)", before: "after \(place)")) }
    }

    @Test("A chain across the bridge runs in order, in whatever order it is added", arguments: 1...3, 0..<24)
    func chainAcrossTheBridge(width: Int, permutation: Int) async throws {
        let (first, third) = (foundation("1"), foundation("3"))
        let (second, fourth) = (ours("2"), ours("4"))
        second.addDependency(first)
        third.addDependency(second.foundationOperation(on: queue))
        fourth.addDependency(third)
        let all = [first, second.foundationOperation(on: queue), third, fourth.foundationOperation(on: queue)]
        try await run(permuted(all, permutation), width: width)
        #expect(order.all == ["1", "2", "3", "4"])
    }

    @Test("A chain that begins in Baton runs in order, in whatever order it is added", arguments: 1...2, 0..<6)
    func chainThatBeginsWithOurs(width: Int, permutation: Int) async throws {
        let (first, third) = (ours("1"), ours("3"))
        let second = foundation("2")
        second.addDependency(first.foundationOperation(on: queue))
        third.addDependency(second)
        let all = [first.foundationOperation(on: queue), second, third.foundationOperation(on: queue)]
        try await run(permuted(all, permutation), width: width)
        #expect(order.all == ["1", "2", "3"])
    }

    @Test(
        "A distant Foundation operation is found through operations, inputs, groups and later edges"
    )
    func farBehind() async throws {
        let before = foundation("before")
        let first = ours("first")
        first.addDependency(before)
        let child = ours("child")
        child.addDependency(first)
        let group = GroupOperation(child)
        let last = AsyncOperation<Int>(first.then { 1 }) { [order] number in
            order.note("last")
            return number
        }
        let bridge = last.foundationOperation(on: queue)
        let groupBridge = group.foundationOperation(on: queue)
        #expect(!bridge.isReady && !groupBridge.isReady)
        let late = ours("late")
        let lateBridge = late.foundationOperation(on: queue)
        #expect(lateBridge.isReady)
        late.addDependency(last)
        #expect(!lateBridge.isReady)
        try await run([groupBridge, lateBridge, bridge, before], width: 1)
        for name in ["first", "child", "last", "late"] { #expect(order.has("before", before: name)) }
    }

    @Test("A bridge waits for a dependency that is added while it is in its queue")
    func dependencyOfAQueuedBridge() async throws {
        let narrow = OperationQueue()
        narrow.maxConcurrentOperationCount = 1
        narrow.isSuspended = true
        let operation = ours("after")
        let before = foundation("before")
        narrow.addOperation(operation.foundationOperation(on: queue))
        operation.addDependency(before)
        narrow.addOperation(before)
        narrow.isSuspended = false
        try await within { try await operation.value }
        #expect(order.all == ["before", "after"])
    }

    /// Which bridges the links of a chain depend on, and in which order the links are bridged and added.
    enum ChainKind: CaseIterable {
        case oneEach, oneEachReversed, oneForAll, oneForAllReversed
    }

    @Test(
        "Bridges of long chains are added and run in time in proportion to their number",
        arguments: ChainKind.allCases)
    func chainsOfBridges(kind: ChainKind) async throws {
        try await expectNearlyLinear(reduced(60)) { count in
            let befores = (0..<(kind == .oneForAll || kind == .oneForAllReversed ? 1 : count)).map { _ in
                BlockOperation {}
            }
            let links = (0..<count).map { _ in AsyncOperation<Void> {} }
            for (number, link) in links.enumerated() {
                if number > 0 { link.addDependency(links[number - 1]) }
                if number < befores.count { link.addDependency(befores[number]) }
            }
            let order = kind == .oneEachReversed || kind == .oneForAllReversed ? links.reversed() : links
            let bridges = order.map { $0.foundationOperation(on: queue) }
            try await run(bridges + befores, width: 4)
        }
    }

    @Test("Many bridges wait for many Foundation operations")
    func fan() async throws {
        // Foundation itself takes quadratic time for operations that wait in one queue, 0.15 s for this count.
        let count = reduced(200)
        let befores = (0..<count).map { _ in BlockOperation {} }
        let middle = ours("middle")
        for before in befores { middle.addDependency(before) }
        let start = ContinuousClock.now
        let bridges = (0..<count).map { ours("\($0)").addDependency(middle).foundationOperation(on: queue) }
        try await run(bridges + befores, width: 4)
        #expect(ContinuousClock.now - start < .seconds(20))
    }

    @Test("Many operations that wait for Foundation operations, or run them, are cancelled")
    func manyCancelledRuns() async throws {
        try await within {
            await expectNearlyLinear(reduced(500)) { count in
                let suspended = AsyncOperationQueue(isSuspended: true)
                suspended.add((0..<count).map { _ in AsyncOperation(foundation: BlockOperation {}) })
                suspended.add((0..<count).map { _ in AsyncOperation {}.addDependency(BlockOperation {}) })
                suspended.cancelAll()
                await suspended.waitUntilIdle()
            }
        }
    }

    @Test("Repeated requests for bridges and progresses leave nothing on their operation")
    func polled() async throws {
        let gate = AsyncOperation<Void>("gate") {}
        let operation = AsyncOperation("polled") {}.addDependency(gate)
        let tokens = Tokens()
        queue.add(operation)
        for _ in 0..<1_000 {
            _ = operation.foundationOperation(on: queue)
            _ = operation.foundationProgress
        }
        let (bridge, progress) = (operation.foundationOperation(on: queue), operation.foundationProgress)
        operation.didCancel { [token = tokens.make()] _ in token.touch() }
        operation.cancel()
        try await within {
            while !bridge.isCancelled || !progress.isCancelled || tokens.alive > 0 { await Task.yield() }
        }
        #expect(operation.foundationOperation(on: queue).isCancelled)
        #expect(operation.foundationProgress.isCancelled)
        gate.cancel()
    }

    @Test("A cancelled operation finishes without its dependency", arguments: [true, false])
    func cancelledOne(isCancelledInFoundation: Bool) async throws {
        let never = foundation("never")
        let operation = ours("ours")
        operation.addDependency(never)
        let bridge = operation.foundationOperation(on: queue)
        let narrow = OperationQueue()
        narrow.maxConcurrentOperationCount = 1
        narrow.addOperation(bridge)
        #expect(!bridge.isReady)
        if isCancelledInFoundation { bridge.cancel() } else { operation.cancel() }
        try await within {
            while !bridge.isFinished { await Task.yield() }
        }
        #expect(order.all.isEmpty)
        // When the dependency finishes afterwards, it must not access the released operations.
        narrow.addOperation(never)
        try await within {
            while !never.isFinished { await Task.yield() }
        }
    }

    @Test("A dependency may finish after a bridge that waited for it was released")
    func releasedBridge() async throws {
        let before = foundation("before")
        for _ in 0..<100 {
            let operation = ours("ours")
            operation.addDependency(before)
            #expect(!operation.foundationOperation(on: queue).isReady)
        }
        try await run([before], width: 1)
    }
}

/// The names of the operations that ran, in order.
private final class Order: Sendable {
    private let names = Guarded<[String]>([])

    var all: [String] { names.withLock { $0 } }

    func note(_ name: String) { names.withLock { $0.append(name) } }

    func has(_ first: String, before second: String) -> Bool {
        let all = all
        guard let first = all.firstIndex(of: first), let second = all.firstIndex(of: second) else { return false }
        return first < second
    }
}

/// Returns the permutation with the given number.
private func permuted<Element>(_ elements: [Element], _ number: Int) -> [Element] {
    var (rest, number) = (elements, number)
    var result: [Element] = []
    while !rest.isEmpty {
        result.append(rest.remove(at: number % rest.count))
        number /= rest.count + 1
    }
    return result
}
