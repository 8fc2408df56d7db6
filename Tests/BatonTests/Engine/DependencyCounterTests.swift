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
