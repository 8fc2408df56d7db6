import Baton
import BatonTesting
import Testing

/// Programs that external testers ran at great sizes. Their time must not grow faster than n log n.
@Suite("At great sizes the time grows no faster than n log n", .serialized, .timeLimit(.minutes(10)))
struct WhatHeldAtSize {
    private struct Failure: Error {}

    /// Returns a unique name, because exclusions and unique keys are shared by the whole process.
    private static func unused(_ name: String) -> String { "\(name) \(UInt64.random(in: 0...(.max)))" }

    // MARK: Exclusions

    @Test("Very many operations run one after another under one exclusive name")
    func oneExclusiveName() async {
        await expectNearlyLinear(reduced(1_000)) { count in
            let name = Self.unused("name")
            let ran = EventLog<Int>()
            let queue = AsyncOperationQueue()
            queue.add(
                (0..<count).map { number in
                    AsyncOperation { ran(number) }.addCondition(.mutuallyExclusive(name))
                })
            await queue.waitUntilIdle()
            #expect(ran.events.sorted() == Array(0..<count))
        }
    }

    @Test("A holder that waits for something else does not delay operations that want another exclusion")
    func unrelatedWaitingHolder() async {
        await expectNearlyLinear(reduced(1_000)) { count in
            let (held, wanted) = (Self.unused("held"), Self.unused("wanted"))
            let queue = AsyncOperationQueue()
            let gate = Gate()
            let signal = queue.add { await gate.wait() }
            let holder = AsyncOperation { try await signal.value }.addCondition(.mutuallyExclusive(held))
            queue.add(holder)
            await gate.waitForWaiters(count: 1)
            let other = AsyncOperationQueue()
            other.add((0..<count).map { _ in AsyncOperation {}.addCondition(.mutuallyExclusive(wanted)) })
            await other.waitUntilIdle()
            gate.open()
            await queue.waitUntilIdle()
        }
    }

    @Test("Holders run chains that need no exclusion", arguments: [false, true])
    func holdersRunChains(limited: Bool) async {
        await expectNearlyLinear(reduced(100)) { count in
            let name = Self.unused("name")
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 4)
            let exclusion: Exclusion = limited ? .limited(name, to: 3) : .mutuallyExclusive(name)
            let holders = (0..<count).map { number in
                AsyncOperation<Int> { context in
                    let first = AsyncOperation { number }
                    return try await context.run((0..<5).reduce(first) { last, _ in last.map { $0 + 1 } })
                }.addCondition(exclusion)
            }
            queue.add(holders)
            await queue.waitUntilIdle()
            #expect(holders.enumerated().allSatisfy { (try? $1.result?.get()) == $0 + 5 })
        }
    }

    // MARK: Groups

    @Test("A narrow group has children that run others")
    func narrowGroup() async {
        await expectNearlyLinear(reduced(100)) { count in
            let children = (0..<count).map { number in
                AsyncOperation<Int> { context in
                    var last = number
                    for _ in 0..<3 { last = try await context.run(AsyncOperation { [last] in last + 1 }) }
                    return last
                }
            }
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 2)
            try? await queue.run(GroupOperation(children, maxConcurrentOperationCount: 4))
            #expect(children.allSatisfy { $0.error == nil })
        }
    }

    @Test("Very many groups run")
    func manyGroups() async {
        await expectNearlyLinear(reduced(200)) { count in
            let queue = AsyncOperationQueue()
            queue.add((0..<count).map { _ in GroupOperation(AsyncOperation {}, AsyncOperation {}) })
            await queue.waitUntilIdle()
        }
    }

    @Test("A group has very many children", arguments: ["side by side", "ordered", "failing", "with progress"])
    func groupOfMany(kind: String) async {
        await expectNearlyLinear(reduced(400)) { count in
            let children = (0..<count).map { number in
                AsyncOperation<Void> { context in
                    context.progress.report(completed: 1, of: 2)
                    if kind == "failing", number % 2 == 1 { throw Failure() }
                }
            }
            let group =
                kind == "ordered" ? GroupOperation(.ordered, children) : GroupOperation(children, policy: .collectAll)
            let queue = AsyncOperationQueue()
            async let updates = kind == "with progress" ? group.progressUpdates.reduce(0) { sum, _ in sum + 1 } : 1
            let result: Void? = try? await queue.run(group)
            #expect((result == nil) == (kind == "failing"))
            #expect(await updates > 0)
            #expect(children.allSatisfy { $0.state == .finished })
        }
    }

    // MARK: Handlers and readers

    @Test("One operation has very many handlers, early and late ones", arguments: [false, true])
    func handlers(late: Bool) async {
        await expectNearlyLinear(reduced(1_000)) { count in
            let calls = EventLog<Void>()
            let operation = AsyncOperation {}
            let queue = AsyncOperationQueue()
            if late { try? await queue.run(operation) }
            for _ in 0..<count { operation.didFinish { _ in calls(()) } }
            if !late { queue.add(operation) }
            await queue.waitUntilIdle()
            await calls.waitForCount(count)
            #expect(calls.count == count)
        }
    }

    @Test("One operation has very many readers of its events and its progress")
    func readers() async {
        await expectNearlyLinear(reduced(100)) { count in
            let gate = Gate()
            let operation = AsyncOperation<Void> { context in
                await gate.wait()
                for part in 1...3 { context.progress.report(completed: part, of: 3) }
            }
            let queue = AsyncOperationQueue()
            let (events, updates) = (operation.events, operation.progressUpdates)
            await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<count {
                    group.addTask {
                        for await event in events { if case .finished = event.kind { return true } }
                        return true
                    }
                    group.addTask {
                        var last = operation.progress
                        for await update in updates { last = update }
                        return last.isFinished
                    }
                }
                queue.add(operation)
                gate.open()
                for await isRight in group { #expect(isRight) }
            }
        }
    }

    @Test("Very many tasks await one value, or run one operation", arguments: [false, true])
    func outsideWaits(running: Bool) async {
        await expectNearlyLinear(reduced(500)) { count in
            let gate = Gate()
            let queue = AsyncOperationQueue()
            let operation = AsyncOperation {
                await gate.wait()
                return 1
            }
            queue.add(operation)
            let sum = await withTaskGroup(of: Int.self) { group in
                for _ in 0..<count {
                    group.addTask { (try? await running ? queue.run(operation) : operation.value) ?? 0 }
                }
                gate.open()
                return await group.reduce(0, +)
            }
            #expect(sum == count)
        }
    }

    // MARK: Uniqueness

    @Test("Very many operations join one operation, and half of them are cancelled")
    func joins() async {
        await expectNearlyLinear(reduced(400)) { count in
            let key = Self.unused("key")
            let gate = Gate()
            let queue = AsyncOperationQueue()
            func make() -> AsyncOperation<Int> {
                AsyncOperation {
                    await gate.wait()
                    return 7
                }.unique(by: key, policy: .join)
            }
            let operations = (0...count).map { _ in make() }
            queue.add(operations)
            for joined in operations.dropFirst().enumerated() where joined.offset % 2 == 0 { joined.element.cancel() }
            gate.open()
            await queue.waitUntilIdle()
            #expect(operations.filter { $0.error == nil }.count == count / 2 + 1)
        }
    }

    @Test("Each operation replaces the previous one, whether or not that ends on cancel", arguments: [false, true])
    func replaces(heeding: Bool) async {
        await expectNearlyLinear(reduced(200)) { count in
            let key = Self.unused("key")
            let gate = Gate()
            let queue = AsyncOperationQueue()
            let operations = (0..<count).map { number in
                AsyncOperation {
                    if heeding { try await gate.waitUnlessCancelled() } else { await gate.wait() }
                    return number
                }.unique(by: key, policy: .replace)
            }
            for operation in operations { queue.add(operation) }
            gate.open()
            await queue.waitUntilIdle()
            #expect((try? operations.last?.result?.get()) == count - 1)
        }
    }

    // MARK: Graphs

    @Test("One operation with a condition depends on very many that have one as well")
    func fanInWithConditions() async {
        await expectNearlyLinear(reduced(400)) { count in
            let sources = (0..<count).map { _ in AsyncOperation {}.addCondition("open") { _ in .satisfied } }
            let sink = AsyncOperation {}.addCondition(NoFailedDependencies())
            for source in sources { sink.addDependency(source) }
            let queue = AsyncOperationQueue()
            queue.add(sources + [sink])
            await queue.waitUntilIdle()
            #expect(sink.error == nil)
        }
    }

    @Test("A root with very many dependents runs as many chains")
    func rootThatRunsChains() async {
        await expectNearlyLinear(reduced(100)) { count in
            let root = AsyncOperation<Int> { context in
                var sum = 0
                for number in 0..<count {
                    sum += try await context.run(AsyncOperation { number }.map { $0 }.map { $0 - number })
                }
                return sum
            }
            let queue = AsyncOperationQueue()
            queue.add((0..<count).map { _ in AsyncOperation {}.addDependency(root) } + [root])
            await queue.waitUntilIdle()
            #expect((try? root.result?.get()) == 0)
        }
    }

    @Test("A long ring fails, every member of it")
    func ring() async {
        await expectNearlyLinear(reduced(400)) { count in
            let ring = (0..<count).map { number in AsyncOperation("\(number)") {} }
            for number in ring.indices { ring[number].addDependency(ring[(number + 1) % count]) }
            let queue = AsyncOperationQueue()
            for operation in ring { queue.add(operation) }
            await queue.waitUntilIdle()
            #expect(ring.allSatisfy { if case .dependencyCycle = $0.error { true } else { false } })
        }
    }

    @Test("A chain is added link by link")
    func chainLinkByLink() async {
        await expectNearlyLinear(reduced(1_000)) { count in
            let queue = AsyncOperationQueue()
            var last = AsyncOperation { 0 }
            queue.add(last)
            for _ in 1..<count {
                last = last.map { $0 + 1 }
                queue.add(last)
            }
            #expect((try? await last.value) == count - 1)
        }
    }

    @Test("Each operation produces the next one")
    func chainOfProducts() async {
        await expectNearlyLinear(reduced(500)) { count in
            let ran = EventLog<Int>()
            let queue = AsyncOperationQueue()
            @Sendable func link(_ number: Int) -> AsyncOperation<Void> {
                AsyncOperation<Void> { context in
                    ran(number)
                    if number + 1 < count { try context.produce(link(number + 1)) }
                }
            }
            queue.add(link(0))
            await queue.waitUntilIdle()
            #expect(ran.events == Array(0..<count))
        }
    }

    // MARK: Cancels, time and diagnostics

    @Test("All of very many are cancelled, waiting or running", arguments: [false, true])
    func cancelAll(running: Bool) async {
        await expectNearlyLinear(reduced(500)) { count in
            let gate = Gate()
            let queue = AsyncOperationQueue(
                maxConcurrentOperationCount: AsyncOperationQueue.unlimited, isSuspended: !running)
            let operations = (0..<count).map { _ in AsyncOperation { try await gate.waitUnlessCancelled() } }
            queue.add(operations)
            if running { await gate.waitForWaiters(count: count) }
            queue.cancelAll()
            await queue.waitUntilIdle()
            #expect(operations.allSatisfy { $0.isCancelled })
        }
    }

    @Test("A cancelled run cancels everything that it has added")
    func cancelledRun() async {
        await expectNearlyLinear(reduced(500)) { count in
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1)
            let gate = Gate()
            let first = AsyncOperation<Int> {
                try await gate.waitUnlessCancelled()
                return 0
            }
            let last = (1..<count).reduce(first) { last, _ in last.map { $0 + 1 } }
            let task = Task { try await queue.run(last) }
            await gate.waitForWaiters(count: 1)
            task.cancel()
            #expect((try? await task.value) == nil)
            await queue.waitUntilIdle()
            #expect(first.isCancelled)
        }
    }

    @Test("Very many delays end, each shorter than the previous one")
    func delays() async {
        await expectNearlyLinear(reduced(300)) { count in
            let clock = TestClock()
            let queue = AsyncOperationQueue(
                maxConcurrentOperationCount: AsyncOperationQueue.unlimited, clock: clock)
            for number in 0..<count { queue.add(AsyncOperation<Void>.delay(.seconds(count - number))) }
            while queue.operationCount != 0 {
                clock.advance(by: .seconds(count))
                await Task.yield()
            }
            await queue.waitUntilIdle()
        }
    }

    @Test("A long chain has a snapshot and an explanation")
    func snapshots() async {
        await expectNearlyLinear(reduced(500)) { count in
            let queue = AsyncOperationQueue(isSuspended: true)
            let first = AsyncOperation("first") { 0 }
            let last = (1..<count).reduce(first) { last, _ in last.map { $0 + 1 } }
            last.add(to: queue)
            #expect(queue.snapshot().operations.count == count)
            #expect(last.explain().roots.map(\.operation.name) == ["first"])
            queue.isSuspended = false
            #expect((try? await last.value) == count - 1)
        }
    }
}
