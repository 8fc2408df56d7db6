import Testing

@testable import Baton

/// `#expect` wants to copy what it looks at.
private final class CountdownRig {
    private let countdown = Countdown()

    var isZero: Bool { countdown.isZero }

    func expectOneMore() { countdown.expectOneMore() }
    func linked(to sources: Int) -> Countdown.Linked { countdown.linked(to: sources) }
    func countDown() -> Countdown.Step { countdown.countDown() }
    func holdUnlessZero() -> Bool { countdown.holdUnlessZero() }
    func leaveEndToLinking() -> Bool { countdown.leaveEndToLinking() }
    func noteAwaited() { countdown.noteAwaited() }
}

@Suite struct CountdownTests {
    @Test func withoutSourcesLinkingMakesItReady() {
        let countdown = CountdownRig()
        #expect(!countdown.isZero)
        #expect(countdown.linked(to: 0).isReady)
        #expect(countdown.isZero)
    }

    @Test(arguments: 1...4) func theLastSourceMakesItReady(count: Int) {
        let countdown = CountdownRig()
        #expect(!countdown.linked(to: count).isReady)
        for left in (0..<count).reversed() {
            #expect(!countdown.isZero)
            #expect(countdown.countDown() == (left == 0 ? .ready : .waiting))
        }
        #expect(countdown.isZero)
    }

    /// Of three sources, so many come while it is linking.
    @Test(arguments: 0...3) func sourcesThatCameEarlyCountToo(early: Int) {
        let countdown = CountdownRig()
        for _ in 0..<early {
            #expect(countdown.countDown() == .waiting, "The linking thread makes it ready.")
            #expect(!countdown.isZero)
        }
        #expect(countdown.linked(to: 3).isReady == (early == 3))
        for left in (0..<3 - early).reversed() {
            #expect(countdown.countDown() == (left == 0 ? .ready : .waiting))
        }
        #expect(countdown.isZero)
    }

    @Test func readyIsSaidOnce() {
        let countdown = CountdownRig()
        #expect(countdown.countDown() == .waiting)
        #expect(!countdown.linked(to: 2).isReady)
        #expect(countdown.countDown() == .ready)
    }

    @Test func oneThatIsNoSourceCountsToo() {
        let countdown = CountdownRig()
        countdown.expectOneMore()
        #expect(!countdown.linked(to: 1).isReady)
        #expect(countdown.countDown() == .waiting)
        #expect(countdown.countDown() == .ready)
    }

    @Test func anEndThatComesWhileLinkingIsLeftToIt() {
        let countdown = CountdownRig()
        #expect(countdown.leaveEndToLinking())
        let linked = countdown.linked(to: 1)
        #expect(linked.wasEnded && !linked.isReady && !linked.wasAwaited)
        #expect(!countdown.isZero)
        #expect(countdown.countDown() == .ended, "The mark of the end does not disturb the count.")
        #expect(countdown.isZero)
    }

    @Test func anEndThatComesLaterIsTheCallers() {
        let countdown = CountdownRig()
        #expect(!countdown.linked(to: 1).wasEnded)
        #expect(!countdown.leaveEndToLinking())
        #expect(countdown.countDown() == .ended)
    }

    @Test("Whoever holds the count is the one who brings it to zero")
    func heldCount() {
        let countdown = CountdownRig()
        _ = countdown.linked(to: 2)
        _ = countdown.leaveEndToLinking()
        #expect(countdown.holdUnlessZero())
        #expect(countdown.countDown() == .waiting)
        #expect(countdown.countDown() == .waiting, "The sources have gone, and the holder has not.")
        #expect(countdown.countDown() == .ended)
        #expect(!countdown.holdUnlessZero(), "Somebody has found that nothing is left.")
        #expect(countdown.isZero)
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
