import Baton
import BatonTesting
import Synchronization
import Testing

@Suite("The search for cycles takes time in proportion to the graph", .serialized)
struct CycleSearchCostTests {
    // MARK: Waits

    /// Runs `size` operations that all wait for one operation, which waits for another one.
    private func waitForOne(
        _ size: Int, _ makeWaiter: (AsyncOperation<Void>, Counter) -> AnyOperation
    ) async {
        let queue = AsyncOperationQueue(maxConcurrentOperationCount: 64)
        let gate = Gate()
        let login = queue.add("login") { await gate.wait() }
        let token = AsyncOperation("token") {}.addDependency(login)
        queue.add(token)
        let begun = Counter()
        queue.add((0..<size).map { _ in makeWaiter(token, begun) })
        while begun.value < size { await Task.yield() }
        gate.open()
        await queue.waitUntilIdle()
        #expect(begun.value == size)
    }

    @Test("Bodies await one value")
    func bodiesThatAwaitOneValue() async throws {
        try await within(.seconds(300)) {
            await expectNearlyLinear(1_000) { size in
                await waitForOne(size) { token, begun in
                    AsyncOperation {
                        begun.increment()
                        try await token.value
                    }
                }
            }
        }
    }

    @Test("Bodies run one child")
    func bodiesThatRunOneChild() async throws {
        try await within(.seconds(300)) {
            await expectNearlyLinear(1_000) { size in
                await waitForOne(size) { token, begun in
                    AsyncOperation { context in
                        begun.increment()
                        try await context.run(token)
                    }
                }
            }
        }
    }

    @Test("Conditions have one dependency")
    func conditionsWithOneDependency() async throws {
        try await within(.seconds(300)) {
            await expectNearlyLinear(1_000) { size in
                await waitForOne(size) { token, begun in
                    AsyncOperation {}.addCondition(After(token: token, begun: begun))
                }
            }
        }
    }

    @Test("Groups have one child")
    func groupsWithOneChild() async throws {
        try await within(.seconds(300)) {
            await expectNearlyLinear(1_000) { size in
                await waitForOne(size) { token, begun in
                    let group = GroupOperation(token)
                    group.didStart { begun.increment() }
                    return group
                }
            }
        }
    }

    @Test("Bodies with a dependent await the end of a chain")
    func bodiesThatAwaitTheEndOfAChain() async throws {
        try await within(.seconds(300)) {
            await expectNearlyLinear(500) { size in
                let queue = AsyncOperationQueue()
                let gate = Gate()
                var chain = [queue.add { await gate.wait() }]
                for _ in 0..<size { chain.append(AsyncOperation {}.addDependency(chain.last!)) }
                let end = chain.last!
                queue.add(Array(chain.dropFirst()))
                let begun = Counter()
                let all = AsyncOperation("all") {}
                let bodies = (0..<size).map { _ in
                    AsyncOperation {
                        begun.increment()
                        try await end.value
                    }
                }
                for body in bodies { all.addDependency(body) }
                queue.add(bodies)
                queue.add(all)
                while begun.value < size { await Task.yield() }
                gate.open()
                await queue.waitUntilIdle()
            }
        }
    }

    @Test("A root with many dependents runs chains")
    func rootWithManyDependentsThatRunsChains() async throws {
        try await within(.seconds(300)) {
            await expectNearlyLinear(500) { size in
                let queue = AsyncOperationQueue()
                let gate = Gate()
                let root = AsyncOperation("root") { context in
                    await gate.wait()
                    for _ in 0..<size {
                        let first = AsyncOperation {}
                        let second = AsyncOperation {}.addDependency(first)
                        let third = AsyncOperation {}.addDependency(second)
                        try await context.run(third)
                    }
                }
                queue.add(root)
                queue.add((0..<size).map { _ in AsyncOperation {}.addDependency(root) })
                gate.open()
                await queue.waitUntilIdle()
                #expect(root.error == nil)
            }
        }
    }

    // MARK: Adds

    enum Way: CaseIterable {
        case atOnce, oneByOne, asAGroup
    }

    private func add(_ operations: [AnyOperation], to queue: AsyncOperationQueue, _ way: Way) {
        switch way {
        case .atOnce: queue.add(operations)
        case .oneByOne: for operation in operations { queue.add(operation) }
        case .asAGroup: queue.add(GroupOperation(operations))
        }
    }

    /// Adds the operations while none can run, and then lets them run.
    private func run(_ operations: [AnyOperation], _ way: Way) async {
        let queue = AsyncOperationQueue(isSuspended: way != .asAGroup)
        add(operations, to: queue, way)
        queue.isSuspended = false
        await queue.waitUntilIdle()
        #expect(operations.allSatisfy { $0.error == nil && $0.state == .finished })
    }

    @Test("Layers are added in the order of a dictionary", arguments: Way.allCases)
    func layersInTheOrderOfADictionary(way: Way) async throws {
        try await within(.seconds(300)) {
            await expectNearlyLinear(1_000) { size in
                let layers = Layers(size)
                await run(
                    Array(Dictionary(uniqueKeysWithValues: layers.all.enumerated().map { ("\($0)", $1) }).values), way)
            }
        }
    }

    @Test("Hourglasses are added in any order", arguments: Way.allCases)
    func hourglassesInAnyOrder(way: Way) async throws {
        try await within(.seconds(300)) {
            await expectNearlyLinear(1_000) { size in
                await run(hourglasses(of: size).shuffled(), way)
            }
        }
    }

    @Test("One operation with many dependencies is added first", arguments: [Way.atOnce, .oneByOne])
    func oneWithManyDependenciesAddedFirst(way: Way) async throws {
        try await within(.seconds(300)) {
            await expectNearlyLinear(1_000) { size in
                let first = AsyncOperation {}
                let middle = (0..<size).map { _ in AsyncOperation {}.addDependency(first) }
                let last = AsyncOperation {}
                for operation in middle { last.addDependency(operation) }
                await run([last, first] + middle, way)
            }
        }
    }

    @Test("Each layer is connected with the whole next layer", arguments: [Way.atOnce, .oneByOne])
    func layersThatAreWhollyConnected(way: Way) async throws {
        try await within(.seconds(300)) {
            await expectNearlyLinear(500) { size in
                var layers = [[AsyncOperation<Void>]]()
                for _ in 0..<size / 25 {
                    let layer = (0..<25).map { _ in AsyncOperation {} }
                    for operation in layer { for source in layers.last ?? [] { operation.addDependency(source) } }
                    layers.append(layer)
                }
                await run(layers.joined().shuffled(), way)
            }
        }
    }

    // MARK: Cycles

    @Test("A ring is added", arguments: [Way.atOnce, .oneByOne])
    func ring(way: Way) async throws {
        try await within(.seconds(300)) {
            await expectNearlyLinear(1_000) { size in
                let members = (0..<size).map { _ in AsyncOperation {} }
                for index in members.indices { members[index].addDependency(members[(index + 1) % size]) }
                await fail(members.shuffled(), way)
            }
        }
    }

    @Test("A hub with spokes is added", arguments: [Way.atOnce, .oneByOne])
    func spokes(way: Way) async throws {
        try await within(.seconds(300)) {
            await expectNearlyLinear(1_000) { size in
                let hub = AsyncOperation {}
                let spokes = (0..<size).map { _ in AsyncOperation {} }
                for spoke in spokes {
                    hub.addDependency(spoke)
                    spoke.addDependency(hub)
                }
                await fail(([hub] + spokes).shuffled(), way)
            }
        }
    }

    @Test("Cycles of two operations are between two long chains")
    func cyclesInTheMiddleOfChains() async throws {
        try await within(.seconds(300)) {
            await expectNearlyLinear(200) { size in
                let queue = AsyncOperationQueue(isSuspended: true)
                var before = [AsyncOperation {}]
                for _ in 0..<size { before.append(AsyncOperation {}.addDependency(before.last!)) }
                queue.add(before)
                var after = [AsyncOperation {}]
                for _ in 0..<size { after.append(AsyncOperation {}.addDependency(after.last!)) }
                var members: [AsyncOperation<Void>] = []
                for _ in 0..<size / 2 {
                    let first = AsyncOperation {}.addDependency(before.last!)
                    let second = AsyncOperation {}.addDependency(first)
                    first.addDependency(second)
                    after[0].addDependency(second)
                    members += [first, second]
                }
                queue.add(after)
                for member in members { queue.add(member) }
                for member in members { try? await member.value }
                #expect(members.allSatisfy { $0.isOnCycle })
                queue.isSuspended = false
                await queue.waitUntilIdle()
                #expect((before + after).allSatisfy { $0.error == nil })
            }
        }
    }

    private func fail(_ operations: [AnyOperation], _ way: Way) async {
        let queue = AsyncOperationQueue()
        add(operations, to: queue, way)
        await queue.waitUntilIdle()
        #expect(operations.allSatisfy { $0.isOnCycle })
    }

    // MARK: Memory

    @Test("Operations whose search was deferred are released")
    func nothingKeepsOperations() async throws {
        try await within(.seconds(60)) {
            for _ in 0..<20 {
                let queue = AsyncOperationQueue()
                var operations = Layers(2_000).all.shuffled()
                let references = operations.map { WeakOperation(operation: $0) }
                for operation in operations { queue.add(operation) }
                operations = []
                await queue.waitUntilIdle()
                // A thread on which an operation has ended may release it slightly later.
                while references.contains(where: { $0.operation != nil }) { await Task.yield() }
            }
        }
    }
}

private struct After: OperationCondition {
    let token: AnyOperation
    let begun: Counter

    func dependency(for operation: AnyOperation) -> AnyOperation? {
        begun.increment()
        return token
    }

    func evaluate(for operation: AnyOperation) async throws -> ConditionResult { .satisfied }
}

private struct WeakOperation {
    weak var operation: AnyOperation?
}
