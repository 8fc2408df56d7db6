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
