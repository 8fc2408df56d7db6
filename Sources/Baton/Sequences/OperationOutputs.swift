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
    /// lists all ways in which the sequence ends, and what happens to operations that are in progress then.
    ///
    /// - Parameters:
    ///   - procedure: The procedure that the operations run. They are named after its type, unless `configure` names
    ///     them.
    ///   - queue: The queue that runs the operations. The returned sequence keeps it alive.
    ///   - width: How many elements are in progress at a time, at least 1. Less is reported as ``Misuse`` and counts as
    ///     1. `nil` stands for the width of the queue when the iteration begins, but at most 64.
    ///     ``AsyncOperationQueue/unlimited`` turns back-pressure off.
    ///   - order: The order of the outputs.
    ///   - configure: Called with each operation and its element before the operation is added, for instance to give it
    ///     a name, conditions or dependencies. Called for one element after another, in order, on the task that
    ///     iterates this sequence.
    ///   - file: The file of the call, for reports of misuse.
    ///   - line: The line of the call, for reports of misuse.
    /// - Returns: The sequence of the outputs.
    public func deliver<P: InputProcedure>(
        to procedure: P, on queue: AsyncOperationQueue, width: Int? = nil, order: OutputOrder = .preserved,
        configure: (@Sendable (AsyncOperation<P.Output>, Element) -> Void)? = nil,
        file: StaticString = #fileID, line: UInt = #line
    ) -> OperationOutputs<Self, P.Output> where P.Input == Element {
        OperationOutputs(of: self, on: queue, width, order, configure, CallSite(file: file, line: line)) {
            AsyncOperation(procedure, input: $0)
        }
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
    ) -> OperationOutputs<Self, Output> {
        OperationOutputs(of: self, on: queue, width, order, configure, CallSite(file: file, line: line)) { element in
            AsyncOperation({ try await body(element) }, file: file, line: line)
        }
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
    ) -> OperationOutputs<Self, Output> {
        OperationOutputs(of: self, on: queue, width, order, configure, CallSite(file: file, line: line)) { element in
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
        _ configure: (@Sendable (AsyncOperation<Output>, Upstream.Element) -> Void)?, _ callSite: CallSite,
        make: @escaping @Sendable (Upstream.Element) -> AsyncOperation<Output>
    ) {
        if let width, width < 1 {
            queue.core.report(Misuse(.invalidDeliveryWidth(width), queue: queue.name, callSite: callSite))
        }
        plan = DeliveryPlan(
            upstream: upstream, queue: queue, width: width.map { Swift.max($0, 1) }, order: order
        ) { element in
            let operation = make(element)
            configure?(operation, element)
            return operation
        }
    }
}

// MARK: - Outputs and results

/// The outputs of operations that are made for the elements of another sequence, the upstream.
///
/// The `deliver` methods make it. Each iterator iterates upstream from the beginning and makes its own operations. The
/// sequence ends in one of these ways:
///
/// - An operation has no output: the sequence throws the error of the first such operation. The operations after it and
///   the iteration of upstream are cancelled at once, and the error is thrown when all of them have ended.
/// - Upstream throws: after the outputs of all elements that came before, the sequence throws
///   ``OperationError/failed(_:)``, or the error of upstream itself if that is an ``OperationError``.
/// - The task that iterates is cancelled: the operations that are in progress and the iteration of upstream are
///   cancelled, and the sequence throws ``OperationError/cancelled(reason:)`` when they have ended. It also waits for a
///   body or an upstream that ignores its cancellation, so no work goes on behind the consumer.
/// - The queue is shut down, or begins to drain: the iteration of upstream is cancelled, and the sequence throws
///   ``OperationError/queueShutDown(refused:queue:)`` after the outputs of all elements that were taken before. An
///   iteration by a body goes on while the queue drains.
/// - Upstream ends: the sequence ends after the outputs of all elements.
///
/// A loop that is left early, or an iterator that is released, also cancels the operations that are in progress, but
/// cannot wait for them. While the queue is suspended, operations that have not started produce no outputs.
///
/// The body of an operation may iterate such a sequence, even on its own queue, whatever the width of that queue: the
/// body releases its permit while it, or a child task of it, waits for an output, as when it awaits another operation.
/// An operation of the sequence that waits for the operation whose body iterates would never end, and fails with
/// ``OperationError/dependencyCycle(_:)``.
///
/// Upstream is iterated on a task of its own, with the task-locals of the task that iterates. If a body iterates, what
/// upstream runs or awaits counts as run or awaited by that body, for instance the operations of an inner `deliver`. It
/// does so until the body has left the loop or has ended. The permit is not released for that.
public struct OperationOutputs<Upstream: AsyncSequence & Sendable, Output: Sendable>: AsyncSequence, Sendable
where Upstream.Element: Sendable {
    /// The output of an operation.
    public typealias Element = Output
    /// The error with which the sequence ends.
    public typealias Failure = OperationError

    let plan: DeliveryPlan<Upstream, Output>

    /// The outcomes of the operations as `Result`s: an operation without an output neither ends the sequence nor
    /// cancels others.
    ///
    /// With ``OutputOrder/arrival``, a failure does not say which element it belongs to. Let the body catch the error
    /// and return it together with the element.
    public var results: OperationResults<Upstream, Output> { OperationResults(plan: plan) }

    /// Returns an iterator that iterates upstream from the beginning. May be called any number of times.
    public func makeAsyncIterator() -> Iterator { Iterator(iteration: plan.makeIteration(endsAtFailure: true)) }

    /// The iterator of one iteration.
    public struct Iterator: AsyncIteratorProtocol {
        let iteration: Iteration<Upstream, Output>

        /// Waits for the next output.
        ///
        /// - Parameter actor: The actor that the caller is isolated to.
        /// - Returns: The next output, or `nil` at the end and after an error was thrown.
        /// - Throws: The error that ends the sequence, as ``OperationOutputs`` describes.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(OperationError) -> Output? {
            switch await iteration.next() {
            case .outcome(let outcome): return try outcome.get()
            case .upstreamFailed(let failure): throw failure as? OperationError ?? .failed(failure)
            case .cancelled: throw .cancelled(reason: .caller)
            case .end: return nil
            }
        }
    }
}

@available(*, unavailable)
extension OperationOutputs.Iterator: Sendable {}

/// The outcomes of operations that are made for the elements of another sequence. A failure is an element like any
/// other.
///
/// This sequence behaves like ``OperationOutputs``, with two exceptions. It throws only the errors that upstream
/// throws. And it ends without an error when the task that iterates is cancelled, and when the queue has been shut down
/// or drains, after the outcomes of the elements that were taken before. An element that is taken at the moment of the
/// shutdown may be refused, and has ``OperationError/queueShutDown(refused:queue:)`` as its outcome.
public struct OperationResults<Upstream: AsyncSequence & Sendable, Output: Sendable>: AsyncSequence, Sendable
where Upstream.Element: Sendable {
    /// The outcome of one operation.
    public typealias Element = Result<Output, OperationError>
    /// The error type of upstream.
    public typealias Failure = Upstream.Failure

    let plan: DeliveryPlan<Upstream, Output>

    /// Returns an iterator that iterates upstream from the beginning. May be called any number of times.
    public func makeAsyncIterator() -> Iterator { Iterator(iteration: plan.makeIteration(endsAtFailure: false)) }

    /// The iterator of one iteration.
    public struct Iterator: AsyncIteratorProtocol {
        let iteration: Iteration<Upstream, Output>

        /// Waits for the next outcome.
        ///
        /// - Parameter actor: The actor that the caller is isolated to.
        /// - Returns: The next outcome, or `nil` at the end and when the task is cancelled.
        /// - Throws: The error that upstream throws.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(Upstream.Failure) -> Result<Output, OperationError>? {
            switch await iteration.next() {
            case .outcome(let outcome): return outcome
            case .upstreamFailed(let failure): throw failure
            case .cancelled, .end: return nil
            }
        }
    }
}

@available(*, unavailable)
extension OperationResults.Iterator: Sendable {}

/// The order in which a sequence of outputs delivers them.
@nonexhaustive
public enum OutputOrder: Sendable, Hashable {
    /// The order of the elements. A slow operation holds back the outputs of the operations after it, which count as
    /// not yet consumed.
    case preserved
    /// The order in which the operations finish.
    case arrival
}
