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
