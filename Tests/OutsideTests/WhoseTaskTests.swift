import Baton
import BatonTesting
import Testing

/// Cancels the current task.
private func cancelOwnTask() { withUnsafeCurrentTask { $0?.cancel() } }

/// The closures of one operation that have seen an unexpected cancellation.
private final class Sightings: Sendable {
    private let names = Guarded<[String]>([])

    var all: [String] { names.withLock { $0 } }

    /// Records whether the task is cancelled, and then cancels it.
    func lookAndCancel(_ name: String) {
        if Task.isCancelled { names.withLock { $0.append(name) } }
        cancelOwnTask()
    }

    func note(_ text: String) { names.withLock { $0.append(text) } }
}

/// Cancels the task on which it is released.
private final class CancelsWhenReleased: Sendable {
    deinit { cancelOwnTask() }
}

private struct CancellingCondition: OperationCondition {
    let sightings: Sightings
    var bringsAlong = false
    var throwsError = false
    var exclusions: [Exclusion] = []

    func dependency(for operation: AnyOperation) -> AnyOperation? {
        sightings.lookAndCancel("dependency(for:)")
        return bringsAlong
            ? AsyncOperation("brought along") { [sightings] in sightings.lookAndCancel("brought along") } : nil
    }

    func evaluate(for operation: AnyOperation) async throws -> ConditionResult {
        sightings.lookAndCancel("evaluate")
        if throwsError { throw CancellationError() }
        return .satisfied
    }
}

private struct CancellingObserver: OperationObserver {
    let sightings: Sightings

    func observe(_ event: OperationEvent) async { sightings.lookAndCancel("observer") }
}

/// User closures that run on a task which other operations use afterwards. Each closure cancels that task.
private enum Culprit: CaseIterable, Sendable {
    case body, childTaskOfBody, bodyThatThrows, bodyWithInput, callback, group
    case retryPredicate, retryOnFailure, hint, jitter, allOfARetry, repetition
    case around
    case condition, conditionWithOperation, conditionObject, severalConditions, conditionWithExclusion
    case bothConditions, eitherCondition, negatedCondition
    case willFinish, didStart, didFinish, didProduce, observer
    case releasedOutput, releasedCapture
    case exclusion, executor

    func add(to queue: AsyncOperationQueue, _ seen: Sightings) {
        switch self {
        case .body: queue.add { seen.lookAndCancel("body") }
        case .childTaskOfBody:
            queue.add {
                async let child: Void = seen.lookAndCancel("child")
                await child
                cancelOwnTask()
            }
        case .bodyThatThrows:
            queue.add { () -> Int in
                seen.lookAndCancel("body")
                throw CancellationError()
            }
        case .bodyWithInput:
            let source = AsyncOperation { () -> Int in
                seen.lookAndCancel("source")
                return 1
            }
            source.then { _ in seen.lookAndCancel("reader") }.add(to: queue)
        case .callback:
            queue.add(
                AsyncOperation<Int>.callback { finish in
                    seen.lookAndCancel("callback")
                    finish(1)
                })
        case .group:
            queue.add(
                GroupOperation(
                    AsyncOperation { seen.lookAndCancel("first") }, AsyncOperation { seen.lookAndCancel("second") }))
        case .retryPredicate:
            queue.add(
                AsyncOperation {
                    seen.lookAndCancel("attempt")
                    throw CancellationError()
                }.retry(.immediately, attempts: 3) { _ in
                    seen.lookAndCancel("predicate")
                    return true
                })
        case .retryOnFailure:
            queue.add(
                AsyncOperation {
                    seen.lookAndCancel("attempt")
                    throw CancellationError()
                }.retryOnFailure { failures, _ in
                    seen.lookAndCancel("decision")
                    return failures < 2
                })
        case .hint:
            queue.add(
                AsyncOperation {
                    seen.lookAndCancel("attempt")
                    throw CancellationError()
                }.retry(
                    .immediately.honoring { _ in
                        seen.lookAndCancel("hint")
                        return .zero
                    }, attempts: 3))
        case .jitter:
            queue.add(
                AsyncOperation {
                    seen.lookAndCancel("attempt")
                    throw CancellationError()
                }.retry(
                    .constant(.microseconds(1)).jittered { range in
                        seen.lookAndCancel("jitter")
                        return range.lowerBound
                    }, attempts: 3))
        case .allOfARetry:
            queue.add(
                AsyncOperation {
                    seen.lookAndCancel("attempt")
                    throw CancellationError()
                }.retry(
                    .constant(.microseconds(1)).jittered { range in
                        seen.lookAndCancel("jitter")
                        return range.lowerBound
                    }.honoring { _ in
                        seen.lookAndCancel("hint")
                        return nil
                    }, attempts: 3
                ) { _ in
                    seen.lookAndCancel("predicate")
                    return true
                })
        case .repetition:
            queue.add(
                AsyncOperation { () -> Int in
                    seen.lookAndCancel("run")
                    return 1
                }.repeat(every: .zero, count: 3) { _ in
                    seen.lookAndCancel("until")
                    return false
                })
        case .around:
            let first = queue.add("first") {}
            queue.around { context, body in
                try await body()
                if context.operation == first { seen.lookAndCancel("hook") }
            }
        case .condition:
            queue.add(
                AsyncOperation { seen.lookAndCancel("body") }.addCondition("cancels its task") { _ in
                    seen.lookAndCancel("condition")
                    return .satisfied
                })
        case .conditionObject, .conditionWithOperation, .conditionWithExclusion:
            let condition = CancellingCondition(
                sightings: seen, bringsAlong: self == .conditionWithOperation,
                exclusions: self == .conditionWithExclusion ? [.mutuallyExclusive("WhoseTaskTests")] : [])
            queue.add(AsyncOperation { seen.lookAndCancel("body") }.addCondition(condition))
        case .severalConditions:
            queue.add(
                AsyncOperation { seen.lookAndCancel("body") }
                    .addCondition(CancellingCondition(sightings: seen))
                    .addCondition(CancellingCondition(sightings: seen, bringsAlong: true)))
        case .bothConditions, .eitherCondition, .negatedCondition:
            // Each condition is satisfied or throws.
            let one = CancellingCondition(sightings: seen, throwsError: self != .bothConditions)
            let other = CancellingCondition(sightings: seen)
            let operation = AsyncOperation("after conditions") { seen.lookAndCancel("body") }
            switch self {
            case .bothConditions: operation.addCondition(one.and(other))
            case .eitherCondition: operation.addCondition(one.or(other))
            default: operation.addCondition(one.negated)
            }
            operation.didFinish { result in
                if case .failure(let error) = result { seen.note("\(error)") }
            }
            queue.add(operation)
        case .willFinish:
            queue.add(
                AsyncOperation { seen.lookAndCancel("body") }
                    .willFinish { _ in seen.lookAndCancel("first willFinish") }
                    .willFinish { _ in seen.lookAndCancel("second willFinish") }
                    .didFinish { _ in seen.lookAndCancel("didFinish") })
        case .didStart:
            queue.add(
                AsyncOperation { seen.lookAndCancel("body") }
                    .didStart { seen.lookAndCancel("first didStart") }.didStart {
                        seen.lookAndCancel("second didStart")
                    })
        case .didFinish:
            for _ in 0..<3 {
                queue.add(
                    AsyncOperation { seen.lookAndCancel("body") }
                        .didFinish { _ in seen.lookAndCancel("first didFinish") }
                        .didFinish { _ in seen.lookAndCancel("second didFinish") })
            }
        case .didProduce:
            queue.add(
                AsyncOperation { context in
                    for _ in 0..<3 { try context.produce(AsyncOperation { seen.lookAndCancel("product") }) }
                }.didProduce { _ in seen.lookAndCancel("didProduce") })
        case .observer:
            queue.addObserver(CancellingObserver(sightings: seen))
            queue.add { seen.lookAndCancel("body") }
        case .releasedOutput: queue.add { CancelsWhenReleased() }
        case .releasedCapture:
            let capture = CancelsWhenReleased()
            queue.add { withExtendedLifetime(capture) {} }
        case .exclusion:
            for _ in 0..<3 {
                queue.add(
                    AsyncOperation { seen.lookAndCancel("body") }.addCondition(.mutuallyExclusive("WhoseTaskTests too"))
                )
            }
        case .executor:
            let operation = AsyncOperation { seen.lookAndCancel("body") }
            operation.executor = globalConcurrentExecutor
            queue.add(operation)
        }
    }
}

@Suite("A closure that changes its task does not affect other operations")
struct WhoseTaskTests {
    @Test(
        "Neither the operation's other closures nor later operations notice", arguments: Culprit.allCases, [1, 2, 64])
    private func G16_aClosureThatCancelsItsTaskReachesNobody(culprit: Culprit, width: Int) async throws {
        try await within {
            for executor in [nil, ThreadExecutor(threads: 1)] {
                let queue = AsyncOperationQueue(maxConcurrentOperationCount: width, executor: executor)
                let seen = Sightings()
                for _ in 0..<5 {
                    culprit.add(to: queue, seen)
                    let later = (0..<5).map { number in AsyncOperation("later \(number)") { Task.isCancelled } }
                    queue.add(later)
                    await queue.waitUntilIdle()
                    let sawCancel = try later.map { try $0.result?.get() }
                    #expect(sawCancel == Array(repeating: false, count: later.count))
                }
                #expect(seen.all == [])
            }
        }
    }

    @Test("A priority that a body or a handler raises does not affect later operations", arguments: [1, 2, 64])
    func raisedPriority(width: Int) async throws {
        let escalate: @Sendable () -> Void = {
            guard #available(macOS 26.0, iOS 26.0, watchOS 26.0, tvOS 26.0, visionOS 26.0, *) else { return }
            withUnsafeCurrentTask { $0?.escalatePriority(to: .high) }
        }
        try await within {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: width, taskPriority: .low)
            for _ in 0..<5 {
                queue.add(AsyncOperation { escalate() }.didFinish { _ in escalate() })
                queue.add(
                    AsyncOperation {}.addCondition("raises the priority") { _ in
                        escalate()
                        return .satisfied
                    })
                let later = (0..<5).map { number in AsyncOperation("later \(number)") { Task.currentPriority } }
                queue.add(later)
                await queue.waitUntilIdle()
                let priorities = try later.map { try $0.result?.get() }
                #expect(priorities == Array(repeating: .low, count: later.count))
            }
        }
    }

    @Test("A sequence continues when a closure that configures its elements cancels the task")
    func sequence() async throws {
        try await within {
            let queue = AsyncOperationQueue()
            let elements = AsyncStream { continuation in
                for number in 0..<10 { continuation.yield(number) }
                continuation.finish()
            }
            var outputs: [Int] = []
            let delivered = elements.deliver(on: queue, configure: { _, _ in cancelOwnTask() }) { $0 }
            for try await output in delivered { outputs.append(output) }
            #expect(outputs == Array(0..<10))
        }
    }

    /// A sequence that cancels its task in each call.
    private struct CancellingSequence: AsyncSequence, Sendable {
        struct AsyncIterator: AsyncIteratorProtocol {
            var number = 0
            let seen: Sightings

            mutating func next() async -> Int? {
                seen.lookAndCancel("next")
                number += 1
                return number <= 5 ? number : nil
            }
        }

        let seen: Sightings

        func makeAsyncIterator() -> AsyncIterator {
            seen.lookAndCancel("makeAsyncIterator")
            return AsyncIterator(seen: seen)
        }
    }

    @Test("Each call of a sequence and of its configuration has a task that no other call has cancelled")
    func callsOfASequence() async throws {
        try await within {
            let seen = Sightings()
            var outputs: [Int] = []
            let delivered = CancellingSequence(seen: seen).deliver(
                on: AsyncOperationQueue(), configure: { _, _ in seen.lookAndCancel("configure") }
            ) { $0 }
            for try await output in delivered { outputs.append(output) }
            #expect(outputs == [1, 2, 3, 4, 5])
            #expect(seen.all == [])
        }
    }

    private struct CancellingCapability: Capability {
        let name = "cancels"
        let seen: Sightings
        private let isAuthorized = Guarded(false)

        init(seen: Sightings) { self.seen = seen }

        func status() async -> CapabilityStatus {
            seen.lookAndCancel("status")
            return isAuthorized.withLock { $0 } ? .authorized : .notDetermined
        }

        func requestAuthorization() async throws {
            seen.lookAndCancel("request")
            isAuthorized.withLock { $0 = true }
        }
    }

    @Test("Each call of a capability has a task that no other call has cancelled")
    func callsOfACapability() async throws {
        try await within {
            let seen = Sightings()
            let queue = AsyncOperationQueue()
            let operation = AsyncOperation { Task.isCancelled }
            operation.addCondition(.authorized(for: CancellingCapability(seen: seen)))
            let sawCancel = try await queue.run(operation)
            #expect(!sawCancel)
            #expect(seen.all == [])
        }
    }

    @Test("onCancel blocks of time limits do not affect each other")
    func blocksOfCancels() async throws {
        try await within {
            let seen = Sightings()
            let queue = AsyncOperationQueue()
            for number in 0..<20 {
                let operation = AsyncOperation("\(number)") {
                    await withTaskCancellationHandler {
                        while !Task.isCancelled { await Task.yield() }
                    } onCancel: {
                        seen.lookAndCancel("onCancel \(number)")
                    }
                }
                queue.add(operation.timeout(.milliseconds(20)))
            }
            await queue.waitUntilIdle()
            #expect(seen.all == [])
        }
    }

    @Test("All closures of a cancelled operation see its cancellation")
    func ownCancel() async throws {
        try await within {
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1)
            let started = Gate()
            let operation = AsyncOperation {
                started.open()
                while !Task.isCancelled { await Task.yield() }
            }
            // The condition cancels the task before the body runs, so the body runs on another task.
            operation.addCondition(CancellingCondition(sightings: Sightings()))
            queue.add(operation)
            await started.wait()
            operation.cancel()
            await queue.waitUntilIdle()
            #expect(operation.isCancelled)
        }
    }

    /// Runs a job inside `enqueue`, so that a task begins before the code that creates it has received it.
    private final class AtOnceExecutor: TaskExecutor {
        func enqueue(_ job: consuming ExecutorJob) {
            UnownedJob(job).runSynchronously(on: asUnownedTaskExecutor())
        }
    }

    @Test("A cancellation reaches an evaluation on another task that began before it was registered")
    func cancelOfAnEarlyEvaluation() async throws {
        struct WaitingCondition: OperationCondition {
            let end: Gate
            let isReached: Guarded<Bool>

            func dependency(for operation: AnyOperation) -> AnyOperation? {
                cancelOwnTask()
                return nil
            }

            func evaluate(for operation: AnyOperation) async throws -> ConditionResult {
                await withTaskCancellationHandler {
                    await end.wait()
                } onCancel: {
                    isReached.withLock { $0 = true }
                }
                return .satisfied
            }
        }
        let (end, isReached) = (Gate(), Guarded(false))
        let operation = AsyncOperation {}.addCondition(WaitingCondition(end: end, isReached: isReached))
        let queue = AsyncOperationQueue(executor: AtOnceExecutor())
        queue.add(operation)
        await end.waitForWaiters(count: 1)
        operation.cancel()
        #expect(isReached.withLock { $0 })
        end.open()
        try await within { await queue.waitUntilIdle() }
    }

    @Test("A cancellation that comes during an evaluation on another task reaches it")
    func cancelDuringEvaluation() async throws {
        try await within {
            struct Endless: OperationCondition {
                let started: Gate

                func dependency(for operation: AnyOperation) -> AnyOperation? {
                    cancelOwnTask()
                    return nil
                }

                func evaluate(for operation: AnyOperation) async throws -> ConditionResult {
                    let wasCancelled = Task.isCancelled
                    started.open()
                    while !Task.isCancelled { await Task.yield() }
                    return .skip("cancelled before: \(wasCancelled)")
                }
            }
            let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1)
            let started = Gate()
            let operation = AsyncOperation {}.addCondition(Endless(started: started))
            queue.add(operation)
            await started.wait()
            operation.cancel()
            await queue.waitUntilIdle()
            guard case .cancelled(.requested) = operation.error else {
                Issue.record("\(operation.error as Any)")
                return
            }
        }
    }
}
