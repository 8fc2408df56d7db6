import Testing

@testable import Baton

/// Wraps a counter in a class, because `#expect` copies the values that it captures.
private final class CounterBox {
    private let wrapped = DependencyCounter()

    var isZero: Bool { wrapped.isZero }

    func expectOneMore() { wrapped.expectOneMore() }
    func linked(to sources: Int) -> DependencyCounter.Linked { wrapped.linked(to: sources) }
    func countDown() -> DependencyCounter.CountDownResult { wrapped.countDown() }
    func holdUnlessZero() -> Bool { wrapped.holdUnlessZero() }
    func leaveEndToLinking() -> Bool { wrapped.leaveEndToLinking() }
    func noteAwaited() { wrapped.noteAwaited() }
}

@Suite struct DependencyCounterTests {
    @Test func withoutSourcesLinkingMakesItReady() {
        let counter = CounterBox()
        #expect(!counter.isZero)
        #expect(counter.linked(to: 0).isReady)
        #expect(counter.isZero)
    }

    @Test(arguments: 1...4) func theLastSourceMakesItReady(count: Int) {
        let counter = CounterBox()
        #expect(!counter.linked(to: count).isReady)
        for left in (0..<count).reversed() {
            #expect(!counter.isZero)
            #expect(counter.countDown() == (left == 0 ? .ready : .waiting))
        }
        #expect(counter.isZero)
    }

    @Test("Sources that finish while the operation is being linked count", arguments: 0...3)
    func earlySources(early: Int) {
        let counter = CounterBox()
        for _ in 0..<early {
            #expect(counter.countDown() == .waiting, "Only the linking thread may report .ready.")
            #expect(!counter.isZero)
        }
        #expect(counter.linked(to: 3).isReady == (early == 3))
        for left in (0..<3 - early).reversed() {
            #expect(counter.countDown() == (left == 0 ? .ready : .waiting))
        }
        #expect(counter.isZero)
    }

    @Test("A hold that is not a dependency delays readiness")
    func holdWithoutDependency() {
        let counter = CounterBox()
        counter.expectOneMore()
        #expect(!counter.linked(to: 1).isReady)
        #expect(counter.countDown() == .waiting)
        #expect(counter.countDown() == .ready)
    }

    @Test("An end while the operation is being linked is left to the linking thread")
    func endWhileLinking() {
        let counter = CounterBox()
        #expect(counter.leaveEndToLinking())
        let linked = counter.linked(to: 1)
        #expect(linked.wasEnded && !linked.isReady && !linked.wasAwaited)
        #expect(!counter.isZero)
        #expect(counter.countDown() == .ended, "The mark of the end does not disturb the count.")
        #expect(counter.isZero)
    }

    @Test("An end after the linking is left to the caller")
    func endAfterLinking() {
        let counter = CounterBox()
        #expect(!counter.linked(to: 1).wasEnded)
        #expect(!counter.leaveEndToLinking())
        #expect(counter.countDown() == .ended)
    }

    @Test("A counter that a thread holds reaches zero only when that thread counts down")
    func heldCount() {
        let counter = CounterBox()
        _ = counter.linked(to: 2)
        _ = counter.leaveEndToLinking()
        #expect(counter.holdUnlessZero())
        #expect(counter.countDown() == .waiting)
        #expect(counter.countDown() == .waiting, "The holder has not counted down yet.")
        #expect(counter.countDown() == .ended)
        #expect(!counter.holdUnlessZero(), "A counter that has reached zero cannot be held.")
        #expect(counter.isZero)
    }

    @Test("A dependent is recorded only while the operation is being linked")
    func dependentWhileLinking() {
        let early = CounterBox()
        early.noteAwaited()
        early.noteAwaited()
        let linked = early.linked(to: 1)
        #expect(linked.wasAwaited && !linked.wasEnded && !linked.isReady)
        #expect(early.countDown() == .ready)

        let late = CounterBox()
        #expect(!late.linked(to: 1).wasAwaited)
        late.noteAwaited()
        #expect(late.countDown() == .ready)
        #expect(late.isZero)
    }
}

/// An operation that is linked to its sources, whose sources finish, and that is ended early, all at the same time.
@Suite struct DependencyCounterInterleavingTests {
    private final class Scenario {
        let counter = DependencyCounter()
        /// For each source, whether its list has the operation, and whether it has finished. Each is guarded by the
        /// source's lock.
        var isRegistered: [Bool]
        var hasFinished: [Bool]
        var links = 0
        /// How often a thread was told to make the operation ready, and to release it after an early end.
        var readied = 0
        var released = 0

        var isZero: Bool { counter.isZero }

        init(sources: Int) {
            isRegistered = Array(repeating: false, count: sources)
            hasFinished = isRegistered
        }

        func note(_ step: DependencyCounter.CountDownResult) {
            switch step {
            case .waiting: break
            case .ready: readied += 1
            case .ended: released += 1
            }
        }

        /// The steps of ``AnyOperation/unlinkFromSources()``.
        func unlink(_ steps: Steps) {
            steps.append { [self] in if counter.holdUnlessZero() { leaveLists(steps, from: 0) } }
        }

        private func leaveLists(_ steps: Steps, from source: Int) {
            if source == isRegistered.count { return steps.append { [self] in note(counter.countDown()) } }
            steps.append { [self] in
                if isRegistered[source] {
                    isRegistered[source] = false
                    steps.append { [self] in
                        note(counter.countDown())
                        leaveLists(steps, from: source + 1)
                    }
                } else {
                    leaveLists(steps, from: source + 1)
                }
            }
        }

        func linkingThread() -> Steps {
            let steps = Steps()
            for source in isRegistered.indices {
                steps.append { [self] in
                    if hasFinished[source] { return }
                    isRegistered[source] = true
                    links += 1
                }
            }
            steps.append { [self] in
                let linked = counter.linked(to: links)
                if linked.wasEnded {
                    if linked.isReady { released += 1 }
                    unlink(steps)
                } else if linked.isReady {
                    readied += 1
                }
            }
            return steps
        }

        func finish(of source: Int) -> Steps {
            let steps = Steps()
            steps.append { [self] in
                hasFinished[source] = true
                guard isRegistered[source] else { return }
                isRegistered[source] = false
                steps.append { [self] in note(counter.countDown()) }
            }
            return steps
        }

        func earlyEnd() -> Steps {
            let steps = Steps()
            steps.append { [self] in if !counter.leaveEndToLinking() { unlink(steps) } }
            return steps
        }
    }

    @Test("An operation becomes ready once, in whatever order its sources finish", arguments: 0...2)
    func ready(sources: Int) {
        exploreInterleavings {
            let scenario = Scenario(sources: sources)
            let threads = [scenario.linkingThread()] + (0..<sources).map { scenario.finish(of: $0) }
            return (
                threads,
                { order in
                    #expect(scenario.readied == 1 && scenario.released == 0, "\(order)")
                    #expect(scenario.isZero)
                }
            )
        }
    }

    @Test("An operation that ends early is released once or becomes ready once, in whatever order", arguments: 0...2)
    func ended(sources: Int) {
        exploreInterleavings {
            let scenario = Scenario(sources: sources)
            let threads =
                [scenario.linkingThread(), scenario.earlyEnd()] + (0..<sources).map { scenario.finish(of: $0) }
            return (
                threads,
                { order in
                    #expect(scenario.readied + scenario.released == 1, "\(order)")
                    #expect(scenario.isZero, "\(order)")
                }
            )
        }
    }
}
