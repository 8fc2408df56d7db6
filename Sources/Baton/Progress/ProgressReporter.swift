/// How a body says how far it has come. From ``OperationContext/progress``.
///
/// ```swift
/// context.progress.totalUnitCount = files.count
/// for file in files {
///     try await copy(file)
///     context.progress.advance()
/// }
/// ```
///
/// All members may be used from any thread, child tasks of the body included, and return at once: who iterates the
/// progress never delays who reports. A report after the operation's end changes nothing, and is no error.
///
/// - Complexity: A report takes O(n log n) for n unfinished operations that count this one as a child, at any depth,
///   because each of them gets another fraction.
public struct ProgressReporter: Sendable {
    let state: ProgressState

    /// Units in all. Nil: not known yet, or, if there are weighted children, the sum of their weights so far.
    ///
    /// May be set any number of times. Below 0 counts as 0; with a total of 0, the fraction is 0 until the operation
    /// has succeeded.
    public var totalUnitCount: Int? {
        get { state.value.totalUnitCount }
        nonmutating set { state.report { $0.setTotal(newValue) } }
    }

    /// Units done. Children that have succeeded are among them, each with its weight.
    ///
    /// Below 0 counts as 0. More than the total is shown as the total, and comes to light when the total grows. Child
    /// tasks use ``advance(by:)``: `+=` here is a reading and a writing, and another task may come between them.
    public var completedUnitCount: Int {
        get { state.value.completedUnitCount }
        nonmutating set { state.report { $0.setCompleted(newValue) } }
    }

    /// Adds to the units done, in one step.
    ///
    /// A count below 0 counts as 0: to go back, set ``completedUnitCount``. A sum greater than `Int.max` is `Int.max`.
    public func advance(by count: Int = 1) { state.report { $0.advance(by: count) } }

    /// Sets both counts in one step, so that nobody sees one without the other. Bad counts are treated as by the
    /// properties.
    public func report(completed: Int, of total: Int?) {
        state.report { $0.report(completed: completed, of: total) }
    }
}

extension OperationContext {
    /// Where the body reports how far it has come. Read it back from the operation's ``AnyOperation/progress``.
    ///
    /// In a direct call it is the stand-in ``operation`` whose progress this is.
    public var progress: ProgressReporter { ProgressReporter(state: operation.progressState) }
}

extension ProgressReporter {
    /// Lets an operation count for `weight` of this one's units: while it runs, in part; once it has succeeded, in
    /// full.
    ///
    /// For one that is run otherwise; ``OperationContext/run(_:weight:)`` does both. While the child runs, the fraction
    /// of this operation includes `weight` × the child's fraction; with the child's success ``completedUnitCount`` goes
    /// up by `weight`. A child that fails, is cancelled, or is released unfinished counts for what it had reached and
    /// no more. Children may have children, to any depth, and may count for several operations. If ``totalUnitCount``
    /// was never set, it is the sum of the weights so far. As in Foundation's `Progress`.
    ///
    /// The child may have been added before, or have finished. Neither operation keeps the other alive by this, nor
    /// waits for it. These change nothing, and are no error: a weight of 0 or less; an operation that counts already in
    /// this run of the body; the operation itself, and one that counts it as a child, at any depth; a call after the
    /// end. A sum of weights greater than `Int.max` is `Int.max`.
    public func addChild(_ operation: AnyOperation, weight: Int) {
        operation.withProgressState { state.addChild($0, weight: weight) }
    }
}

extension OperationContext {
    /// Runs a child as ``run(_:)`` does, and lets it count for `weight` units of this operation's progress.
    ///
    /// When this returns, ``ProgressReporter/completedUnitCount`` has gone up by `weight`; when it throws, the child
    /// counts for what it had reached. What else holds for weights is said at ``ProgressReporter/addChild(_:weight:)``.
    ///
    /// - Throws: As ``run(_:)``.
    public func run<Output>(
        _ child: AsyncOperation<Output>, weight: Int
    ) async throws(OperationError) -> Output {
        progress.addChild(child, weight: weight)
        // Whoever finished the child may still be on the way to say so.
        defer { _ = child.progress }
        return try await run(child)
    }
}
