internal import Baton

/// A queue on a seeded scheduler counts operations where it would otherwise read a clock.
extension SeededScheduler: DeterministicTaskExecutor {
    package var hasOwnScope: Bool { true }
}

extension SeededScheduler {
    private static let mostExplanations = 10

    /// Why operations of the queues on this scheduler have not finished, each as `explain()` says it.
    var waitsOfOperations: [String] {
        let (explanations, areMore) = AsyncOperationQueue.explanations(on: self, upTo: Self.mostExplanations)
        return explanations.map(\.description) + (areMore ? ["Others have not finished, either."] : [])
    }
}
