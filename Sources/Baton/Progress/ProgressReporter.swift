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
