import Testing

@testable import Baton

@Suite struct TimeSourceTests {
    /// The engine reads the continuous clock without Swift, which must give the same time. An interval of the engine's
    /// is at least as long as one of Swift's clock inside it, and at most as long as one of Swift's clock around it.
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
