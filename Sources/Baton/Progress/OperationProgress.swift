/// How far an operation has come, at one moment: a value.
///
/// The idea, and the names of the members, are those of Foundation's `Progress`.
public struct OperationProgress: Sendable, Hashable {
    /// Units done, 0 or more, and never more than the total if there is one. What a unit is, the operation decides.
    ///
    /// After a success with a total, it is the total.
    public let completedUnitCount: Int

    /// Units in all, 0 or more; nil while nobody knows.
    public let totalUnitCount: Int?

    /// From 0 to 1. 0 while there is no total or it is 0; 1 after a success; after a failure, what it was then.
    ///
    /// Includes what children that still run have reached. May be 1 before the operation has finished, and goes back
    /// when the total grows, and to 0 when the operation is to run again.
    public let fractionCompleted: Double

    /// Whether the operation has its outcome, a success or not. Nothing changes after that.
    public let isFinished: Bool
}

extension OperationProgress: CustomStringConvertible {
    /// "3 of 10 (30 %)"; "3 (0 %)" without a total; "0 %" if nobody has counted anything. Per cents are rounded down.
    public var description: String {
        // 29 of 100 is a little less than 0.29 as a `Double`.
        let percent = "\(Int((fractionCompleted * 100 + 1e-9).rounded(.down))) %"
        if let totalUnitCount { return "\(completedUnitCount) of \(totalUnitCount) (\(percent))" }
        return completedUnitCount == 0 ? percent : "\(completedUnitCount) (\(percent))"
    }
}

/// The progress of one operation as it changes, for whoever shows it: the newest only, never a backlog.
///
/// ```swift
/// for await progress in operation.progressUpdates { bar.value = progress.fractionCompleted }
/// ```
///
/// An iterator delivers the progress of now, then on each call the newest one that differs from the one it delivered
/// last; it waits until there is one. It ends after the one with `isFinished`, and when the task that iterates is
/// cancelled. Each iterator goes its own way, on the isolation of its caller, and a slow one does not delay the
/// operation.
///
/// It does not keep the operation alive: if that is released without ever having finished, the sequence ends.
public struct OperationProgressUpdates: AsyncSequence, Sendable {
    /// A progress, at one moment.
    public typealias Element = OperationProgress
    /// It does not throw.
    public typealias Failure = Never

    let state: ProgressState

    /// Begins with the progress of now. May be called any number of times.
    public func makeAsyncIterator() -> Iterator { Iterator(state: state) }

    /// One way through the changes.
    public struct Iterator: AsyncIteratorProtocol {
        let state: ProgressState
        private var last: OperationProgress?
        private var isOver = false

        init(state: ProgressState) { self.state = state }

        /// The newest that differs from the one before; nil at the end, and when the task is cancelled, at once.
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
