/// The outputs of operations that are made for the elements of another sequence, the upstream. Made by
/// `deliver(to:on:)`.
///
/// Each iterator is a run of its own: it iterates upstream anew and makes its own operations. It ends
/// - with the error of the first operation that has no output. What is after that is cancelled at once, upstream's
///   iteration included, and the error comes when all of it has ended;
/// - with ``OperationError/failed(_:)`` when upstream throws, unless that is an ``OperationError`` itself: after the
///   outputs of all elements that came before;
/// - with ``OperationError/cancelled(reason:)`` when the task that iterates is cancelled. Then the operations that are
///   under way and upstream's iteration are cancelled, and the error comes when they have ended. A body or an upstream
///   that ignores its cancel is waited for all the same: no work goes on behind the consumer;
/// - with ``OperationError/queueShutDown`` when the queue has been shut down, or begins to drain: upstream's iteration
///   is cancelled, and the error comes after the outputs of all elements that were taken before. An iteration by a body
///   goes on while the queue drains;
/// - after the outputs of all elements when upstream ends.
///
/// A loop that is left early, or an iterator that is released, cancels what is under way, too, and cannot wait for it.
/// While the queue is suspended the outputs of what has not begun do not come.
///
/// The body of an operation may iterate one, also on its own queue, whatever the width of that: while it waits for an
/// output it releases its permit, as it does when it awaits another operation. A child task of a body does not. An
/// operation that waits for the one whose body iterates would never end, and fails with
/// ``OperationError/dependencyCycle(_:)``.
public struct OperationOutputs<Upstream: AsyncSequence & Sendable, Output: Sendable>: AsyncSequence, Sendable
where Upstream.Element: Sendable {
    /// An output.
    public typealias Element = Output
    /// Why there is no next output.
    public typealias Failure = OperationError

    let plan: DeliveryPlan<Upstream, Output>

    /// The same as `Result`s: an operation that has no output does not end the sequence, nor cancel others.
    ///
    /// In the order of arrival a failure does not say of which element it is: let the body catch it, and return both.
    public var results: OperationResults<Upstream, Output> { OperationResults(plan: plan) }

    /// Begins a run of its own. May be called any number of times.
    public func makeAsyncIterator() -> Iterator { Iterator(iteration: plan.makeIteration(endsAtFailure: true)) }

    /// One run.
    public struct Iterator: AsyncIteratorProtocol {
        let iteration: Iteration<Upstream, Output>

        /// The next output, when it is there; nil at the end, and after an error was thrown.
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

/// The outcomes of operations that are made for the elements of another sequence: a failure is an element as any other.
///
/// As ``OperationOutputs``, but for this: it throws what upstream throws and nothing else; it ends without an error
/// when the task that iterates is cancelled, and when the queue has been shut down or drains, after the outcomes of
/// what was taken before.
public struct OperationResults<Upstream: AsyncSequence & Sendable, Output: Sendable>: AsyncSequence, Sendable
where Upstream.Element: Sendable {
    /// The outcome of one operation.
    public typealias Element = Result<Output, OperationError>
    /// What upstream throws.
    public typealias Failure = Upstream.Failure

    let plan: DeliveryPlan<Upstream, Output>

    /// Begins a run of its own. May be called any number of times.
    public func makeAsyncIterator() -> Iterator { Iterator(iteration: plan.makeIteration(endsAtFailure: false)) }

    /// One run.
    public struct Iterator: AsyncIteratorProtocol {
        let iteration: Iteration<Upstream, Output>

        /// The next outcome, when it is there; nil at the end, and when the task is cancelled.
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

/// In which order a sequence of outputs has them.
@nonexhaustive
public enum OutputOrder: Sendable, Hashable {
    /// That of the elements. A slow operation holds back the outputs of those after it, which count as not yet
    /// consumed.
    case preserved
    /// As they come.
    case arrival
}
