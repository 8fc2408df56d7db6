import Testing

@testable import Baton

/// `#expect` wants to copy what it looks at.
private final class CountdownRig {
    private let countdown = Countdown()

    var isZero: Bool { countdown.isZero }

    func expectOneMore() { countdown.expectOneMore() }
    func linked(to sources: Int) -> Countdown.Linked { countdown.linked(to: sources) }
    func countDown() -> Bool { countdown.countDown() }
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
            #expect(countdown.countDown() == (left == 0))
        }
        #expect(countdown.isZero)
    }

    /// Of three sources, so many come while it is linking.
    @Test(arguments: 0...3) func sourcesThatCameEarlyCountToo(early: Int) {
        let countdown = CountdownRig()
        for _ in 0..<early {
            #expect(!countdown.countDown(), "The linking thread makes it ready.")
            #expect(!countdown.isZero)
        }
        #expect(countdown.linked(to: 3).isReady == (early == 3))
        for left in (0..<3 - early).reversed() { #expect(countdown.countDown() == (left == 0)) }
        #expect(countdown.isZero)
    }

    @Test func readyIsSaidOnce() {
        let countdown = CountdownRig()
        #expect(!countdown.countDown())
        #expect(!countdown.linked(to: 2).isReady)
        #expect(countdown.countDown())
    }

    @Test func oneThatIsNoSourceCountsToo() {
        let countdown = CountdownRig()
        countdown.expectOneMore()
        #expect(!countdown.linked(to: 1).isReady)
        #expect(!countdown.countDown())
        #expect(countdown.countDown())
    }

    @Test func anEndThatComesWhileLinkingIsLeftToIt() {
        let countdown = CountdownRig()
        #expect(countdown.leaveEndToLinking())
        let linked = countdown.linked(to: 1)
        #expect(linked.wasEnded && !linked.isReady && !linked.wasAwaited)
        #expect(!countdown.isZero)
        #expect(countdown.countDown(), "The mark of the end does not disturb the count.")
        #expect(countdown.isZero)
    }

    @Test func anEndThatComesLaterIsTheCallers() {
        let countdown = CountdownRig()
        #expect(!countdown.linked(to: 1).wasEnded)
        #expect(!countdown.leaveEndToLinking())
        #expect(countdown.countDown())
    }

    @Test func aDependentIsNotedOnlyWhileLinking() {
        let early = CountdownRig()
        early.noteAwaited()
        early.noteAwaited()
        let linked = early.linked(to: 1)
        #expect(linked.wasAwaited && !linked.wasEnded && !linked.isReady)
        #expect(early.countDown())

        let late = CountdownRig()
        #expect(!late.linked(to: 1).wasAwaited)
        late.noteAwaited()
        #expect(late.countDown())
        #expect(late.isZero)
    }
}
