/// An asynchronous sequence of the elements of a synchronous one.
///
/// The `deliver` methods of sequences make it.
public struct AsyncElements<Base: Sequence & Sendable>: AsyncSequence, Sendable where Base.Element: Sendable {
    private let base: Base

    init(_ base: Base) { self.base = base }

    /// The iterator of the elements.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var base: Base.Iterator

        /// Returns the next element without waiting.
        ///
        /// - Returns: The next element, or `nil` at the end, even if the task is cancelled.
        public mutating func next() async -> Base.Element? { base.next() }
    }

    /// Returns an iterator that begins with the first element, if the iterators of the base sequence do.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(base: base.makeIterator()) }
}

/// Delivers the elements of an array, a range or another sequence to operations, one for each element.
extension Sequence where Self: Sendable, Element: Sendable {
    /// Runs `procedure` on each element, in an operation of its own on `queue`, and returns the outputs as a sequence.
    ///
    /// ```swift
    /// for try await page in urls.deliver(to: Download(), on: queue) { show(page) }
    /// ```
    ///
    /// The outputs come as for an asynchronous sequence: ``OperationOutputs`` says how they end. However long the
    /// sequence is, at most `width` operations exist at a time.
    ///
    /// - Parameters:
    ///   - procedure: The procedure that the operations run. They are named after its type, unless `configure` names
    ///     them.
    ///   - queue: The queue that runs the operations. The returned sequence keeps it alive.
    ///   - width: How many elements are in progress at a time, at least 1. Less is reported as ``Misuse`` and counts as
    ///     1. `nil` stands for the width of the queue when the iteration begins, but at most 64.
    ///   - order: The order of the outputs.
    ///   - configure: Called with each operation and its element before the operation is added, for instance to give it
    ///     a name, conditions or dependencies. Called for one element after another, in order, on the task that
    ///     iterates this sequence.
    ///   - file: The file of the call, for reports of misuse.
    ///   - line: The line of the call, for reports of misuse.
    /// - Returns: The sequence of the outputs. Nothing runs before its first output is requested.
    public func deliver<P: InputProcedure>(
        to procedure: P, on queue: AsyncOperationQueue, width: Int? = nil, order: OutputOrder = .preserved,
        configure: (@Sendable (AsyncOperation<P.Output>, Element) -> Void)? = nil,
        file: StaticString = #fileID, line: UInt = #line
    ) -> OperationOutputs<AsyncElements<Self>, P.Output> where P.Input == Element {
        AsyncElements(self).deliver(
            to: procedure, on: queue, width: width, order: order, configure: configure, file: file, line: line)
    }

    /// Calls `body` with each element, in an operation of its own on `queue`, and returns the outputs as a sequence.
    ///
    /// Behaves like ``deliver(to:on:width:order:configure:file:line:)`` in all other respects.
    ///
    /// - Parameters:
    ///   - queue: The queue that runs the operations. The returned sequence keeps it alive.
    ///   - width: How many elements are in progress at a time, at least 1. `nil` stands for the width of the queue, but
    ///     at most 64.
    ///   - order: The order of the outputs.
    ///   - configure: Called with each operation and its element before the operation is added.
    ///   - body: Called with each element, on the task of its operation.
    ///   - file: The file to report as the origin of the operations.
    ///   - line: The line to report as the origin of the operations.
    /// - Returns: The sequence of the outputs.
    public func deliver<Output: Sendable>(
        on queue: AsyncOperationQueue, width: Int? = nil, order: OutputOrder = .preserved,
        configure: (@Sendable (AsyncOperation<Output>, Element) -> Void)? = nil,
        _ body: nonisolated(nonsending) @escaping @Sendable (Element) async throws -> Output,
        file: StaticString = #fileID, line: UInt = #line
    ) -> OperationOutputs<AsyncElements<Self>, Output> {
        AsyncElements(self).deliver(
            on: queue, width: width, order: order, configure: configure, body, file: file, line: line)
    }

    /// Calls `body` with each element and the context of its operation on `queue`, and returns the outputs as a
    /// sequence.
    ///
    /// Behaves like ``deliver(to:on:width:order:configure:file:line:)`` in all other respects.
    ///
    /// - Parameters:
    ///   - queue: The queue that runs the operations. The returned sequence keeps it alive.
    ///   - width: How many elements are in progress at a time, at least 1. `nil` stands for the width of the queue, but
    ///     at most 64.
    ///   - order: The order of the outputs.
    ///   - configure: Called with each operation and its element before the operation is added.
    ///   - body: Called with each element and the context of its operation, on the task of that operation.
    ///   - file: The file to report as the origin of the operations.
    ///   - line: The line to report as the origin of the operations.
    /// - Returns: The sequence of the outputs.
    public func deliver<Output: Sendable>(
        on queue: AsyncOperationQueue, width: Int? = nil, order: OutputOrder = .preserved,
        configure: (@Sendable (AsyncOperation<Output>, Element) -> Void)? = nil,
        _ body: nonisolated(nonsending) @escaping @Sendable (Element, OperationContext) async throws -> Output,
        file: StaticString = #fileID, line: UInt = #line
    ) -> OperationOutputs<AsyncElements<Self>, Output> {
        AsyncElements(self).deliver(
            on: queue, width: width, order: order, configure: configure, body, file: file, line: line)
    }
}
