import Testing

@testable import Baton

@Suite struct TrampolineTests {
    @Test("Releases are nested no deeper than the limit")
    func depthIsLimited() {
        let meter = DepthMeter()
        var last = AsyncOperation {}
        for _ in 0..<1_000 {
            let chain = Chain(last, meter)
            last = AsyncOperation { chain.touch() }
        }
        last = AsyncOperation {}
        #expect(meter.count == 1_000)
        #expect(meter.most <= Int(Trampoline.deepest))
    }

    @Test("An operation that is released inside another release is gone when the statement that released it has ended")
    func releaseIsDoneAtOnce() {
        let meter = DepthMeter()
        weak var inner: AnyOperation?
        let wasGone = Locked(false)
        var outer = AsyncOperation {}
        do {
            let chain = Chain(AsyncOperation {}, meter)
            let operation = AsyncOperation { chain.touch() }
            inner = operation
            let last = Last(operation)
            last.didLetGo = { [weak inner] in wasGone.withLock { $0 = inner == nil } }
            outer = AsyncOperation { withExtendedLifetime(last) {} }
        }
        outer = AsyncOperation {}
        #expect(inner == nil)
        #expect(wasGone.withLock { $0 })
        withExtendedLifetime(outer) {}
    }

    @Test func aThreadThatHasBeenInsideIsOutsideAgain() {
        let stage = TestQueue(isSuspended: true)
        for _ in 0..<3 {
            let operation = stage.noting("operation")
            Trampoline.run(.cancel([operation], .because("of rain")))
            #expect(operation.ending == "cancelled because of rain")
        }
    }
}

/// Measures how deeply deinitializers are nested.
private final class DepthMeter: Sendable {
    private let state = Locked((now: 0, most: 0, count: 0))

    var most: Int { state.withLock { $0.most } }
    var count: Int { state.withLock { $0.count } }

    func enter() {
        state.withLock { state in
            state.now += 1
            state.count += 1
            state.most = max(state.most, state.now)
        }
    }

    func leave() { state.withLock { $0.now -= 1 } }
}

/// A user's object that a body captures, and that retains another operation.
private final class Chain: Sendable {
    private let next: Locked<AnyOperation?>
    private let meter: DepthMeter

    init(_ next: AnyOperation, _ meter: DepthMeter) {
        self.next = Locked(next)
        self.meter = meter
    }

    func touch() {}

    deinit {
        meter.enter()
        next.withLock { $0 = nil }
        meter.leave()
    }
}

/// Releases an operation in its deinitializer, and then calls a closure.
private final class Last: @unchecked Sendable {
    private var operation: AnyOperation?
    var didLetGo: () -> Void = {}

    init(_ operation: AnyOperation) { self.operation = operation }

    deinit {
        operation = nil
        didLetGo()
    }
}
