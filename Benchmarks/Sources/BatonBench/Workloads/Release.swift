import Baton

/// Measures the release of a long chain that has run, or that never ran.
enum Release: String, CaseIterable {
    case afterRun = "release"
    case neverRun = "release-never-run"

    var title: String {
        switch self {
        case .afterRun: "of a chain that has run"
        case .neverRun: "of a chain that has never run"
        }
    }

    /// Called in the parent process. Returns nanoseconds per operation, or nil if the child crashed.
    func run(count: Int) -> Nanoseconds? { Child.number(.release, count: count, rawValue) }

    /// Called in the child process. Returns the median of three measurements.
    static func measure(_ what: String, count: Int) -> Nanoseconds {
        let release = Release(rawValue: what)!
        let graph = Graph(.release, count: count)
        let samples = (0..<3).map { _ in
            onPool {
                var operations = makeGraph(graph)
                if release == .afterRun {
                    let queue = AsyncOperationQueue()
                    queue.add(operations)
                    await queue.waitUntilIdle()
                }
                let stopwatch = Stopwatch()
                operations = []
                return stopwatch.nanoseconds
            }
        }
        return samples.median / Double(count)
    }
}
