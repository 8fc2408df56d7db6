import Testing

@testable import Baton

/// `#expect` wants to copy what it looks at.
private final class CountdownRig {
    private let countdown = Countdown()

    var isZero: Bool { countdown.isZero }

    func expect(_ count: Int) { countdown.expect(count) }
    func linked(missed: Int) -> Countdown.Linked { countdown.linked(missed: missed) }
    func countDown() -> Bool { countdown.countDown() }
    func leaveEndToLinking() -> Bool { countdown.leaveEndToLinking() }
    func noteAwaited() { countdown.noteAwaited() }
}

@Suite struct CountdownTests {
    @Test func withoutSourcesLinkingMakesItReady() {
        let countdown = CountdownRig()
        #expect(!countdown.isZero)
        #expect(countdown.linked(missed: 0).isReady)
        #expect(countdown.isZero)
    }

    @Test(arguments: 1...4) func theLastSourceMakesItReady(count: Int) {
        let countdown = CountdownRig()
        countdown.expect(count)
        #expect(!countdown.linked(missed: 0).isReady)
        for left in (0..<count).reversed() {
            #expect(!countdown.isZero)
            #expect(countdown.countDown() == (left == 0))
        }
        #expect(countdown.isZero)
    }

    /// All ways in which two of three sources come while it is linking, early or missed.
    @Test(arguments: [(0, 3), (1, 2), (2, 1), (3, 0)]) func sourcesThatCameEarlyOrWereMissedCountToo(
        early: Int, missed: Int
    ) {
        let countdown = CountdownRig()
        countdown.expect(3)
        for _ in 0..<early { #expect(!countdown.countDown(), "The linking thread makes it ready.") }
        #expect(countdown.linked(missed: missed).isReady)
    }

    @Test func readyIsSaidOnce() {
        let countdown = CountdownRig()
        countdown.expect(2)
        #expect(!countdown.countDown())
        #expect(!countdown.linked(missed: 0).isReady)
        #expect(countdown.countDown())
    }

    @Test func anEndThatComesWhileLinkingIsLeftToIt() {
        let countdown = CountdownRig()
        countdown.expect(1)
        #expect(countdown.leaveEndToLinking())
        let linked = countdown.linked(missed: 0)
        #expect(linked.wasEnded && !linked.isReady && !linked.wasAwaited)
        #expect(!countdown.isZero)
        #expect(countdown.countDown(), "The mark of the end does not disturb the count.")
        #expect(countdown.isZero)
    }

    @Test func anEndThatComesLaterIsTheCallers() {
        let countdown = CountdownRig()
        countdown.expect(1)
        #expect(!countdown.linked(missed: 0).wasEnded)
        #expect(!countdown.leaveEndToLinking())
        #expect(countdown.countDown())
    }

    @Test func aDependentIsNotedOnlyWhileLinking() {
        let early = CountdownRig()
        early.expect(1)
        early.noteAwaited()
        early.noteAwaited()
        let linked = early.linked(missed: 0)
        #expect(linked.wasAwaited && !linked.wasEnded && !linked.isReady)
        #expect(early.countDown())

        let late = CountdownRig()
        late.expect(1)
        #expect(!late.linked(missed: 0).wasAwaited)
        late.noteAwaited()
        #expect(late.countDown())
        #expect(late.isZero)
    }
}
