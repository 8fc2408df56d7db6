public import Baton
public import Foundation

extension AsyncOperation where Output == Void {
    /// An operation that finishes at `date`, or when its dependencies have finished, if that is later.
    ///
    /// The wall clock is read once, when the dependencies have finished and it has its turn; from then on, what is left is a
    /// duration on the queue's clock. So it does not follow the wall clock when somebody sets that meanwhile. A date that has
    /// passed is not waited for, one that never comes is waited for until a cancel. It holds no slot of its queue meanwhile.
    public static func delay(until date: Date) -> AsyncOperation<Void> { delay(until: date, now: { Date() }) }

    package static func delay(until date: Date, now: @escaping @Sendable () -> Date) -> AsyncOperation<Void> {
        delay(asking: { date.duration(since: now()) })
    }
}

extension AsyncOperation {
    /// A new operation with this one's output, at `date`, or when this one has finished, if that is later.
    ///
    /// It waits as ``delay(until:)-(Date)`` does. If this one has no output, it does not wait.
    public func delay(until date: Date) -> AsyncOperation<Output> { delay(until: date, now: { Date() }) }

    package func delay(until date: Date, now: @escaping @Sendable () -> Date) -> AsyncOperation<Output> {
        delay(asking: { date.duration(since: now()) })
    }
}

extension Date {
    /// About 30,000 years. A date may be infinite, and a duration ends at 5 million million years.
    private static let longest = 1e12

    fileprivate func duration(since now: Date) -> Duration {
        let seconds = timeIntervalSince(now)
        // A date that is no number has passed.
        return seconds > 0 ? .seconds(min(seconds, Self.longest)) : .zero
    }
}
