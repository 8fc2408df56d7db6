// The number of a guarantee begins the name of its tests.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import Baton
import Testing

/// A page of a paged interface: the output contains the operation that fetches the next page.
private struct Page: Sendable {
    let token: Token
    let next: AsyncOperation<Page>?
}

private final class PageObject: Sendable {
    let token: Token
    let next: AnyOperation?

    init(_ token: Token, _ next: AnyOperation?) {
        self.token = token
        self.next = next
    }
}

private struct PageError: Error {
    let token: Token
    let previous: AnyOperation?
}

/// How an operation retains the previous one.
enum Hold: CaseIterable {
    case outputStruct
    case outputObject
    case outputResult
    case outputArray
    case outputOptional
    case outputClosure
    case outputErased
    case error
    case errorOfAnAttempt
    case reasonOfASkip
    case nameAndOutput
    case join
    case replaced
    case capturedAndRun
    case capturedAndNeverRun
    case capturedByACondition
    case capturedByAHandler
    case capturedByARetry
    case capturedByARepetition
    case capturedByADelay
    case childOfAGroup
    case dependency
    case cancelledWithDependency

    /// Makes an operation that retains `previous`. It may be added to the queue or not, and need not have finished.
    fileprivate func make(after previous: AnyOperation?, _ token: Token, _ number: Int) -> AnyOperation {
        switch self {
        case .outputStruct:
            return AsyncOperation { Page(token: token, next: previous as? AsyncOperation<Page>) }
        case .outputObject: return AsyncOperation { PageObject(token, previous) }
        case .outputResult:
            return AsyncOperation { Result<PageObject, PageError>.success(PageObject(token, previous)) }
        case .outputArray: return AsyncOperation { [previous, nil] }
        case .outputOptional: return AsyncOperation { previous }
        case .outputClosure:
            return AsyncOperation<@Sendable () -> Void> {
                {
                    token.touch()
                    _ = previous
                }
            }
        case .outputErased: return AsyncOperation<any Sendable> { PageObject(token, previous) as any Sendable }
        case .error: return AsyncOperation<Void> { throw PageError(token: token, previous: previous) }
        case .errorOfAnAttempt:
            return AsyncOperation<Void> { context in
                if context.attempt == 1 { throw PageError(token: token, previous: previous) }
            }.retry(.immediately, attempts: 2)
        case .reasonOfASkip:
            let operation = AsyncOperation { token.touch() }
            if let previous { operation.addDependency(previous, on: .failure) }
            return operation
        case .nameAndOutput: return AsyncOperation("page \(number)") { PageObject(token, previous) }
        case .join:
            return AsyncOperation { PageObject(token, previous) }
                .unique(by: "page \(number)", in: "release", policy: .join)
        case .replaced:
            return AsyncOperation { token.touch() }.unique(by: "one", in: "release", policy: .replace)
        case .capturedAndRun, .capturedAndNeverRun:
            return AsyncOperation {
                token.touch()
                _ = previous
            }
        case .capturedByACondition:
            return AsyncOperation { token.touch() }.addCondition("holds") { _ in
                _ = previous
                return .satisfied
            }
        case .capturedByAHandler: return AsyncOperation { token.touch() }.didCancel { _ in _ = previous }
        case .capturedByARetry:
            return AsyncOperation { token.touch() }.retry(.immediately, attempts: 2) { _ in previous == nil }
        case .capturedByARepetition:
            return AsyncOperation { token.touch() }.repeat(every: .seconds(1)) { _ in
                _ = previous
                return true
            }
        case .capturedByADelay:
            let delay = (previous as? AsyncOperation<Void>)?.delayed(by: .zero)
            return delay ?? AsyncOperation { token.touch() }
        case .childOfAGroup: return GroupOperation(previous.map { [$0] } ?? [AsyncOperation { token.touch() }])
        case .dependency, .cancelledWithDependency:
            let operation = AsyncOperation { token.touch() }
            if let previous { operation.addDependency(previous) }
            return operation
        }
    }
}

@Suite("Releases of linked operations", .timeLimit(.minutes(10)))
struct ReleaseTests {
    /// Debug builds are slow, and a shorter chain overflows their stack as well.
    #if DEBUG
        private static let length = 20_000
    #else
        private static let length = 1_000_000
    #endif

    /// The stack size of a secondary thread on Apple platforms, in bytes. Frames under a sanitizer are several times as
    /// large.
    #if BATON_SANITIZED
        private static let stackSize = 4 * 512 * 1024
    #else
        private static let stackSize = 512 * 1024
    #endif

    private final class Box: Sendable {
        let last = Guarded<AnyOperation?>(nil)

        /// Releases the operation on the calling thread.
        func empty() {
            let last = last.withLock { $0.take() }
            withExtendedLifetime(last) {}
        }
    }

    @Test("A chain is released in a loop, whatever links it", arguments: Hold.allCases, [false, true])
    func G32_aChainWhateverLinksIt(hold: Hold, runs: Bool) async throws {
        if runs, hold == .capturedAndNeverRun || hold == .capturedByADelay || hold == .childOfAGroup { return }
        if !runs, hold == .capturedAndRun { return }
        try await within(.seconds(300)) {
            let tokens = Tokens()
            let box = Box()
            let queue = AsyncOperationQueue()
            do {
                var last: AnyOperation?
                for number in 0..<Self.length {
                    let operation = hold.make(after: last, tokens.make(), number)
                    if runs { queue.add(operation) }
                    last = operation
                }
                await queue.waitUntilIdle()
                if hold == .cancelledWithDependency { last?.cancel() }
                box.last.withLock { $0 = last }
            }
            await onOwnThread(stackSize: Self.stackSize) { box.empty() }
            await eventually { tokens.alive == 0 }
        }
    }

    @Test("Pages of pages are released in a loop by the owner of the first page")
    func G32_pagesOfPages() async throws {
        try await within(.seconds(300)) {
            let tokens = Tokens()
            let queue = AsyncOperationQueue()
            let page = Guarded<Page?>(nil)
            do {
                var last: AsyncOperation<Page>?
                for _ in 0..<Self.length {
                    let next = last
                    let token = tokens.make()
                    last = queue.add { Page(token: token, next: next) }
                }
                let first = try await last!.value
                await queue.waitUntilIdle()
                page.withLock { $0 = first }
            }
            #expect(tokens.alive == Self.length)
            await onOwnThread(stackSize: Self.stackSize) {
                let taken = page.withLock { $0.take() }
                withExtendedLifetime(taken) {}
            }
            #expect(tokens.alive == 0)
        }
    }

    @Test("Groups in groups that have run are released in a loop")
    func G32_groupsInGroupsThatHaveRun() async throws {
        try await within(.seconds(300)) {
            let tokens = Tokens()
            let box = Box()
            let queue = AsyncOperationQueue()
            do {
                var last: AnyOperation = AsyncOperation { tokens.make() }
                for _ in 0..<Self.length / 10 { last = GroupOperation([last]) }
                queue.add(last)
                await queue.waitUntilIdle()
                box.last.withLock { $0 = last }
            }
            await onOwnThread(stackSize: Self.stackSize) { box.empty() }
            #expect(tokens.alive == 0)
        }
    }

    @Test(
        "Operations whose objects cancel the next one when they are released end in a loop", arguments: Holder.allCases)
    func G32_objectsThatCancelWhenReleased(holder: Holder) async throws {
        try await within(.seconds(300)) {
            let queue = AsyncOperationQueue(isSuspended: true)
            let box = Box()
            do {
                var next: AnyOperation = AsyncOperation("last") {}
                queue.add(next)
                for _ in 0..<Self.length / 5 {
                    let object = ActsWhenReleased { [next] in next.cancel() }
                    next = holder.make(object)
                    // Otherwise the input would not be in the queue.
                    next.dependencies.forEach { queue.add($0) }
                    queue.add(next)
                }
                box.last.withLock { $0 = next }
            }
            await onOwnThread(stackSize: Self.stackSize) { box.last.withLock { $0.take() }?.cancel() }
            queue.cancelAll()
            await queue.waitUntilIdle()
        }
    }

    @Test("Operations that are added by releases and refused are released in a loop")
    func G32_objectsThatAddWhenReleased() async throws {
        try await within(.seconds(300)) {
            let queue = AsyncOperationQueue()
            await queue.drain()
            let box = Box()
            do {
                var next: AnyOperation = AsyncOperation("last") {}
                for _ in 0..<Self.length / 5 {
                    let object = ActsWhenReleased { [next] in queue.add(next) }
                    next = AsyncOperation { object.touch() }
                }
                box.last.withLock { $0 = next }
            }
            await onOwnThread(stackSize: Self.stackSize) {
                if let last = box.last.withLock({ $0.take() }) { queue.add(last) }
            }
            await queue.waitUntilIdle()
        }
    }

    @Test(
        "A chain of queues is released in a loop, however each holds the next one", arguments: QueueHold.allCases
    )
    func G32_queuesThatHoldQueues(hold: QueueHold) async throws {
        try await within(.seconds(300)) {
            let tokens = Tokens()
            let box = Guarded<AsyncOperationQueue?>(nil)
            do {
                var last: AsyncOperationQueue?
                for _ in 0..<Self.length / 5 { last = hold.make(after: last, tokens.make()) }
                box.withLock { $0 = last }
            }
            await onOwnThread(stackSize: Self.stackSize) {
                let taken = box.withLock { $0.take() }
                withExtendedLifetime(taken) {}
            }
            await eventually { tokens.alive == 0 }
        }
    }
}

/// Cancels or adds an operation when it is released.
private final class ActsWhenReleased: Sendable {
    private let act: @Sendable () -> Void

    init(_ act: @escaping @Sendable () -> Void) { self.act = act }

    deinit { act() }

    func touch() {}
}

/// The part of an operation that retains the object whose release ends the next operation.
enum Holder: CaseIterable, Sendable {
    case body, input, child, condition, didStart, didCancel, willFinish, retry, repetition, hint, uniqueKey

    fileprivate func make(_ object: ActsWhenReleased) -> AnyOperation {
        let operation = AsyncOperation {}
        switch self {
        case .body: return AsyncOperation { object.touch() }
        case .input: return AsyncOperation { object.touch() }.then {}
        case .child: return GroupOperation(AsyncOperation { object.touch() })
        case .condition:
            operation.addCondition("holds") { _ in
                object.touch()
                return .satisfied
            }
        case .didStart: operation.didStart { object.touch() }
        case .didCancel: operation.didCancel { _ in object.touch() }
        case .willFinish: operation.willFinish { _ in object.touch() }
        case .retry:
            operation.retry(.immediately, attempts: 2) { _ in
                object.touch()
                return true
            }
        case .repetition:
            operation.repeat(every: .seconds(1)) { _ in
                object.touch()
                return true
            }
        case .hint:
            operation.retry(
                .immediately.honoring { _ in
                    object.touch()
                    return nil
                }, attempts: 2)
        case .uniqueKey: operation.unique(by: HeldKey(object: object), in: "release")
        }
        return operation
    }
}

private struct HeldKey: Hashable, Sendable {
    let object: ActsWhenReleased

    static func == (left: HeldKey, right: HeldKey) -> Bool { left.object === right.object }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(object)) }
}

/// How a queue retains the previous one.
enum QueueHold: CaseIterable, Sendable {
    case body, condition, hook, misuseHandler, observer

    fileprivate func make(after previous: AsyncOperationQueue?, _ token: Token) -> AsyncOperationQueue {
        let queue = AsyncOperationQueue(isSuspended: true)
        let keep: @Sendable () -> Void = {
            token.touch()
            _ = previous
        }
        switch self {
        case .body: queue.add { keep() }
        case .condition:
            queue.add(
                AsyncOperation {}.addCondition("holds") { _ in
                    keep()
                    return .satisfied
                })
        case .hook:
            queue.around { _, body in
                keep()
                try await body()
            }
        case .misuseHandler: queue.onMisuse = { _ in keep() }
        case .observer: queue.addObserver(KeepingObserver(keep: keep))
        }
        return queue
    }
}

private struct KeepingObserver: OperationObserver {
    let keep: @Sendable () -> Void

    func observe(_ event: OperationEvent) async { keep() }
}
