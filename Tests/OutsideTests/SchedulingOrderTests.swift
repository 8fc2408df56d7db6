// The number of a guarantee begins the name of its tests.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import Baton
import BatonTesting
import Synchronization
import Testing

@Suite("Work that has begun is completed before new work begins")
struct SchedulingOrderTests {
    /// A current number, and its maximum so far.
    private final class Level: Sendable {
        private let state = Guarded((now: 0, highest: 0))

        var highest: Int { state.withLock { $0.highest } }

        func rise() {
            state.withLock { state in
                state.now += 1
                state.highest = max(state.highest, state.now)
            }
        }

        func fall() { state.withLock { $0.now -= 1 } }
    }

    private enum Pipeline: CaseIterable {
        case queue, group, body
    }

    /// Returns the greatest number of pages that were fetched but not yet being parsed.
    private func mostPagesThatWait(in place: Pipeline, _ order: SchedulingOrder) async throws -> Int {
        let pages = Level()
        func chain(_ number: Int) -> [AnyOperation] {
            let fetch = AsyncOperation("fetch \(number)") {
                for _ in 0..<3 { await Task.yield() }
                pages.rise()
                return number
            }
            let parse = AsyncOperation("parse \(number)", fetch) { number in
                pages.fall()
                await Task.yield()
                return number
            }
            return [fetch, parse]
        }
        let all = (0..<1_000).flatMap { chain($0) }
        let queue = AsyncOperationQueue(maxConcurrentOperationCount: 4)
        queue.schedulingOrder = order
        switch place {
        case .queue:
            queue.add(all)
            await queue.waitUntilIdle()
        case .group: try await queue.run(GroupOperation(all))
        case .body:
            try await queue.run(
                AsyncOperation("parent") { context in
                    try await context.run(GroupOperation(all))
                })
        }
        return pages.highest
    }

    /// An add links the operations of a batch after it has listed the ready ones. If its thread is delayed in between,
    /// the 32 pages of the batch may be fetched before their dependents are linked, in addition to the sixteen.
    @Test("Only a few of a thousand pages wait to be parsed", .timeLimit(.minutes(10)), arguments: Pipeline.allCases)
    private func G23_fetchAndParse(place: Pipeline) async throws {
        #expect(try await mostPagesThatWait(in: place, .depthFirst) <= 16 + 32)
    }

    /// How many more depends on how quickly bodies go on after a suspension.
    @Test("With FIFO order, many more pages wait to be parsed", .timeLimit(.minutes(10)))
    func G23_firstInFirstOut() async throws {
        let most = try await mostPagesThatWait(in: .queue, .firstInFirstOut)
        #expect(most > 3 * (16 + 32))
    }

    @Test("A serial queue has at most three pictures in memory", .timeLimit(.minutes(10)))
    func G23_picturesAlive() async throws {
        final class Picture: Sendable {
            let level: Level
            init(_ level: Level) {
                self.level = level
                level.rise()
            }
            deinit { level.fall() }
        }
        let pictures = Level()
        let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1, isSuspended: true)
        for number in 0..<200 {
            queue.add(
                AsyncOperation("load \(number)") { Picture(pictures) }
                    .then("blur \(number)") { _ in Picture(pictures) }
                    .then("save \(number)") { _ in await Task.yield() })
        }
        queue.isSuspended = false
        await queue.waitUntilIdle()
        #expect(pictures.highest <= 3)
    }

    @Test("The tile that was added last runs first", .timeLimit(.minutes(10)))
    func G23_lastInFirstOut() async throws {
        let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1, isSuspended: true)
        queue.schedulingOrder = .lastInFirstOut
        let ran = EventLog<Int>()
        for number in 0..<100 { queue.add { ran(number) } }
        queue.add { [queue] in queue.add((100..<103).map { number in AsyncOperation { ran(number) } }) }
        queue.isSuspended = false
        await queue.waitUntilIdle()
        #expect(ran.events == [102, 101, 100] + (0..<100).reversed())
    }

    @Test("A chain that never ends does not starve other operations", .timeLimit(.minutes(10)), arguments: [1, 2, 5])
    func G23_endlessChain(width: Int) async throws {
        /// Makes a link that adds its successor, which depends on it.
        @Sendable func link(_ number: Int, on queue: AsyncOperationQueue, _ isOver: Gate) -> AsyncOperation<Void> {
            AsyncOperation("link \(number)") { context in
                if isOver.isOpen { return }
                queue.add(link(number + 1, on: queue, isOver).addDependency(context.operation))
            }
        }
        try await within {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: width)
            let isOver = Gate()
            for _ in 0..<width { queue.add(link(0, on: queue, isOver)) }
            for _ in 0..<3 {
                let other = queue.add("other") {}
                // The first operation of the fan starts another endless chain, which is newer than the rest.
                let first = AsyncOperation<Void>("first") { context in
                    queue.add(link(0, on: queue, isOver).addDependency(context.operation))
                }
                let rest = (0..<100).map { AsyncOperation("fan \($0)") {} }
                let fan = [first] + rest
                for operation in fan { operation.addDependency(other) }
                queue.add(fan)
                for operation in fan { try await operation.value }
            }
            isOver.open()
            await queue.waitUntilIdle()
        }
    }

    @Test("Chains with conditions that never end do not starve the children of a body", .timeLimit(.minutes(10)))
    func G23_endlessChainsWithConditions() async throws {
        @Sendable func link(_ last: AnyOperation?, on queue: AsyncOperationQueue, _ isOver: Gate) {
            let next = AsyncOperation<Void> { context in
                if !isOver.isOpen { link(context.operation, on: queue, isOver) }
            }
            next.addCondition("satisfied") { _ in .satisfied }
            if let last { next.addDependency(last) }
            queue.add(next)
        }
        try await within {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1)
            let isOver = Gate()
            for _ in 0..<2 { link(nil, on: queue, isOver) }
            let parent = AsyncOperation { context in
                for _ in 0..<100 { try await context.run(AsyncOperation {}) }
            }
            try await queue.run(parent)
            isOver.open()
            await queue.waitUntilIdle()
        }
    }

    @Test("Bodies that wait repeatedly do not starve other operations", .timeLimit(.minutes(10)), arguments: [1, 2])
    func G23_bodiesThatWait(width: Int) async throws {
        try await within {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: width)
            let other = AsyncOperationQueue()
            let isOver = Gate()
            for _ in 0..<width * 3 {
                queue.add {
                    while !isOver.isOpen { try await other.run(AsyncOperation {}) }
                }
            }
            let plain = (0..<20).map { number in queue.add("plain \(number)") {} }
            for operation in plain { try await operation.value }
            isOver.open()
            await queue.waitUntilIdle()
        }
    }

    @Test(
        "Pages whose downloads are limited are parsed before more are fetched", .timeLimit(.minutes(10)),
        arguments: [true, false])
    func G23_limitedFetches(byName: Bool) async throws {
        let pages = Level()
        let queue = AsyncOperationQueue(maxConcurrentOperationCount: 4)
        let name = "SchedulingOrderTests"
        for number in 0..<300 {
            let fetch = AsyncOperation("fetch \(number)") {
                for _ in 0..<3 { await Task.yield() }
                pages.rise()
                return number
            }
            if byName {
                fetch.addCondition(.limited(name, to: 2))
            } else {
                fetch.addCondition("asks") { _ in
                    await Task.yield()
                    return .satisfied
                }
            }
            queue.add(
                fetch.then("parse \(number)") { number in
                    pages.fall()
                    for _ in 0..<10 { await Task.yield() }
                })
        }
        await queue.waitUntilIdle()
        #expect(pages.highest <= 16)
    }
}
