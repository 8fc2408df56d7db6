import Testing

@testable import Baton

/// Wraps a counter in a class, because `#expect` copies the values that it captures.
private final class CountdownRig {
    private let dependencyCounter = DependencyCounter()

    var isZero: Bool { dependencyCounter.isZero }

    func expectOneMore() { dependencyCounter.expectOneMore() }
    func linked(to sources: Int) -> DependencyCounter.Linked { dependencyCounter.linked(to: sources) }
    func countDown() -> DependencyCounter.Step { dependencyCounter.countDown() }
    func holdUnlessZero() -> Bool { dependencyCounter.holdUnlessZero() }
    func leaveEndToLinking() -> Bool { dependencyCounter.leaveEndToLinking() }
    func noteAwaited() { dependencyCounter.noteAwaited() }
}

@Suite struct DependencyCounterTests {
    @Test func withoutSourcesLinkingMakesItReady() {
        let dependencyCounter = CountdownRig()
        #expect(!dependencyCounter.isZero)
        #expect(dependencyCounter.linked(to: 0).isReady)
        #expect(dependencyCounter.isZero)
    }

    @Test(arguments: 1...4) func theLastSourceMakesItReady(count: Int) {
        let dependencyCounter = CountdownRig()
        #expect(!dependencyCounter.linked(to: count).isReady)
        for left in (0..<count).reversed() {
            #expect(!dependencyCounter.isZero)
            #expect(dependencyCounter.countDown() == (left == 0 ? .ready : .waiting))
        }
        #expect(dependencyCounter.isZero)
    }

    /// The first `early` of three sources finish while the operation is being linked.
    @Test(arguments: 0...3) func sourcesThatCameEarlyCountToo(early: Int) {
        let dependencyCounter = CountdownRig()
        for _ in 0..<early {
            #expect(dependencyCounter.countDown() == .waiting, "The linking thread makes it ready.")
            #expect(!dependencyCounter.isZero)
        }
        #expect(dependencyCounter.linked(to: 3).isReady == (early == 3))
        for left in (0..<3 - early).reversed() {
            #expect(dependencyCounter.countDown() == (left == 0 ? .ready : .waiting))
        }
        #expect(dependencyCounter.isZero)
    }

    @Test func readyIsSaidOnce() {
        let dependencyCounter = CountdownRig()
        #expect(dependencyCounter.countDown() == .waiting)
        #expect(!dependencyCounter.linked(to: 2).isReady)
        #expect(dependencyCounter.countDown() == .ready)
    }

    @Test func oneThatIsNoSourceCountsToo() {
        let dependencyCounter = CountdownRig()
        dependencyCounter.expectOneMore()
        #expect(!dependencyCounter.linked(to: 1).isReady)
        #expect(dependencyCounter.countDown() == .waiting)
        #expect(dependencyCounter.countDown() == .ready)
    }

    @Test func anEndThatComesWhileLinkingIsLeftToIt() {
        let dependencyCounter = CountdownRig()
        #expect(dependencyCounter.leaveEndToLinking())
        let linked = dependencyCounter.linked(to: 1)
        #expect(linked.wasEnded && !linked.isReady && !linked.wasAwaited)
        #expect(!dependencyCounter.isZero)
        #expect(dependencyCounter.countDown() == .ended, "The mark of the end does not disturb the count.")
        #expect(dependencyCounter.isZero)
    }

    @Test func anEndThatComesLaterIsTheCallers() {
        let dependencyCounter = CountdownRig()
        #expect(!dependencyCounter.linked(to: 1).wasEnded)
        #expect(!dependencyCounter.leaveEndToLinking())
        #expect(dependencyCounter.countDown() == .ended)
    }

    @Test("A counter that a thread holds reaches zero only when that thread counts down")
    func heldCount() {
        let dependencyCounter = CountdownRig()
        _ = dependencyCounter.linked(to: 2)
        _ = dependencyCounter.leaveEndToLinking()
        #expect(dependencyCounter.holdUnlessZero())
        #expect(dependencyCounter.countDown() == .waiting)
        #expect(dependencyCounter.countDown() == .waiting, "The sources have gone, and the holder has not.")
        #expect(dependencyCounter.countDown() == .ended)
        #expect(!dependencyCounter.holdUnlessZero(), "Somebody has found that nothing is left.")
        #expect(dependencyCounter.isZero)
    }

    @Test func aDependentIsNotedOnlyWhileLinking() {
        let early = CountdownRig()
        early.noteAwaited()
        early.noteAwaited()
        let linked = early.linked(to: 1)
        #expect(linked.wasAwaited && !linked.wasEnded && !linked.isReady)
        #expect(early.countDown() == .ready)

        let late = CountdownRig()
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

        func note(_ step: DependencyCounter.Step) {
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
