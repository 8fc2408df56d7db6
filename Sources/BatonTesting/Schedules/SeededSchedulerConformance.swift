internal import Baton

/// A queue on a seeded scheduler counts operations where it would otherwise read a clock.
extension SeededScheduler: DeterministicTaskExecutor {
    package var hasOwnScope: Bool { true }
}

extension SeededScheduler {
    /// What keeps the operations of the queues on this scheduler, a sentence for each root.
    var waitsOfOperations: [String] {
        AsyncOperationQueue.stallReports(on: self).flatMap { report in
            let more = report.rootCount - report.explanations.count
            return report.explanations.map(\.description) + (more > 0 ? ["And \(more) more."] : [])
        }
    }
}
