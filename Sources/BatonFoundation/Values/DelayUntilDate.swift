public import Baton
public import Foundation

extension AnyOperation {
    /// Starts the operation no sooner than at `date`.
    ///
    /// The wall clock is read once, when the dependencies have finished and it has its turn; from then on, what is left
    /// is a duration on the queue's clock. So it does not follow the wall clock when somebody sets that meanwhile. A
    /// date that has passed is not waited for, one that never comes is waited for until a cancel. It holds no permit of
    /// its queue meanwhile.
    ///
    /// Otherwise it is as `delay(_:)` says.
    @discardableResult
    public final func delay(until date: Date, file: StaticString = #fileID, line: UInt = #line) -> Self {
        delay(until: date, now: { Date() }, file: file, line: line)
    }

    @discardableResult
    package final func delay(
        until date: Date, now: @escaping @Sendable () -> Date, file: StaticString = #fileID, line: UInt = #line
    ) -> Self {
        delay(asking: { date.duration(since: now()) }, file: file, line: line)
    }
}

extension AsyncOperation where Output == Void {
    /// An operation that finishes at `date`, or when its dependencies have finished, if that is later.
    ///
    /// It waits as ``Baton/AnyOperation/delay(until:file:line:)`` does.
    public static func delay(until date: Date) -> AsyncOperation<Void> { delay(until: date, now: { Date() }) }

    package static func delay(until date: Date, now: @escaping @Sendable () -> Date) -> AsyncOperation<Void> {
        AsyncOperation("delay") {}.delay(until: date, now: now)
    }
}

extension AsyncOperation {
    /// A new operation with this one's output, at `date`, or when this one has finished, if that is later.
    ///
    /// It waits as ``Baton/AnyOperation/delay(until:file:line:)`` does. If this one has no output, it does not wait.
    public func delayed(until date: Date) -> AsyncOperation<Output> { delayed(until: date, now: { Date() }) }

    package func delayed(until date: Date, now: @escaping @Sendable () -> Date) -> AsyncOperation<Output> {
        AsyncOperation("delay", self) { $0 }.delay(until: date, now: now)
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
