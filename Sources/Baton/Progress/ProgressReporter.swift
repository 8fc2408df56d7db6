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
/// the progress never delays a report. A report after the end of the operation has no effect, and is no error.
///
/// - Complexity: A report takes O(*n* log *n*) time for *n* unfinished operations that count this one as a child, at
///   any depth, because the fraction of each of them changes.
public struct ProgressReporter: Sendable {
    let state: ProgressState

    /// The total number of units. `nil` if it is unknown; with weighted children, reads as the sum of their weights so
    /// far.
    ///
    /// May be set any number of times. A total below 0 counts as 0. With a total of 0, the fraction is 0 until the
    /// operation has succeeded.
    public var totalUnitCount: Int? {
        get { state.value.totalUnitCount }
        nonmutating set { state.report { $0.setTotal(newValue) } }
    }

    /// The number of completed units. Includes children that have succeeded, each with its weight.
    ///
    /// A count below 0 counts as 0. A count above the total reads as the total, and becomes visible when the total
    /// grows. Child tasks should call ``advance(by:)``, because `+=` reads and then writes, and another task may report
    /// in between.
    public var completedUnitCount: Int {
        get { state.value.completedUnitCount }
        nonmutating set { state.report { $0.setCompleted(newValue) } }
    }

    /// Adds to the number of completed units, in one atomic step.
    ///
    /// - Parameter count: The number of units to add. Below 0 counts as 0; to go back, set ``completedUnitCount``. A
    ///   sum above `Int.max` counts as `Int.max`.
    public func advance(by count: Int = 1) { state.report { $0.advance(by: count) } }

    /// Sets both counts in one atomic step, so that nobody sees one without the other.
    ///
    /// - Parameters:
    ///   - completed: The number of completed units. Below 0 counts as 0.
    ///   - total: The total number of units, or `nil` if it is unknown. Below 0 counts as 0.
    public func report(completed: Int, of total: Int?) {
        state.report { $0.report(completed: completed, of: total) }
    }
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
    /// Use this method for a child that is run in another way; ``OperationContext/run(_:weight:)`` runs the child as
    /// well. While the child runs, the fraction of this operation includes `weight` times the fraction of the child.
    /// When the child succeeds, ``completedUnitCount`` increases by `weight`. A child that fails, is cancelled, or is
    /// released without having finished counts for what it had reached. Children may have children, to any depth, and
    /// may count for several operations. If ``totalUnitCount`` was never set, it is the sum of the weights so far, as
    /// in Foundation's `Progress`.
    ///
    /// The child may have been added before, or have finished. Neither operation keeps the other alive or waits for it.
    /// The following have no effect, and are no errors: a weight of 0 or less; an operation that already counts in this
    /// run of the body; the operation itself; an operation that counts this one as a child, at any depth; a call after
    /// the end.
    ///
    /// - Parameters:
    ///   - operation: The operation that counts as a child.
    ///   - weight: The number of units that the child counts for. A sum of weights above `Int.max` counts as `Int.max`.
    public func addChild(_ operation: AnyOperation, weight: Int) {
        operation.withProgressState { state.addChild($0, weight: weight) }
    }
}

extension OperationContext {
    /// Runs a child like ``run(_:)``, and makes it count for `weight` units of this operation's progress.
    ///
    /// When this method returns, ``ProgressReporter/completedUnitCount`` has increased by `weight`. When it throws, the
    /// child counts for what it had reached. ``ProgressReporter/addChild(_:weight:)`` describes weights in detail.
    ///
    /// - Parameters:
    ///   - child: The operation to run.
    ///   - weight: The number of units that the child counts for.
    /// - Returns: The output of the child.
    /// - Throws: The same errors as ``run(_:)``.
    public func run<Output>(
        _ child: AsyncOperation<Output>, weight: Int
    ) async throws(OperationError) -> Output {
        progress.addChild(child, weight: weight)
        // Reading the progress passes the end on to the parents, which the thread that has finished the child may not
        // have done yet.
        defer { _ = child.progress }
        return try await run(child)
    }
}
