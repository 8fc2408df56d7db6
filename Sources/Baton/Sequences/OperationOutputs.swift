/// The outputs of operations that are made for the elements of another sequence, the upstream.
///
/// The `deliver` methods make it. Each iterator iterates upstream from the beginning and makes its own operations. The
/// sequence ends in one of these ways:
///
/// - An operation has no output: the sequence throws the error of the first such operation. The operations after it and
///   the iteration of upstream are cancelled at once, and the error is thrown when all of them have ended.
/// - Upstream throws: after the outputs of all elements that came before, the sequence throws
///   ``OperationError/failed(_:)``, or the error of upstream itself if that is an ``OperationError``.
/// - The task that iterates is cancelled: the operations that are under way and the iteration of upstream are
///   cancelled, and the sequence throws ``OperationError/cancelled(reason:)`` when they have ended. It also waits for a
///   body or an upstream that ignores its cancel, so no work goes on behind the consumer.
/// - The queue is shut down, or begins to drain: the iteration of upstream is cancelled, and the sequence throws
///   ``OperationError/queueShutDown`` after the outputs of all elements that were taken before. An iteration by a body
///   goes on while the queue drains.
/// - Upstream ends: the sequence ends after the outputs of all elements.
///
/// A loop that is left early, or an iterator that is released, also cancels the operations that are under way, but
/// cannot wait for them. While the queue is suspended, operations that have not started produce no outputs.
///
/// The body of an operation may iterate such a sequence, even on its own queue, whatever the width of that queue: the
/// body releases its permit while it waits for an output, as it does when it awaits another operation. A child task of
/// a body does not release the permit. An operation of the sequence that waits for the operation whose body iterates
/// would never end, and fails with ``OperationError/dependencyCycle(_:)``.
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
/// or drains, after the outcomes of the elements that were taken before.
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
