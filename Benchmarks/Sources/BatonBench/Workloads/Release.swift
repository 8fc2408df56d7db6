import Baton

/// What it takes to let go of a long chain, after it ran or without ever having run.
enum Release: String, CaseIterable {
    case afterRun = "release"
    case neverRun = "release-never-run"

    var title: String {
        switch self {
        case .afterRun: "of a chain that has run"
        case .neverRun: "of a chain that has never run"
        }
    }

    /// In the parent: nanoseconds per operation, nil if the child crashed.
    func run(count: Int) -> Nanoseconds? { Child.number(.release, count: count, rawValue) }

    /// In the child: the median of three.
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
