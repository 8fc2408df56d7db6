import Testing

@testable import Baton

@Suite struct TrampolineTests {
    /// An operation's remains hold the next operation. Its deinit leaves them to the outermost call, so no deinit of theirs
    /// runs inside another.
    @Test func workInsideWorkIsLeftToTheOutermost() {
        let meter = DepthMeter()
        var last = AsyncOperation {}
        for _ in 0..<100 {
            let chain = Chain(last, meter)
            last = AsyncOperation { chain.touch() }
        }
        last = AsyncOperation {}
        #expect(meter.count == 100)
        #expect(meter.most == 1)
    }

    @Test func aThreadThatHasBeenInsideIsOutsideAgain() {
        let stage = Stage(isSuspended: true)
        for _ in 0..<3 {
            let operation = stage.noting("operation")
            Trampoline.run(.cancel([operation], .because("of rain")))
            #expect(operation.ending == "cancelled because of rain")
        }
    }
}

/// How many deinits run inside one another.
private final class DepthMeter: Sendable {
    private let state = LockedState((now: 0, most: 0, count: 0))

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

/// Something of the user's that lives in a body, and holds another operation.
private final class Chain: Sendable {
    private let next: LockedState<AnyOperation?>
    private let meter: DepthMeter

    init(_ next: AnyOperation, _ meter: DepthMeter) {
        self.next = LockedState(next)
        self.meter = meter
    }

    func touch() {}

    deinit {
        meter.enter()
        next.withLock { $0 = nil }
        meter.leave()
    }
}
