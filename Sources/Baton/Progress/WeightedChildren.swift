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
