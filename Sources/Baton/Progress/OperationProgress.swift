/// The progress of an operation at one moment.
///
/// The concept and the names of the members are those of Foundation's `Progress`.
public struct OperationProgress: Sendable, Hashable {
    /// The number of completed units, from 0 to the total if there is one. The operation decides what a unit is.
    ///
    /// After a success with a total, this is the total.
    public let completedUnitCount: Int

    /// The total number of units, 0 or more; `nil` while it is unknown.
    public let totalUnitCount: Int?

    /// The completed fraction, from 0 to 1. It is 0 while the total is unknown or 0, and 1 after a success.
    ///
    /// The fraction includes the progress of children that still run. It may be 1 before the operation has finished. It
    /// decreases when the total grows, and becomes 0 when the operation is about to run again. A failure leaves it
    /// unchanged.
    public let fractionCompleted: Double

    /// True if the operation has its outcome, a success or not. The progress does not change after that.
    public let isFinished: Bool
}

extension OperationProgress: CustomStringConvertible {
    /// "3 of 10 (30 %)"; "3 (0 %)" without a total; "0 %" if no unit is completed. Per cents are rounded down.
    public var description: String {
        let percent = "\(fractionCompleted.wholePercent) %"
        if let totalUnitCount { return "\(completedUnitCount) of \(totalUnitCount) (\(percent))" }
        return completedUnitCount == 0 ? percent : "\(completedUnitCount) (\(percent))"
    }
}

extension Double {
    /// The fraction as a number of per cents from 0 to 100, rounded down. Zero if this is not a number.
    var wholePercent: Int {
        if !(self > 0) { return 0 }
        // The small addend makes up for rounding: 0.29 * 100 is a little less than 29.
        return Int((min(self, 1) * 100 + 1e-9).rounded(.down))
    }
}

/// The changing progress of one operation. An iterator gets the newest value only, never a backlog.
///
/// ```swift
/// for await progress in operation.progressUpdates { bar.value = progress.fractionCompleted }
/// ```
///
/// An iterator delivers the current progress first. Each further call waits until the progress differs from the last
/// one that was delivered, and returns the newest value. The iteration ends after the value whose
/// ``OperationProgress/isFinished`` is true, or when the task that iterates is cancelled. Iterators are independent of
/// one another, and a slow one does not delay the operation.
///
/// The sequence does not keep the operation alive. If the operation is released without having finished, the sequence
/// ends.
public struct OperationProgressUpdates: AsyncSequence, Sendable {
    /// The progress at one moment.
    public typealias Element = OperationProgress
    /// The sequence does not throw.
    public typealias Failure = Never

    let state: ProgressState

    /// Returns an iterator that begins with the current progress. May be called any number of times.
    public func makeAsyncIterator() -> Iterator { Iterator(state: state) }

    /// The iterator of the changes of a progress.
    public struct Iterator: AsyncIteratorProtocol {
        let state: ProgressState
        private var last: OperationProgress?
        private var isOver = false

        init(state: ProgressState) { self.state = state }

        /// Waits until the progress differs from the one that was delivered last.
        ///
        /// - Parameter actor: The actor that the caller is isolated to.
        /// - Returns: The newest progress, or `nil` after the last one. Returns `nil` at once if the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> OperationProgress? {
            while !isOver, !Task.isCancelled {
                switch state.next(after: last) {
                case .value(let value):
                    last = value
                    return value
                case .wait(let id): await state.wait(id, after: last)
                case .end: isOver = true
                }
            }
            isOver = true
            return nil
        }
    }
}
