extension AnyOperation {
    /// The current progress of the operation. Without reports from its body, 0 until it has succeeded, then 1.
    ///
    /// A body reports its progress with ``OperationContext/progress``. The progress may be read before the operation is
    /// added and after it has finished. A failure or a cancellation leaves it unchanged.
    public final var progress: OperationProgress {
        var (state, outcome) = withLifecycle { ($0.optionalState?.progress, progressOutcome($0)) }
        if state == nil, outcome == nil, self is GroupOperation { state = progressState }
        guard let state else { return ProgressState.Machine(outcome: outcome).value }
        // The thread that finishes the operation may not have passed the end on yet.
        if let outcome { state.end(outcome) }
        return state.value
    }

    /// The progress of the operation, now and whenever it changes, up to the outcome. Skips values that are not read in
    /// time.
    ///
    /// The sequence may be requested at any time, and any number of times. Iterating it does not keep the operation
    /// alive.
    ///
    /// A body that iterates the sequence keeps its permit while it waits for the next value. A body that waits for
    /// another operation should await its ``AsyncOperation/value`` instead, which releases the permit.
    public final var progressUpdates: OperationProgressUpdates { OperationProgressUpdates(state: progressState) }

    /// The progress state, which is made when it is first needed.
    final var progressState: ProgressState { withProgressState { _ in } }

    /// Returns the progress state, which is made if necessary, after passing it to `link`.
    ///
    /// A new state of a group then counts the children of the group. `link` runs before that: an operation without
    /// children closes no cycle, so nobody has to search for one.
    @discardableResult
    final func withProgressState(_ link: (ProgressState) -> Void) -> ProgressState {
        let (state, isNew) = makeProgressState()
        link(state)
        if isNew, self is GroupOperation { AnyOperation.countChildren(of: self, in: state) }
        return state
    }

    /// A loop instead of a recursion, because groups can be nested to any depth.
    private static func countChildren(of group: AnyOperation, in state: ProgressState) {
        var uncounted = [(group, state)]
        while let (group, state) = uncounted.popLast() {
            guard let children = group.withLifecycle({ $0.optionalState?.childGroups.first }) else { continue }
            for child in children.count(in: state) {
                let (childState, isNew) = child.makeProgressState()
                state.addChild(childState, weight: 1)
                if isNew, child is GroupOperation { uncounted.append((child, childState)) }
            }
        }
    }

    /// Makes the state without the children of a group.
    private final func makeProgressState() -> (ProgressState, isNew: Bool) {
        let (state, isNew) = withLifecycle { life -> (ProgressState, Bool) in
            let optionalState = life.ensureOptionalState()
            if let state = optionalState.progress { return (state, false) }
            let state = ProgressState(of: self, outcome: progressOutcome(life))
            optionalState.progress = state
            return (state, true)
        }
        if isNew, isObserved { state.watch() }
        return (state, isNew)
    }

    /// Returns `nil` if the operation has not finished.
    private final func progressOutcome(_ life: Lifecycle) -> ProgressState.Machine.Outcome? {
        life.phase == .finished ? (hasFailed ? .failed : .succeeded) : nil
    }
}

// MARK: - Values

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
        private var hasEnded = false

        init(state: ProgressState) { self.state = state }

        /// Waits until the progress differs from the one that was delivered last.
        ///
        /// - Parameter actor: The actor that the caller is isolated to.
        /// - Returns: The newest progress, or `nil` after the last one. Returns `nil` at once if the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> OperationProgress? {
            while !hasEnded, !Task.isCancelled {
                switch state.next(after: last) {
                case .value(let value):
                    last = value
                    return value
                case .wait(let id): await state.wait(id, after: last)
                case .end: hasEnded = true
                }
            }
            hasEnded = true
            return nil
        }
    }
}

// MARK: - Reporter

/// Reports the progress of a body. A body gets it from ``OperationContext/progress``.
///
/// ```swift
/// context.progress.totalUnitCount = files.count
/// for file in files {
///     try await copy(file)
///     context.progress.advance()
/// }
/// ```
///
/// All members may be used from any thread, including child tasks of the body, and return at once: a task that iterates
/// the progress never delays a report. A report after the end of the operation has no effect, and is not an error.
/// ``Misuse`` is reported once for each operation, however many of its numbers are negative.
///
/// - Complexity: A report takes O(*n* log *n*) time for *n* unfinished operations that count this one as a child, at
///   any depth, because the fraction of each of them changes.
public struct ProgressReporter: Sendable {
    let state: ProgressState

    /// The total number of units. `nil` if it is unknown; with weighted children, reads as the sum of their weights so
    /// far.
    ///
    /// May be set any number of times. A total below 0 is ``Misuse`` and counts as 0. With a total of 0, the fraction
    /// is 0 until the operation has succeeded.
    public var totalUnitCount: Int? {
        get { state.value.totalUnitCount }
        nonmutating set {
            if let newValue { state.check(newValue, .total) }
            state.report { $0.setTotal(newValue) }
        }
    }

    /// The number of completed units. Includes children that have succeeded, each with its weight.
    ///
    /// A count below 0 is ``Misuse`` and counts as 0. A count above the total reads as the total, and becomes visible
    /// when the total grows, because totals may be estimates. Child tasks should call ``advance(by:)``, because `+=`
    /// reads and then writes, and another task may report in between.
    public var completedUnitCount: Int {
        get { state.value.completedUnitCount }
        nonmutating set {
            state.check(newValue, .completed)
            state.report { $0.setCompleted(newValue) }
        }
    }

    /// Adds to the number of completed units, in one atomic step.
    ///
    /// - Parameter count: The number of units to add. A number below 0 is ``Misuse`` and counts as 0; to go back, set
    ///   ``completedUnitCount``. A sum above `Int.max` counts as `Int.max`.
    public func advance(by count: Int = 1) {
        state.check(count, .step)
        state.report { $0.advance(by: count) }
    }

    /// Sets both counts in one atomic step, so that nobody sees one without the other.
    ///
    /// - Parameters:
    ///   - completed: The number of completed units. A number below 0 is ``Misuse`` and counts as 0.
    ///   - total: The total number of units, or `nil` if it is unknown. A total below 0 is ``Misuse`` and counts as 0.
    public func report(completed: Int, of total: Int?) {
        state.check(completed, .completed)
        if let total { state.check(total, .total) }
        state.report { $0.report(completed: completed, of: total) }
    }
}

extension ProgressReporter: CustomStringConvertible {
    /// The progress that was reported so far, such as "3 of 10 (30 %)".
    public var description: String { "\(state.value)" }
}

extension OperationContext {
    /// The reporter of the body's progress. The reported progress can be read from the operation's
    /// ``AnyOperation/progress``.
    ///
    /// In a direct call of a procedure, the progress is that of the stand-in ``operation``.
    public var progress: ProgressReporter { ProgressReporter(state: operation.progressState) }
}

extension ProgressReporter {
    /// Makes an operation count for `weight` units of this progress: in part while it runs, in full once it has
    /// succeeded.
    ///
    /// ```swift
    /// context.progress.addChild(upload, weight: 3)
    /// ```
    ///
    /// Use this method for a child that is run in another way; ``OperationContext/run(_:weight:file:line:)`` runs the
    /// child as well. While the child runs, the fraction of this operation includes `weight` times the fraction of the
    /// child. When the child succeeds, ``completedUnitCount`` increases by `weight`. A child that fails, is cancelled,
    /// or is released without having finished counts for what it had reached. Children may have children, to any depth,
    /// and may count for several operations. If ``totalUnitCount`` was never set, it is the sum of the weights so far,
    /// as in Foundation's `Progress`.
    ///
    /// The child may have been added before, or have finished. Neither operation keeps the other alive or waits for it.
    /// The following have no effect, and are not errors: a weight of 0; an operation that already counts in this run of
    /// the body; the operation itself; an operation that counts this one as a child, at any depth; a call after the
    /// end.
    ///
    /// - Parameters:
    ///   - operation: The operation that counts as a child.
    ///   - weight: The number of units that the child counts for. A weight below 0 is ``Misuse`` and counts as 0. A sum
    ///     of weights above `Int.max` counts as `Int.max`.
    public func addChild(_ operation: AnyOperation, weight: Int) {
        state.check(weight, .weight(operation))
        operation.withProgressState { state.addChild($0, weight: weight) }
    }
}

extension OperationContext {
    /// Runs a child like ``run(_:file:line:)``, and makes it count for `weight` units of this operation's progress.
    ///
    /// When this method returns, ``ProgressReporter/completedUnitCount`` has increased by `weight`. When it throws, the
    /// child counts for what it had reached. ``ProgressReporter/addChild(_:weight:)`` describes weights in detail.
    ///
    /// - Parameters:
    ///   - child: The operation to run.
    ///   - weight: The number of units that the child counts for.
    ///   - file: The file of the call, for reports of misuse.
    ///   - line: The line of the call, for reports of misuse.
    /// - Returns: The output of the child.
    /// - Throws: The same errors as ``run(_:file:line:)``.
    public func run<Output>(
        _ child: AsyncOperation<Output>, weight: Int, file: StaticString = #fileID, line: UInt = #line
    ) async throws(OperationError) -> Output {
        progress.addChild(child, weight: weight)
        // Reading the progress passes the end on to the parents, which the thread that has finished the child may not
        // have done yet.
        defer { _ = child.progress }
        return try await run(child, file: file, line: line)
    }
}
