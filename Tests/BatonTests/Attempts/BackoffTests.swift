import BatonTesting
import Testing

@testable import Baton

struct BackoffTests {
    private let error = OperationError.failed(Oops())

    private func delays(_ backoff: Backoff, _ count: Int = 4) -> [Duration] {
        (1...count).map { backoff.delay(after: $0, error: error) }
    }

    @Test func growthIsAsNamed() {
        #expect(delays(.immediately) == [.zero, .zero, .zero, .zero])
        #expect(delays(.constant(.seconds(2))) == Array(repeating: .seconds(2), count: 4))
        #expect(delays(.linear(from: .seconds(1))) == [.seconds(1), .seconds(2), .seconds(3), .seconds(4)])
        #expect(
            delays(.linear(from: .seconds(1), by: .seconds(5))) == [
                .seconds(1), .seconds(6), .seconds(11), .seconds(16),
            ])
        #expect(delays(.exponential(from: .seconds(1))) == [.seconds(1), .seconds(2), .seconds(4), .seconds(8)])
        #expect(
            delays(.exponential(from: .seconds(1), factor: 10)) == [
                .seconds(1), .seconds(10), .seconds(100), .seconds(1000),
            ])
    }

    @Test("Delays are exact, so that advancing the clock by a delay wakes the operation that waits for it")
    func exactDelays() {
        let exponential = delays(.exponential(from: .milliseconds(100)), 30)
        #expect(exponential == (0..<30).map { .milliseconds(100 << $0) }.map { min($0, .seconds(365 * 24 * 60 * 60)) })
        #expect(delays(.exponential(from: .milliseconds(1), factor: 3), 12).last == .milliseconds(177_147))
        #expect(delays(.exponential(from: .milliseconds(16), factor: 1.5), 5).last == .milliseconds(81))
        #expect(delays(.linear(from: .milliseconds(100)), 1000) == (1...1000).map { .milliseconds(100 * $0) })
        let half = Backoff.constant(.milliseconds(102_300)).jittered { $0.upperBound / 2 }
        #expect(delays(half, 1) == [.milliseconds(51_150)])
    }

    @Test func aCapIsTheLongest() {
        #expect(
            delays(.exponential(from: .seconds(1)).capped(at: .seconds(3))) == [
                .seconds(1), .seconds(2), .seconds(3), .seconds(3),
            ])
    }

    @Test func fullJitterIsDrawnFromTheWholeDelay() {
        let backoff = Backoff.exponential(from: .seconds(2)).jittered { range in
            #expect(range.lowerBound == 0)
            return range.upperBound / 2
        }
        #expect(delays(backoff) == [.seconds(1), .seconds(2), .seconds(4), .seconds(8)])
        let random = Backoff.constant(.seconds(1)).jittered()
        for delay in delays(random, 1000) { #expect(delay >= .zero && delay <= .seconds(1)) }
        #expect(Set(delays(random, 1000)).count > 900)
    }

    @Test func aGeneratorThatIsOutOfItsRangeDoesNoHarm() {
        #expect(delays(.constant(.seconds(1)).jittered { _ in 99 }, 1) == [.seconds(1)])
        #expect(delays(.constant(.seconds(1)).jittered { _ in -99 }, 1) == [.zero])
        #expect(delays(.constant(.seconds(1)).jittered { _ in .nan }, 1) == [.seconds(1)])
        #expect(delays(.constant(.seconds(1)).jittered { _ in .infinity }, 1) == [.seconds(1)])
    }

    @Test func theDelayInTheErrorIsHonoured() {
        let backoff = Backoff.constant(.seconds(1)).capped(at: .seconds(2)).honoring { error in
            error.underlyingError is Oops ? .seconds(30) : nil
        }
        #expect(backoff.delay(after: 1, error: error) == .seconds(30))
        #expect(backoff.delay(after: 1, error: .callbackDropped) == .seconds(1))
        #expect(Backoff.immediately.honoring { _ in .seconds(-5) }.delay(after: 1, error: error) == .zero)
    }

    @Test("An error about which a hint says nothing is left to the hint before it")
    func hintsAreCombined() {
        let backoff = Backoff.constant(.seconds(1))
            .honoring { $0.underlyingError is Oops ? .seconds(30) : .seconds(20) }
            .honoring { $0.underlyingError is Oops ? nil : .seconds(10) }
        #expect(backoff.delay(after: 1, error: error) == .seconds(30))
        #expect(backoff.delay(after: 1, error: .callbackDropped) == .seconds(10))
    }

    @Test func eachWishKeepsTheOthers() {
        let linear = Backoff.linear(from: .seconds(2))
        let half: @Sendable (ClosedRange<Double>) -> Double = { $0.upperBound / 2 }
        let requested: @Sendable (OperationError) -> Duration? = { $0.underlyingError is Oops ? nil : .seconds(30) }
        let orders = [
            linear.capped(at: .seconds(6)).jittered(using: half).honoring(requested),
            linear.jittered(using: half).honoring(requested).capped(at: .seconds(6)),
            linear.honoring(requested).capped(at: .seconds(6)).jittered(using: half),
        ]
        for backoff in orders {
            #expect(delays(backoff) == [.seconds(1), .seconds(2), .seconds(3), .seconds(3)])
            #expect(backoff.delay(after: 1, error: .callbackDropped) == .seconds(30))
        }
    }

    @Test func nothingOverflows() {
        let year = Duration.seconds(365 * 24 * 60 * 60)
        #expect(Backoff.exponential(from: .seconds(1)).delay(after: .max, error: error) == year)
        #expect(Backoff.linear(from: .seconds(Int64.max)).delay(after: .max, error: error) == year)
        #expect(Backoff.exponential(from: .seconds(1), factor: .infinity).delay(after: 2, error: error) == year)
        #expect(Backoff.exponential(from: .seconds(1), factor: .nan).delay(after: 9, error: error) == .seconds(1))
        #expect(Backoff.exponential(from: .seconds(1), factor: 0.1).delay(after: 9, error: error) == .seconds(1))
        #expect(Backoff.exponential(from: .zero).delay(after: .max, error: error) == .zero)
        #expect(Backoff.constant(.seconds(1)).delay(after: 0, error: error) == .seconds(1))
    }

    @Test func negativeOnesCountAsZero() {
        for backoff in [
            Backoff.constant(.seconds(-1)), .linear(from: .zero, by: .seconds(-1)), .exponential(from: .seconds(-1)),
            .constant(.seconds(1)).capped(at: .seconds(-1)),
        ] {
            #expect(backoff.isNegative)
            #expect(backoff.delay(after: 3, error: error) == .zero)
        }
        #expect(!Backoff.linear(from: .seconds(1)).isNegative)
    }

    @Test func capturesOfABackoffAreReleasedOutsideTheLock() {
        let operation = AsyncOperation("retried") {}
        let states = EventLog<OperationState>()
        var captured: Release? = Release { [weak operation] in states(operation?.state ?? .finished) }
        operation.retry(.immediately.honoring { [captured] _ in captured == nil ? .zero : nil }, attempts: 2)
        captured = nil
        #expect(states.events == [])
        operation.retry(.immediately, attempts: 3)
        #expect(states.events == [.created])
    }
}
