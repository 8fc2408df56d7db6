/// Delivers the elements of an asynchronous sequence to operations, one for each element.
extension AsyncSequence where Self: Sendable, Element: Sendable {
    /// Runs `procedure` on each element, in an operation of its own on `queue`, and returns the outputs as a sequence.
    ///
    /// ```swift
    /// for try await page in urls.deliver(to: Download(), on: queue) { show(page) }
    /// ```
    ///
    /// Nothing happens before the first output is requested. Then a task of the queue iterates this sequence, and adds
    /// an operation for each element, with all operations that it needs and that nobody has added yet. At most `width`
    /// elements are taken and not yet consumed, finished or not, so a slow consumer holds this sequence back.
    ///
    /// The first operation without an output ends the sequence with its error: at its place, or with
    /// ``OutputOrder/arrival`` as soon as it fails. ``OperationOutputs/results`` goes on instead. ``OperationOutputs``
    /// lists all ways in which the sequence ends, and what happens to operations that are under way then.
    ///
    /// - Parameters:
    ///   - procedure: The procedure that the operations run. They are named after its type, unless `configure` names
    ///     them.
    ///   - queue: The queue that runs the operations. The returned sequence keeps it alive.
    ///   - width: How many elements are under way at a time, at least 1. Less is reported as ``Misuse`` and counts as
    ///     1. `nil` stands for the width of the queue when the iteration begins, but at most 64.
    ///     ``AsyncOperationQueue/unlimited`` turns back-pressure off.
    ///   - order: The order of the outputs.
    ///   - configure: Called with each operation and its element before the operation is added, for instance to give it
    ///     a name, conditions or dependencies. Called for one element after another, in order, on the task that
    ///     iterates this sequence.
    /// - Returns: The sequence of the outputs.
    public func deliver<P: InputProcedure>(
        to procedure: P, on queue: AsyncOperationQueue, width: Int? = nil, order: OutputOrder = .preserved,
        configure: (@Sendable (AsyncOperation<P.Output>, Element) -> Void)? = nil
    ) -> OperationOutputs<Self, P.Output> where P.Input == Element {
        OperationOutputs(of: self, on: queue, width, order, configure) { AsyncOperation(procedure, input: $0) }
    }

    /// Calls `body` with each element, in an operation of its own on `queue`, and returns the outputs as a sequence.
    ///
    /// Behaves like ``deliver(to:on:width:order:configure:)`` in all other respects.
    ///
    /// - Parameters:
    ///   - queue: The queue that runs the operations. The returned sequence keeps it alive.
    ///   - width: How many elements are under way at a time, at least 1. `nil` stands for the width of the queue, but
    ///     at most 64.
    ///   - order: The order of the outputs.
    ///   - configure: Called with each operation and its element before the operation is added.
    ///   - body: Called with each element, on the task of its operation.
    ///   - file: The file of the call site that the operations are made at.
    ///   - line: The line of the call site that the operations are made at.
    /// - Returns: The sequence of the outputs.
    public func deliver<Output: Sendable>(
        on queue: AsyncOperationQueue, width: Int? = nil, order: OutputOrder = .preserved,
        configure: (@Sendable (AsyncOperation<Output>, Element) -> Void)? = nil,
        _ body: nonisolated(nonsending) @escaping @Sendable (Element) async throws -> Output,
        file: StaticString = #fileID, line: UInt = #line
    ) -> OperationOutputs<Self, Output> {
        OperationOutputs(of: self, on: queue, width, order, configure) { element in
            AsyncOperation({ try await body(element) }, file: file, line: line)
        }
    }

    /// Calls `body` with each element and the context of its operation on `queue`, and returns the outputs as a
    /// sequence.
    ///
    /// Behaves like ``deliver(to:on:width:order:configure:)`` in all other respects.
    ///
    /// - Parameters:
    ///   - queue: The queue that runs the operations. The returned sequence keeps it alive.
    ///   - width: How many elements are under way at a time, at least 1. `nil` stands for the width of the queue, but
    ///     at most 64.
    ///   - order: The order of the outputs.
    ///   - configure: Called with each operation and its element before the operation is added.
    ///   - body: Called with each element and the context of its operation, on the task of that operation.
    ///   - file: The file of the call site that the operations are made at.
    ///   - line: The line of the call site that the operations are made at.
    /// - Returns: The sequence of the outputs.
    public func deliver<Output: Sendable>(
        on queue: AsyncOperationQueue, width: Int? = nil, order: OutputOrder = .preserved,
        configure: (@Sendable (AsyncOperation<Output>, Element) -> Void)? = nil,
        _ body: nonisolated(nonsending) @escaping @Sendable (Element, OperationContext) async throws -> Output,
        file: StaticString = #fileID, line: UInt = #line
    ) -> OperationOutputs<Self, Output> {
        OperationOutputs(of: self, on: queue, width, order, configure) { element in
            AsyncOperation({ context in try await body(element, context) }, file: file, line: line)
        }
    }
}

/// The arguments of a `deliver` call, from which each iterator makes its own iteration.
struct DeliveryPlan<Upstream: AsyncSequence & Sendable, Output: Sendable>: Sendable where Upstream.Element: Sendable {
    let upstream: Upstream
    let queue: AsyncOperationQueue
    /// The width of the map, or `nil` for that of the queue.
    let width: Int?
    let order: OutputOrder
    let make: @Sendable (Upstream.Element) -> AsyncOperation<Output>

    func makeIteration(endsAtFailure: Bool) -> Iteration<Upstream, Output> {
        let most = AsyncOperationQueue.defaultMaxConcurrentOperationCount
        let machine = ConcurrentMapStateMachine<RunScope, Output, Upstream.Failure>(
            width: width ?? min(queue.maxConcurrentOperationCount, most), order: order, endsAtFailure: endsAtFailure)
        return Iteration(upstream: upstream, map: ConcurrentMap(machine, on: queue, make: make))
    }
}

/// One iteration, owned by its iterator: the iteration is abandoned when the iterator is released.
final class Iteration<Upstream: AsyncSequence & Sendable, Output: Sendable>: Sendable
where Upstream.Element: Sendable {
    private let upstream: Upstream
    private let map: ConcurrentMap<Upstream.Element, Output, Upstream.Failure>

    init(upstream: Upstream, map: ConcurrentMap<Upstream.Element, Output, Upstream.Failure>) {
        self.upstream = upstream
        self.map = map
    }

    deinit { map.abandon() }

    nonisolated(nonsending) func next() async -> ConcurrentMap<Upstream.Element, Output, Upstream.Failure>.Delivery {
        await map.next(from: upstream)
    }
}

extension OperationOutputs {
    init(
        of upstream: Upstream, on queue: AsyncOperationQueue, _ width: Int?, _ order: OutputOrder,
        _ configure: (@Sendable (AsyncOperation<Output>, Upstream.Element) -> Void)?,
        make: @escaping @Sendable (Upstream.Element) -> AsyncOperation<Output>
    ) {
        if let width, width < 1 { queue.core.report(Misuse(.invalidDeliveryWidth(width), queue: queue.name)) }
        plan = DeliveryPlan(
            upstream: upstream, queue: queue, width: width.map { Swift.max($0, 1) }, order: order
        ) { element in
            let operation = make(element)
            configure?(operation, element)
            return operation
        }
    }
}
