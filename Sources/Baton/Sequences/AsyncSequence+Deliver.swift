/// A sequence whose elements are delivered to operations, each to one of its own, like a `publisher.deliver(to:on:)`.
extension AsyncSequence where Self: Sendable, Element: Sendable {
    /// The outputs of operations on `queue`, one for each element, that run `procedure` on it.
    ///
    /// ```swift
    /// for try await page in urls.deliver(to: Download(), on: queue) { show(page) }
    /// ```
    ///
    /// Nothing happens before the first output is asked for. Then a task of the queue iterates this sequence, and adds
    /// an operation for each element, with everything it needs that nobody has added yet. At most `width` elements are
    /// taken and not yet consumed, finished or not; so a slow consumer holds this sequence back.
    ///
    /// The first operation that has no output ends the sequence with its error: at its place, with
    /// ``OutputOrder/arrival`` when it comes. See ``OperationOutputs/results`` to go on instead. What else ends it, and
    /// what becomes of operations that are under way then, is told at ``OperationOutputs``.
    ///
    /// - Parameters:
    ///   - procedure: What each operation runs. They are called after its type, unless `configure` names them.
    ///   - queue: Where they run. It is kept alive by the sequence.
    ///   - width: How many elements are under way at a time, at least 1. Less is ``Misuse``, and counts as 1. Nil: the
    ///     width of the queue when the iteration begins, but no more than 64. ``AsyncOperationQueue/unlimited`` gives
    ///     up the back-pressure.
    ///   - order: The order of the outputs.
    ///   - configure: Called with each operation and its element before the operation is added, one after another in
    ///     the order of the elements, to give it a name, conditions or dependencies. On the task that iterates this
    ///     sequence.
    public func deliver<P: InputProcedure>(
        to procedure: P, on queue: AsyncOperationQueue, width: Int? = nil, order: OutputOrder = .preserved,
        configure: (@Sendable (AsyncOperation<P.Output>, Element) -> Void)? = nil
    ) -> OperationOutputs<Self, P.Output> where P.Input == Element {
        OperationOutputs(of: self, on: queue, width, order, configure) { AsyncOperation(procedure, input: $0) }
    }

    /// The outputs of operations on `queue`, one for each element, that call `body` with it.
    ///
    /// As ``deliver(to:on:width:order:configure:)`` in everything else.
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

    /// The outputs of operations on `queue`, one for each element, that call `body` with it and their context.
    ///
    /// As ``deliver(to:on:width:order:configure:)`` in everything else.
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

/// What an iteration needs to know.
struct DeliveryPlan<Upstream: AsyncSequence & Sendable, Output: Sendable>: Sendable where Upstream.Element: Sendable {
    let upstream: Upstream
    let queue: AsyncOperationQueue
    /// Nil: that of the queue.
    let width: Int?
    let order: OutputOrder
    let make: @Sendable (Upstream.Element) -> AsyncOperation<Output>

    func makeIteration(endsAtFailure: Bool) -> Iteration<Upstream, Output> {
        let most = AsyncOperationQueue.defaultMaxConcurrentOperationCount
        let machine = ConcurrentMapStateMachine<RunScope, Output, Upstream.Failure>(
            width: width ?? min(queue.maxConcurrentOperationCount, most), order: order, endsAtFailure: endsAtFailure)
        return Iteration(upstream: upstream, conveyor: ConcurrentMap(machine, on: queue, make: make))
    }
}

/// What an iterator holds: when it has gone, so has the consumer.
final class Iteration<Upstream: AsyncSequence & Sendable, Output: Sendable>: Sendable
where Upstream.Element: Sendable {
    private let upstream: Upstream
    private let conveyor: ConcurrentMap<Upstream.Element, Output, Upstream.Failure>

    init(upstream: Upstream, conveyor: ConcurrentMap<Upstream.Element, Output, Upstream.Failure>) {
        self.upstream = upstream
        self.conveyor = conveyor
    }

    deinit { conveyor.abandon() }

    nonisolated(nonsending) func next() async -> ConcurrentMap<Upstream.Element, Output, Upstream.Failure>.Delivery {
        await conveyor.next(from: upstream)
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
