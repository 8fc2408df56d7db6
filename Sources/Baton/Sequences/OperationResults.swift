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
