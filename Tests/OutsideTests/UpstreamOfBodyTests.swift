import Baton
import BatonTesting
import Testing

private enum Request {
    @TaskLocal static var id = 0
}

/// The sequence that a body delivers to its queue may add operations to that queue and wait for them. The body waits
/// for them as for the operations of the delivery.
@Suite("What upstream of a sequence runs and awaits, while a body iterates", .timeLimit(.minutes(15)))
struct UpstreamOfBodyTests {
    typealias Configuration = @Sendable (AsyncOperation<Int>) -> Void

    /// Sequences of the numbers from 0 to 9, each of which is the output of an operation.
    enum Upstream: CaseIterable, Sendable {
        case chain, longChain, resultsOfChain, pagesThatRun, pagesThatRunInChildTasks, pagesThatSubmit

        func sum(on queue: AsyncOperationQueue, _ configure: @escaping Configuration = { _ in }) async throws -> Int {
            let first = (0..<10).deliver(
                on: queue, configure: { operation, _ in configure(operation) }, { number in number })
            switch self {
            case .chain: return try await sum(first, on: queue)
            case .longChain:
                let second = first.deliver(on: queue, { number in number })
                return try await sum(second.deliver(on: queue, { number in number }), on: queue)
            case .resultsOfChain:
                var sum = 0
                for try await number in first.results.deliver(on: queue, { result in try result.get() }) {
                    sum += number
                }
                return sum
            case .pagesThatRun: return try await sum(pages { page in try await queue.run(page) }, on: queue)
            case .pagesThatRunInChildTasks:
                let pages = pages { page in
                    async let number = queue.run(page)
                    return try await number
                }
                return try await sum(pages, on: queue)
            case .pagesThatSubmit:
                let pages = pages { page in
                    try await queue.submit(page)
                    return try await page.value
                }
                return try await sum(pages, on: queue)
            }

            func pages(_ read: @escaping @Sendable (AsyncOperation<Int>) async throws -> Int)
                -> AsyncThrowingStream<Int, any Error>
            {
                let next = Counter()
                return AsyncThrowingStream {
                    let number = next.value
                    next.increment()
                    if number == 10 { return nil }
                    let page = AsyncOperation("page") { number }
                    configure(page)
                    return try await read(page)
                }
            }
        }

        private func sum<Numbers: AsyncSequence & Sendable>(
            _ numbers: Numbers, on queue: AsyncOperationQueue
        ) async throws -> Int where Numbers.Element == Int {
            var sum = 0
            for try await number in numbers.deliver(on: queue, { number in number }) { sum += number }
            return sum
        }
    }

    @Test(
        "Operations of upstream run before a barrier that was added after the body",
        // The operation that `submit` adds comes after the barrier, as when the body itself submits.
        arguments: Upstream.allCases.filter { $0 != .pagesThatSubmit }, [1, 3])
    func G25_withABarrier(upstream: Upstream, width: Int) async throws {
        try await within {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: width)
            let (hasBarrier, log) = (Gate(), EventLog<String>())
            let body = queue.add("body") {
                await hasBarrier.wait()
                defer { log("body") }
                return try await upstream.sum(on: queue)
            }
            queue.addBarrier("barrier") { log("barrier") }
            hasBarrier.open()
            let sum = try await body.value
            #expect(sum == 45)
            await queue.waitUntilIdle()
            #expect(log.events == ["body", "barrier"])
        }
    }

    @Test("An operation of upstream that depends on the body's operation fails", arguments: Upstream.allCases)
    func G8_aCycleThroughUpstream(upstream: Upstream) async throws {
        try await within {
            let queue = AsyncOperationQueue()
            let body = AsyncOperation("body") { context in
                try await upstream.sum(on: queue) { $0.addDependency(context.operation) }
            }
            queue.add(body)
            await #expect { try await body.value } throws: { error in
                if case .dependencyCycle(let path)? = cause(of: error) { path.count == 2 } else { false }
            }
            await queue.waitUntilIdle()
        }
    }

    @Test("An operation of upstream that needs the body's exclusion fails", arguments: Upstream.allCases)
    func G13_anExclusionOfTheBody(upstream: Upstream) async throws {
        try await within {
            let queue = AsyncOperationQueue()
            let name = "UpstreamOfBodyTests \(upstream)"
            let body = queue.add(
                AsyncOperation("body") {
                    try await upstream.sum(on: queue) { $0.addCondition(.mutuallyExclusive(name)) }
                }.addCondition(.mutuallyExclusive(name)))
            await #expect { try await body.value } throws: { error in
                if case .exclusionDeadlock? = cause(of: error) { true } else { false }
            }
            await queue.waitUntilIdle()
        }
    }

    @Test("The iteration of a body goes on with all parts while the queue drains", arguments: Upstream.allCases)
    func whileTheQueueDrains(upstream: Upstream) async throws {
        try await within {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1)
            let (hasBegun, drains) = (Gate(), Gate())
            let body = queue.add("body") {
                hasBegun.open()
                await drains.wait()
                return try await upstream.sum(on: queue)
            }
            await hasBegun.wait()
            async let drained: Void = queue.drain()
            await eventually { queue.isShuttingDown }
            drains.open()
            await drained
            // `submit` is for operations from outside, which a queue that drains refuses.
            if upstream == .pagesThatSubmit {
                #expect(body.error?.description.contains("shut down") == true)
            } else {
                let sum = try body.result?.get()
                #expect(sum == 45)
            }
        }
    }

    @Test("Upstream and its operations find the task-locals of the task that iterates", arguments: [true, false])
    func taskLocals(inBody: Bool) async throws {
        try await within {
            let carries = AsyncOperationQueue(taskLocals: Request.$id)
            let other = AsyncOperationQueue()
            let ids = EventLog<Int>()
            let iterate: @Sendable () async throws -> Void = {
                let one = (0..<2).deliver(on: carries) { _ in ids(Request.id) }
                for try await _ in one.deliver(on: other, { _ in }).deliver(on: other, { _ in }) {}
                let next = Counter()
                let pages = AsyncThrowingStream<Int, any Error> {
                    ids(Request.id)
                    next.increment()
                    if next.value == 3 { return nil }
                    return try await carries.run(AsyncOperation("page") { Request.id })
                }
                for try await _ in pages.deliver(on: other, { id in ids(id) }) {}
            }
            try await Request.$id.withValue(7) {
                if inBody {
                    try await carries.run(AsyncOperation("body") { try await iterate() })
                } else {
                    try await iterate()
                }
            }
            #expect(ids.events == [Int](repeating: 7, count: 7))
        }
    }

    @Test("Upstream of a sequence that a body iterates does not wait for the body's own queue")
    func waitsForTheQueue() async throws {
        try await within {
            let misuses = EventLog<Misuse.Kind>()
            let queue = AsyncOperationQueue(onMisuse: { misuses($0.kind) })
            let next = Counter()
            let numbers = AsyncStream<Int> {
                await queue.waitUntilIdle()
                next.increment()
                return next.value == 3 ? nil : next.value
            }
            let body = queue.add("body") {
                var sum = 0
                for try await number in numbers.deliver(on: queue, { number in number }) { sum += number }
                return sum
            }
            let sum = try await body.value
            #expect(sum == 3)
            #expect(misuses.events == [Misuse.Kind](repeating: .waitedForItsOwnQueue("waitUntilIdle"), count: 3))
        }
    }

    @Test("Upstream of a sequence that a body iterates may submit to the body's full queue")
    func submitsToAFullQueue() async throws {
        try await within {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1)
            queue.maxWaitingOperationCount = 1
            let body = queue.add("body") {
                try await Upstream.pagesThatSubmit.sum(on: queue) { page in
                    // Keeps the queue full until the page has ended.
                    queue.add(AsyncOperation("other") {}.addDependency(page))
                }
            }
            let sum = try await body.value
            #expect(sum == 45)
            await queue.waitUntilIdle()
        }
    }
}

/// Returns the error that the body has thrown.
private func cause(of error: any Error) -> OperationError? {
    if case OperationError.failed(let cause) = error { cause as? OperationError } else { error as? OperationError }
}
