// The number of a guarantee begins the name of its tests.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import Baton
import BatonFoundation
import BatonTrace
import Foundation
import Testing

@Suite("User text in lines that Baton writes")
struct TextOfUsersTests {
    static let name = "first\nsecond\r\nthird\u{2028}fourth\u{1B}[2J\u{7}\u{9B}\u{202E}fifth\u{2066}"

    @Test("A misuse is one line")
    func G10_aMisuseIsOneLine() async throws {
        let reports = Guarded<[Misuse]>([])
        let queue = AsyncOperationQueue(name: Self.name)
        queue.onMisuse = { misuse in reports.withLock { $0.append(misuse) } }
        queue.maxConcurrentOperationCount = 0
        let operation = AsyncOperation(Self.name) {}
        _ = try await queue.run(operation)
        operation.name = "other"
        operation.addDependency(AsyncOperation {})
        let lines = reports.withLock { $0 }.map(\.description)
        #expect(lines.count == 3)
        for line in lines { expectOneLine(line) }
    }

    @Test("A line of the debugger is one line")
    func debugger() async {
        let lines = Guarded<[String]>([])
        let queue = AsyncOperationQueue()
        queue.addObserver(BatonDebugger { line in lines.withLock { $0.append(line) } })
        let operation = AsyncOperation<Void>(Self.name) { throw Unreadable(text: Self.name) }
        _ = try? await queue.run(operation)
        let skipped = AsyncOperation<Void>(Self.name) { context in
            context.operation.cancel()
            try context.produce(AsyncOperation(Self.name) {})
        }
        _ = try? await queue.run(skipped)
        await queue.waitUntilIdle()
        while lines.withLock({ $0.count(where: { $0.contains("finished") }) }) < 3 { await Task.yield() }
        for line in lines.withLock({ $0 }) { expectOneLine(line) }
    }

    @Test("References, errors, reasons, events and explanations are one line")
    func descriptions() async throws {
        let queue = AsyncOperationQueue(name: Self.name)
        queue.isSuspended = true
        let events = queue.events
        let operation = AsyncOperation(Self.name) {}
        operation.addCondition(Exclusion.limited(Self.name, to: 1))
        let dependent = AsyncOperation(Self.name) {}.addDependency(operation)
        operation.add(to: queue)
        dependent.add(to: queue)
        expectOneLine(operation.description)
        expectOneLine(dependent.explain().description)
        for operation in queue.snapshot().operations { expectOneLine(operation.cause) }
        expectOneLine(Exclusion.limited(Self.name, to: 1).description)
        operation.cancel(reason: .because(Self.name))
        let error = try #require(operation.error)
        expectOneLine("\(error)")
        queue.isSuspended = false
        await queue.waitUntilIdle()
        expectOneLine(dependent.explain().description)
        var count = 0
        for await event in events {
            expectOneLine(event.description)
            if case .finished = event.kind { count += 1 }
            if count == 2 { break }
        }
        let failures = [OperationFailure(operation: operation.reference, error: .failed(Unreadable(text: Self.name)))]
        expectOneLine("\(OperationError.groupFailed(failures))")
        expectOneLine("\(OperationError.conditionFailed(condition: Self.name, cause: Unreadable(text: Self.name)))")
        expectOneLine("\(OperationError.skipped(.condition(Self.name)))")
        expectOneLine("\(ConditionError.satisfied(Self.name))")
    }

    @Test("The report of a stall is one line")
    func stall() async throws {
        let report = try await within {
            let (reports, continuation) = AsyncStream<StallReport>.makeStream()
            let queue = AsyncOperationQueue(name: Self.name)
            queue.isSuspended = true
            queue.onStall(after: .milliseconds(10)) { continuation.yield($0) }
            queue.add(AsyncOperation(Self.name) {})
            for await report in reports { return report }
            throw CancellationError()
        }
        expectOneLine(report.description)
    }

    private func expectOneLine(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) {
        let bad = text.unicodeScalars.filter { scalar in
            scalar.properties.generalCategory == .control || "\u{2028}\u{2029}".unicodeScalars.contains(scalar)
                || scalar.properties.isBidiControl
        }
        #expect(bad.isEmpty, "\(text.debugDescription)", sourceLocation: sourceLocation)
    }
}

private struct Unreadable: Error, CustomStringConvertible {
    let text: String

    var description: String { text }
}

@Suite("Clocks that cannot sleep")
struct ClockTests {
    @Test("A clock whose sleep throws is polled at intervals", arguments: [true, false])
    func sleepThrows(throwsAtOnce: Bool) async throws {
        let clock = SleeplessClock(throwsAtOnce: throwsAtOnce)
        let queue = AsyncOperationQueue(clock: clock)
        let sleeping = AsyncOperation<Void> { try await Task.sleep(for: .seconds(600)) }.timeout(.milliseconds(200))
        let retried = Guarded(0)
        let retrying = AsyncOperation<Int> {
            let attempt = retried.withLock {
                $0 += 1
                return $0
            }
            if attempt < 3 { throw CancellationError() }
            return attempt
        }
        retrying.retry(.constant(.milliseconds(50)), attempts: 3)
        queue.add([sleeping, retrying])
        try await within { try await queue.run(AsyncOperation<Void>.delay(.milliseconds(100))) }
        #expect(try await within { try await retrying.value } == 3)
        await #expect(throws: OperationError.self) { try await within { try await sleeping.value } }
        #expect(clock.sleeps < 500)
    }

    @Test("A shutdown on a clock whose sleep throws keeps its limit")
    func shutdown() async throws {
        let queue = AsyncOperationQueue()
        let operation = AsyncOperation<Void> { try await Task.sleep(for: .seconds(600)) }
        queue.add(operation)
        let clock = SleeplessClock(throwsAtOnce: true)
        try await within { await queue.shutdown(within: .milliseconds(50), clock: clock) }
        #expect(operation.isCancelled)
        #expect(clock.sleeps < 500)
    }
}

/// A clock that tells the time but cannot sleep: `sleep` throws or returns at once.
private final class SleeplessClock: Clock {
    struct Stopped: Error {}

    private let throwsAtOnce: Bool
    private let count = Guarded(0)

    init(throwsAtOnce: Bool) { self.throwsAtOnce = throwsAtOnce }

    var sleeps: Int { count.withLock { $0 } }
    var now: ContinuousClock.Instant { .now }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        count.withLock { $0 += 1 }
        if throwsAtOnce { throw Stopped() }
    }
}

/// A clock whose `sleep` cancels the sleeping task, or returns at once.
private final class RestlessClock: Clock {
    private let cancels: Bool
    private let count = Guarded(0)

    init(cancels: Bool) { self.cancels = cancels }

    var sleeps: Int { count.withLock { $0 } }
    var now: ContinuousClock.Instant { .now }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        count.withLock { $0 += 1 }
        if cancels { withUnsafeCurrentTask { $0?.cancel() } }
    }
}

@Suite("Clocks that wake every sleeper at once")
struct RestlessClockTests {
    @Test("Such clocks are polled at intervals, and time limits hold", arguments: [true, false])
    func timeLimit(cancels: Bool) async throws {
        let clock = RestlessClock(cancels: cancels)
        let queue = AsyncOperationQueue(clock: clock)
        let sleeping = AsyncOperation<Void> { try await Task.sleep(for: .seconds(600)) }.timeout(.milliseconds(200))
        queue.add(sleeping)
        try await within { await queue.waitUntilIdle() }
        guard case .timedOut = sleeping.error else {
            Issue.record("\(sleeping.error as Any)")
            return
        }
        #expect(clock.sleeps < 1_000)
    }

    @Test(
        "A progress that is followed on such a clock is polled until the body has ended",
        arguments: [true, false])
    func following(throwsError: Bool) async throws {
        let progress = Progress(totalUnitCount: 10)
        let queue = AsyncOperationQueue()
        let operation = AsyncOperation<Void> { context in
            let updates = context.operation.progressUpdates
            let body = {
                progress.completedUnitCount = 5
                for await update in updates where update.fractionCompleted == 0.5 { break }
            }
            if throwsError {
                await context.follow(
                    progress, every: .milliseconds(1), clock: SleeplessClock(throwsAtOnce: true), while: body)
            } else {
                await context.follow(
                    progress, every: .milliseconds(1), clock: RestlessClock(cancels: false), while: body)
            }
        }
        try await within { try await queue.run(operation) }
    }

    @Test(
        "Endless durations neither end anything at once nor trap",
        arguments: [.seconds(Int64.max), Duration(attoseconds: .max)])
    func longest(duration: Duration) async throws {
        let queue = AsyncOperationQueue()
        let operation = AsyncOperation<Void> { context in
            await context.follow(Progress(totalUnitCount: 1), every: duration) {}
        }
        try await within { try await queue.run(operation) }
        var options = LiveView.Options()
        options.interval = duration
        let view = LiveView(of: queue, options: options)
        try await within { try await queue.run(AsyncOperation {}) }
        await view.finish()
        #expect(Backoff.constant(duration).delay(after: .min, error: .queueReleased) > .zero)
    }
}

@Suite("Operations that are passed to a group twice")
struct GivenTwiceTests {
    @Test("Each operation runs once, at its first position", arguments: [true, false])
    func inTheList(isOrdered: Bool) async throws {
        let log = Guarded<[String]>([])
        func noting(_ name: String) -> AsyncOperation<Void> {
            AsyncOperation(name) { log.withLock { $0.append(name) } }
        }
        let (a, b, c) = (noting("a"), noting("b"), noting("c"))
        let group =
            isOrdered
            ? GroupOperation(.ordered, a, b, a, c, b) : GroupOperation(a, b, a, c, b, maxConcurrentOperationCount: 1)
        let queue = AsyncOperationQueue()
        try await within { try await queue.run(group) }
        #expect(log.withLock { isOrdered ? $0 : $0.sorted() } == ["a", "b", "c"])
    }

    @Test("An operation that is added again while the group runs keeps its position", arguments: [true, false])
    func added(isOrdered: Bool) async throws {
        let misuses = Guarded<[String]>([])
        let log = Guarded<[String]>([])
        let queue = AsyncOperationQueue()
        queue.onMisuse = { misuse in misuses.withLock { $0.append("\(misuse)") } }
        let late = AsyncOperation("late") { log.withLock { $0.append("late") } }
        let latest = AsyncOperation("latest") { log.withLock { $0.append("latest") } }
        let groups = Guarded<GroupOperation?>(nil)
        let first = AsyncOperation("first") { context in
            let group = groups.withLock { $0 }!
            try group.add(late)
            try group.add(context.operation)
            try group.add(late)
            try group.add(latest)
            log.withLock { $0.append("first") }
        }
        let group = isOrdered ? GroupOperation(.ordered, first) : GroupOperation(first)
        groups.withLock { $0 = group }
        try await within { try await queue.run(group) }
        groups.withLock { $0 = nil }
        #expect(log.withLock { isOrdered ? $0 : $0.sorted() } == ["first", "late", "latest"])
        #expect(misuses.withLock { $0 }.isEmpty)
    }
}

@Suite("Memory that long-lived operations retain")
struct KeptTests {
    private final class Payload: Error {
        private let count: Counter

        init(_ count: Counter) {
            self.count = count
            count.add(1)
        }

        deinit { count.add(-1) }
    }

    private final class Counter: Sendable {
        private let number = Guarded(0)

        var value: Int { number.withLock { $0 } }

        func add(_ count: Int) { number.withLock { $0 += count } }
    }

    @Test("Of many failed attempts, the first ten and the latest hundred are kept")
    func attempts() async throws {
        let count = Counter()
        let body = AsyncOperation<Void> { context in
            if context.attempt < 3_000 { throw Payload(count) }
        }
        body.retry(.immediately, attempts: .max)
        let queue = AsyncOperationQueue()
        try await within { try await queue.run(body) }
        #expect(count.value == 110)
        #expect(body.attempts.map(\.number) == Array(1...10) + Array(2_900...3_000))
        #expect(body.attempts.last?.error == nil)
        let few = AsyncOperation<Void> { throw Payload(count) }.retry(.immediately, attempts: 60)
        _ = try? await queue.run(few)
        #expect(few.attempts.map(\.number) == Array(1...60))
        #expect(few.attempts.allSatisfy { $0.error != nil })
    }

    @Test("A finished operation releases its executor", arguments: [true, false])
    func executor(endsEarly: Bool) async throws {
        let queue = AsyncOperationQueue()
        var executor: ThreadExecutor? = ThreadExecutor(threads: 1)
        weak let watched = executor
        let operation = AsyncOperation("named") { 1 }
        operation.executor = executor
        executor = nil
        #expect(watched != nil)
        if endsEarly { operation.cancel() }
        _ = try? await queue.run(operation)
        await queue.waitUntilIdle()
        while watched != nil { await Task.yield() }
        #expect(operation.executor == nil)
        #expect(operation.name == "named")
    }

    @Test("A finished operation releases the operations that its body did not await")
    func leftWaits() async throws {
        let queue = AsyncOperationQueue()
        weak var watched: AnyOperation?
        let parent = AsyncOperation<Int> { context in
            let child = AsyncOperation { 1 }
            return try await context.run(child)
        }
        do {
            let dependency = AsyncOperation {}
            watched = dependency
            parent.addDependency(dependency, on: .success)
            dependency.add(to: queue)
        }
        _ = try await queue.run(parent)
        await queue.waitUntilIdle()
        #expect(watched == nil)
        #expect(parent.dependencies.isEmpty)
    }
}
