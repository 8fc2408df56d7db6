/// The elements of a sequence that is there already, for whoever takes an asynchronous one.
///
/// The `deliver` methods of sequences make it.
public struct AsyncElements<Base: Sequence & Sendable>: AsyncSequence, Sendable where Base.Element: Sendable {
    private let base: Base

    init(_ base: Base) { self.base = base }

    /// Takes one element after another.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var base: Base.Iterator

        /// The next element; nil at the end. It never waits, and does not look whether its task was cancelled.
        public mutating func next() async -> Base.Element? { base.next() }
    }

    /// Each iterator begins with the first element, if those of the sequence do.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(base: base.makeIterator()) }
}

/// An array, a range or another sequence whose elements are delivered to operations, each to one of its own.
extension Sequence where Self: Sendable, Element: Sendable {
    /// The outputs of operations on `queue`, one for each element, that run `procedure` on it.
    ///
    /// ```swift
    /// for try await page in urls.deliver(to: Download(), on: queue) { show(page) }
    /// ```
    ///
    /// It is as with an asynchronous sequence: see ``OperationOutputs``. No more operations are made than are under
    /// way, however long the sequence is.
    ///
    /// - Parameters:
    ///   - procedure: What each operation runs. They are called after its type, unless `configure` names them.
    ///   - queue: Where they run. It is kept alive by the sequence.
    ///   - width: How many elements are under way at a time, at least 1. Less is ``Misuse``, and counts as 1. Nil: the
    ///     width of the queue when the iteration begins, but no more than 64.
    ///   - order: The order of the outputs.
    ///   - configure: Called with each operation and its element before the operation is added, one after another in
    ///     the order of the elements, to give it a name, conditions or dependencies. On the task that iterates this
    ///     sequence.
    public func deliver<P: InputProcedure>(
        to procedure: P, on queue: AsyncOperationQueue, width: Int? = nil, order: OutputOrder = .preserved,
        configure: (@Sendable (AsyncOperation<P.Output>, Element) -> Void)? = nil
    ) -> OperationOutputs<AsyncElements<Self>, P.Output> where P.Input == Element {
        AsyncElements(self).deliver(to: procedure, on: queue, width: width, order: order, configure: configure)
    }

    /// The outputs of operations on `queue`, one for each element, that call `body` with it.
    ///
    /// As ``deliver(to:on:width:order:configure:)`` in everything else.
    public func deliver<Output: Sendable>(
        on queue: AsyncOperationQueue, width: Int? = nil, order: OutputOrder = .preserved,
        configure: (@Sendable (AsyncOperation<Output>, Element) -> Void)? = nil,
        _ body: nonisolated(nonsending) @escaping @Sendable (Element) async throws -> Output,
        file: StaticString = #fileID, line: UInt = #line
    ) -> OperationOutputs<AsyncElements<Self>, Output> {
        AsyncElements(self).deliver(
            on: queue, width: width, order: order, configure: configure, body, file: file, line: line)
    }

    /// The outputs of operations on `queue`, one for each element, that call `body` with it and their context.
    ///
    /// As ``deliver(to:on:width:order:configure:)`` in everything else.
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
