public import Baton
public import Foundation

extension AnyOperation {
    /// Starts the operation no sooner than at `date`.
    ///
    /// The operation reads the wall clock once, when its dependencies have finished and its queue has a permit for it.
    /// From then on it waits for the remaining duration on the queue's clock, without holding the permit, so later
    /// changes of the wall clock have no effect. If the date has passed, the operation does not wait. If the date is
    /// infinitely far away, it waits until it is cancelled.
    ///
    /// In all other respects this method behaves like `delay(_:)`.
    ///
    /// - Parameter date: The earliest time of the start.
    /// - Returns: This operation.
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
    /// Creates an operation that finishes at `date`, or when its dependencies have finished, if that is later.
    ///
    /// It waits as ``Baton/AnyOperation/delay(until:file:line:)`` does.
    ///
    /// - Parameter date: The earliest time of the end.
    /// - Returns: The operation.
    public static func delay(until date: Date) -> AsyncOperation<Void> { delay(until: date, now: { Date() }) }

    package static func delay(until date: Date, now: @escaping @Sendable () -> Date) -> AsyncOperation<Void> {
        AsyncOperation("delay") {}.delay(until: date, now: now)
    }
}

extension AsyncOperation {
    /// Creates an operation with the output of this one that finishes at `date`, or with this one, if that is later.
    ///
    /// It waits as ``Baton/AnyOperation/delay(until:file:line:)`` does. If this operation has no output, the new one
    /// does not wait.
    ///
    /// - Parameter date: The earliest time of the end.
    /// - Returns: The new operation.
    public func delayed(until date: Date) -> AsyncOperation<Output> { delayed(until: date, now: { Date() }) }

    package func delayed(until date: Date, now: @escaping @Sendable () -> Date) -> AsyncOperation<Output> {
        AsyncOperation("delay", self) { $0 }.delay(until: date, now: now)
    }
}

extension Date {
    /// The longest duration, in seconds: about 30,000 years. A date may be infinite, but a `Duration` must not exceed
    /// about 5 · 10¹² years.
    private static let longest = 1e12

    fileprivate func duration(since now: Date) -> Duration {
        let seconds = timeIntervalSince(now)
        // A date that is not a number counts as one that has passed.
        return seconds > 0 ? .seconds(min(seconds, Self.longest)) : .zero
    }
}
