import Baton
import BatonTesting
import Foundation
import Testing

/// Measures programs that once took quadratic time, at sizes that take minutes. `make sizes` runs this suite alone,
/// because it measures the processor time of the whole process. The tests of costs measure the same programs at small
/// sizes in every run.
@Suite(
    "Ten times as many operations take about ten times as long", .serialized, .timeLimit(.minutes(60)),
    .enabled(if: ProcessInfo.processInfo.environment["BATON_SIZES"] != nil, "‘make sizes’ runs this suite."))
struct SizeTests {
    @Test("1,000, 10,000 and 100,000 operations", arguments: SizeProgram.all)
    func sizes(program: SizeProgram) async throws {
        // The first run also starts threads and reserves memory.
        await program.run(100)
        var times: [(size: Int, time: Duration)] = []
        var ratio = 0.0
        // After a failure, the next size would take hours.
        for size in [1_000, 10_000, 100_000] where ratio < Self.highestRatio {
            var best = Duration.seconds(1_000_000)
            // Noise only makes a run longer, and short runs have more of it.
            for _ in 0..<(size == 1_000 ? 3 : 1) {
                best = min(best, await measure(program, size))
            }
            if let (_, time) = times.last { ratio = best / max(time, .milliseconds(2)) }
            times.append((size, best))
        }
        let text = times.map { "\($0.size) in \(Self.text($0.time))" }.joined(separator: ", ")
        print("\(program): \(text)")
        #expect(ratio < Self.highestRatio, "\(program): \(text)")
    }

    /// At ten times the size, n log n is at most 13 times as long, and quadratic time is 100 times as long.
    private static let highestRatio = 35.0

    private func measure(_ program: SizeProgram, _ size: Int) async -> Duration {
        let start = processorTime
        await program.run(size)
        return processorTime - start
    }

    private static func text(_ time: Duration) -> String {
        "\((time / .milliseconds(1)).rounded() / 1_000) s"
    }
}

/// A program whose time must not grow faster than n log n.
struct SizeProgram: Sendable, CustomStringConvertible {
    /// The fault that the program has shown, and what it does.
    let description: String
    let run: @Sendable (Int) async -> Void

    private init(_ description: String, _ run: @escaping @Sendable (Int) async -> Void) {
        self.description = description
        self.run = run
    }

    static let all = waits + adds + exclusions + others

    // MARK: E2, waits for one operation

    private static let waits = [
        SizeProgram("E2, bodies await one value") { size in
            await waitForOne(size) { token, begun in
                AsyncOperation {
                    begun.increment()
                    try await token.value
                }
            }
        },
        SizeProgram("E2, bodies run one operation") { size in
            await waitForOne(size) { token, begun in
                AsyncOperation { context in
                    begun.increment()
                    try await context.run(token)
                }
            }
        },
        SizeProgram("E2, child tasks of bodies await one value") { size in
            await waitForOne(size) { token, begun in
                AsyncOperation {
                    begun.increment()
                    async let value: Void = token.value
                    try await value
                }
            }
        },
        SizeProgram("E2, conditions bring one operation along") { size in
            await waitForOne(size) { token, begun in
                AsyncOperation {}.addCondition(DependencyCondition(token: token, begun: begun))
            }
        },
        SizeProgram("E2, groups have one child in common") { size in
            await waitForOne(size) { token, begun in
                let group = GroupOperation(token)
                group.didStart { begun.increment() }
                return group
            }
        },
        SizeProgram("E2, bodies with a dependent await the end of a chain") { size in
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
            await rest { begun.value == size }
            gate.open()
            await queue.waitUntilIdle()
        },
    ]

    private struct DependencyCondition: OperationCondition {
        let token: AnyOperation
        let begun: Counter

        func dependency(for operation: AnyOperation) -> AnyOperation? {
            begun.increment()
            return token
        }

        func evaluate(for operation: AnyOperation) async throws -> ConditionResult { .satisfied }
    }

    /// Runs `size` operations that all wait for one operation, which waits for another one.
    private static func waitForOne(
        _ size: Int, _ makeWaiter: (AsyncOperation<Void>, Counter) -> AnyOperation
    ) async {
        let queue = AsyncOperationQueue()
        let gate = Gate()
        let login = queue.add("login") { await gate.wait() }
        let token = AsyncOperation("token") {}.addDependency(login)
        queue.add(token)
        let begun = Counter()
        queue.add((0..<size).map { _ in makeWaiter(token, begun) })
        await rest { begun.value == size }
        gate.open()
        await queue.waitUntilIdle()
    }

    /// Waits until a condition is true, without using processor time meanwhile.
    private static func rest(until isSo: () -> Bool) async {
        while !isSo() { try? await Task.sleep(for: .milliseconds(2)) }
    }

    // MARK: E3, orders of adding

    private static let adds = [
        SizeProgram("E3, layers are added in the order of a dictionary") { size in
            await add(
                Array(Dictionary(uniqueKeysWithValues: Layers(size).all.enumerated().map { ("\($0)", $1) }).values))
        },
        SizeProgram("E3, layers are added one by one in a random order") { size in
            await add(Layers(size).all.shuffled(), oneByOne: true)
        },
        SizeProgram("E3, hourglasses are added in a random order") { size in
            await add(hourglasses(of: size).shuffled())
        },
        SizeProgram("E3, a group has layers in a random order") { size in
            await add([GroupOperation(Layers(size).all.shuffled())])
        },
    ]

    private static func add(_ operations: [AnyOperation], oneByOne: Bool = false) async {
        let queue = AsyncOperationQueue()
        if oneByOne { for operation in operations { queue.add(operation) } } else { queue.add(operations) }
        await queue.waitUntilIdle()
        #expect(operations.allSatisfy { $0.error == nil && $0.state == .finished })
    }

    // MARK: E4, exclusions

    private static let exclusions = [
        SizeProgram("E4, holders of one name run children that need another") { size in
            await hold(size, .limited("sizes database", to: 2), held: { _ in .limited("sizes pages", to: 8) })
        },
        SizeProgram("E4, a long line for a name whose holders run children") { size in
            await hold(size, nil, held: { _ in .limited("sizes pages", to: 8) })
        },
        SizeProgram("E4, half hold one name and need the other") { size in
            let names = (0..<2).map { Exclusion.mutuallyExclusive("sizes cross \($0)") }
            let queue = AsyncOperationQueue()
            let operations = (0..<size).map { number in
                AsyncOperation { context in
                    let child = AsyncOperation { await Task.yield() }.addCondition(names[1 - number % 2])
                    try await context.run(child)
                }.addCondition(names[number % 2])
            }
            queue.add(operations)
            await queue.waitUntilIdle()
            #expect(operations.count { $0.error != nil } <= size / 2)
        },
    ]

    private static func hold(_ size: Int, _ needed: Exclusion?, held: (Int) -> Exclusion) async {
        let queue = AsyncOperationQueue()
        let operations = (0..<size).map { number in
            AsyncOperation { context in
                let child = AsyncOperation { await Task.yield() }
                if let needed { child.addCondition(needed) }
                try await context.run(child)
            }.addCondition(held(number))
        }
        queue.add(operations)
        await queue.waitUntilIdle()
        #expect(operations.allSatisfy { $0.error == nil })
    }

    // MARK: E5, E9, E13

    private static let others = [
        SizeProgram("E5, a finished operation counts for the progress of many") { size in
            let queue = AsyncOperationQueue()
            let shared = AsyncOperation { 1 }
            _ = try? await queue.run(shared)
            for _ in 0..<size {
                queue.add(AsyncOperation<Int> { context in try await context.run(shared, weight: 1) })
            }
            await queue.waitUntilIdle()
        },
        SizeProgram("E5, a running operation counts for the progress of many") { size in
            let queue = AsyncOperationQueue()
            let gate = Gate()
            let shared = AsyncOperation {
                await gate.wait()
                return 1
            }
            queue.add(shared)
            let parents = (0..<size).map { _ in
                AsyncOperation<Int> { context in try await context.run(shared, weight: 1) }
            }
            queue.add(parents)
            gate.open()
            await queue.waitUntilIdle()
            #expect(parents.allSatisfy { $0.progress.completedUnitCount == 1 })
        },
        SizeProgram("E9, dependencies are removed from the first to the last") { size in remove(size, inOrder: true) },
        SizeProgram("E9, dependencies are removed in a random order") { size in remove(size, inOrder: false) },
        SizeProgram("E13, a chain of delays since its start") { size in
            var last = AsyncOperation { 1 }
            for _ in 0..<size { last = last.delayed(untilAtLeast: .milliseconds(1)) }
            #expect(last.state == .created)
        },
        SizeProgram("E13, many delays since the start of one operation") { size in
            let shared = AsyncOperation { 1 }.addDependency(AsyncOperation {})
            let delays = (0..<size).map { _ in shared.delayed(untilAtLeast: .milliseconds(1)) }
            #expect(delays.count == size)
        },
    ]

    private static func remove(_ size: Int, inOrder: Bool) {
        let sources = (0..<size).map { _ in AsyncOperation {} }
        let operation = AsyncOperation {}
        for source in sources { operation.addDependency(source, on: .success) }
        for source in inOrder ? sources : sources.shuffled() { operation.removeDependency(source) }
        #expect(operation.dependencies.isEmpty)
    }
}
