import Baton
import BatonTesting
import Synchronization
import Testing

/// User code is called in many places. In each of them it may call Baton, because no lock is held.
@Suite("User code may call Baton wherever it is called", .timeLimit(.minutes(10)))
struct WhatHeldInUsersCode {
    /// Makes calls that take every lock of a queue.
    private final class Meddler: Sendable {
        private let queue = Guarded<WeakQueue?>(nil)
        let added = Atomic<Int>(0)

        private struct WeakQueue: Sendable {
            weak let queue: AsyncOperationQueue?
        }

        func watch(_ queue: AsyncOperationQueue) { self.queue.withLock { $0 = WeakQueue(queue: queue) } }

        /// Adds at most a few hundred operations. Without this limit, operations whose release adds another one would
        /// never end.
        func meddle() {
            guard let queue = queue.withLock({ $0?.queue }) else { return }
            _ = queue.operationCount
            _ = queue.waitingOperationCount
            queue.maxConcurrentOperationCount = 2 + queue.maxConcurrentOperationCount % 3
            queue.isSuspended = false
            guard added.add(1, ordering: .relaxed).newValue <= 300 else { return }
            _ = queue.snapshot().operations.count
            let operation = queue.add("meddled") { 1 }
            operation.didFinish { _ in }
            _ = operation.explain().description
            queue.add("cancelled") { 2 }.cancel()
        }
    }

    private struct MeddlingKey: Hashable, Sendable {
        let meddler: Meddler
        let name: Int

        static func == (left: Self, right: Self) -> Bool {
            left.meddler.meddle()
            return left.name == right.name
        }

        func hash(into hasher: inout Hasher) {
            meddler.meddle()
            hasher.combine(0)
        }
    }

    private struct MeddlingError: Error, CustomStringConvertible {
        let meddler: Meddler
        let token: LiveTokens.Token

        var description: String {
            meddler.meddle()
            return "meddling"
        }
    }

    private struct MeddlingCondition: OperationCondition {
        let meddler: Meddler
        let number: UInt64
        let token: LiveTokens.Token

        var name: String {
            meddler.meddle()
            return "meddling"
        }

        var exclusions: [Exclusion] {
            meddler.meddle()
            return [.limited("meddling \(number)", to: 2)]
        }

        func dependency(for operation: AnyOperation) -> AnyOperation? {
            meddler.meddle()
            return nil
        }

        func evaluate(for operation: AnyOperation) async throws -> ConditionResult {
            meddler.meddle()
            return .satisfied
        }
    }

    private struct MeddlingClock: Clock {
        let meddler: Meddler

        var now: ContinuousClock.Instant {
            meddler.meddle()
            return .now
        }

        var minimumResolution: Duration { .nanoseconds(1) }

        func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
            meddler.meddle()
            try await ContinuousClock().sleep(until: deadline, tolerance: tolerance)
        }
    }

    private struct MeddlingObserver: OperationObserver {
        let meddler: Meddler
        let token: LiveTokens.Token

        func observe(_ event: OperationEvent) async {
            if event.operation.name.hasPrefix("evil") { meddler.meddle() }
        }
    }

    @Test("User code calls Baton from deinit, ==, hash, conditions, clocks, hints, handlers and observers")
    func everywhere() async throws {
        let living = LiveTokens()
        try await within { try await Self.play(living) }
        try await living.waitUntilNone()
    }

    private static func play(_ living: LiveTokens) async throws {
        let meddler = Meddler()
        let number = UInt64.random(in: 0...(.max))
        let queue = AsyncOperationQueue(
            maxConcurrentOperationCount: 3, clock: MeddlingClock(meddler: meddler), onMisuse: { _ in meddler.meddle() })
        meddler.watch(queue)
        func token() -> LiveTokens.Token { living.token { meddler.meddle() } }
        queue.addObserver(MeddlingObserver(meddler: meddler, token: token()))
        queue.onStall(after: .milliseconds(1)) { _ in meddler.meddle() }
        queue.around { _, body in
            meddler.meddle()
            try await body()
        }
        for index in 0..<reduced(60) {
            let inBody = token()
            let error = MeddlingError(meddler: meddler, token: token())
            let operation = AsyncOperation<LiveTokens.Token>("evil \(index)") { context in
                meddler.meddle()
                inBody.touch()
                if context.attempt < 2 { throw error }
                if index % 4 == 0 { throw error }
                return inBody
            }
            .retry(
                Backoff.constant(.zero).jittered { range in
                    meddler.meddle()
                    return range.lowerBound
                }.honoring { error in
                    meddler.meddle()
                    return nil
                }, attempts: 2
            ) { error in
                _ = error.description
                return true
            }
            .addCondition(MeddlingCondition(meddler: meddler, number: number, token: token()))
            .unique(by: MeddlingKey(meddler: meddler, name: index / 2), policy: index % 3 == 0 ? .join : .replace)
            .timeout(.seconds(60))
            .didStart { meddler.meddle() }
            .willFinish { _ in meddler.meddle() }
            .didFinish { _ in meddler.meddle() }
            .didCancel { _ in meddler.meddle() }
            .observe { _ in meddler.meddle() }
            queue.add(operation)
            queue.add(operation)  // misuse
            if index % 7 == 0 { operation.cancel() }
            if index % 5 == 0 { _ = try? await operation.value }
        }
        await queue.waitUntilIdle()
        #expect(meddler.added.load(ordering: .relaxed) > 100)
    }

    @Test("Deinits of outputs and bodies may add, cancel, change the width and suspend", arguments: [false, true])
    func deinits(barriers: Bool) async throws {
        let living = LiveTokens()
        try await within {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 2)
            let victim = AsyncOperation { try await Gate().waitUnlessCancelled() }
            AsyncOperationQueue().add(victim)
            let added = Atomic<Int>(0)
            for index in 0..<reduced(300) {
                let output = living.token { [weak queue] in
                    guard let queue else { return }
                    queue.isSuspended = true
                    queue.maxConcurrentOperationCount = 1 + index % 4
                    queue.add("from a deinit") { _ = added.add(1, ordering: .relaxed) }
                    queue.isSuspended = false
                    victim.cancel()
                }
                if barriers { queue.addBarrier { output } } else { queue.add { output } }
            }
            await queue.waitUntilIdle()
            // The deinits add operations after the last operation has left the queue.
            while living.count != 0 { await Task.yield() }
            await queue.waitUntilIdle()
            #expect(added.load(ordering: .relaxed) == reduced(300))
        }
    }

    @Test("A retry's predicate adds, cancels all, runs others, and awaits its own dependent")
    func retryPredicate() async throws {
        struct Oops: Error {}
        try await within {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1)
            let dependent = AsyncOperation("dependent") { 3 }
            let awaited = EventLog<String>()
            let failing = AsyncOperation<Void>("failing") { throw Oops() }
                .retryOnFailure { [weak queue] attempt, _ in
                    guard let queue else { return false }
                    queue.add("added") {}
                    _ = try await queue.run(AsyncOperation("run") { 1 })
                    if attempt == 0 { return true }
                    do { awaited("\(try await dependent.value)") } catch { awaited("\(error)") }
                    queue.cancelAll()
                    return true
                }
            dependent.addDependency(failing)
            queue.add(failing, dependent)
            await queue.waitUntilIdle()
            #expect(failing.error != nil && failing.state == .finished && dependent.state == .finished)
            #expect(awaited.events.count == 1)
        }
    }

    @Test("A handler of a finished operation, a stream's element and an output may be the last to hold a queue")
    func lastHandle() async throws {
        let living = LiveTokens()
        try await within {
            for index in 0..<reduced(100) {
                let token = living.token()
                var queue: AsyncOperationQueue? = AsyncOperationQueue(maxConcurrentOperationCount: 1)
                let operation = AsyncOperation("\(index)") { [queue] in
                    token.touch()
                    return queue
                }
                operation.didFinish { [queue] _ in _ = queue?.operationCount }
                queue?.add(operation)
                if index % 2 == 0 { _ = try await operation.value }
                queue = nil
            }
        }
        try await living.waitUntilNone()
    }
}
