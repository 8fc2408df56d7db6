internal import Baton

/// On a deterministic executor, a queue counts operations where it would otherwise read a clock.
extension SeededScheduler: DeterministicTaskExecutor {
    package var hasOwnScope: Bool { true }
}

extension SeededScheduler {
    private static let maxExplanations = 10

    /// The explanations of the unfinished operations of the queues on this scheduler, as `explain()` describes them.
    var waitsOfOperations: [String] {
        let (explanations, areMore) = AsyncOperationQueue.explanations(on: self, upTo: Self.maxExplanations)
        return explanations.map(\.description) + (areMore ? ["Others have not finished, either."] : [])
    }
}
