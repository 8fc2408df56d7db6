import Testing

@testable import Baton

@Suite struct SliceTests {
    @Test func countingItIsOverAfterEverySixtyFour() {
        var slice = TimeSlice(byCount: true)
        for _ in 0..<3 {
            for _ in 1..<64 { #expect(slice.isOver() == false) }
            #expect(slice.isOver() == true)
            slice.restart()
        }
    }

    /// The time slice does not read the clock after every operation, but at the latest after 32 operations.
    @Test func byTheClockItIsOverSooner() {
        var slice = TimeSlice(byCount: false)
        let end = ContinuousClock.now + .milliseconds(1)
        while ContinuousClock.now < end {}
        var count = 1
        while slice.isOver() == false { count += 1 }
        #expect(count <= 32)
    }
}
