import Testing

@testable import Baton

@Suite struct TimeSourceTests {
    /// It is read past Swift, which must not change what is read: what passes on it is not less than what passes
    /// between two readings of Swift's own that it encloses, nor more than between two that enclose it.
    @Test func continuousTimeIsThatOfSwiftsClock() {
        let time = TimeSource(ContinuousClock())
        for _ in 0..<100 {
            let outerStart = ContinuousClock.now
            let start = time.now
            let innerStart = ContinuousClock.now
            while innerStart.duration(to: .now) < .microseconds(50) {}
            let innerEnd = ContinuousClock.now
            let end = time.now
            let outerEnd = ContinuousClock.now
            #expect(end - start >= innerStart.duration(to: innerEnd))
            #expect(end - start <= outerStart.duration(to: outerEnd))
        }
    }
}
