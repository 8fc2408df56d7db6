/// One unstructured task for each operation, which awaits the values of its dependencies.
struct TaskContestant: Contestant {
    static let name = "Task"
    var name: String { Self.name }

    func largestCount(_ workload: Workload) -> Int? {
        switch workload {
        case .independent, .chain, .fan, .layers, .values: 100_000
        case .bodies1, .bodies10, .bodies100: .max
        default: nil
        }
    }

    func run(_ job: Job) -> Nanoseconds {
        onPool {
            switch job.workload {
            case .values: await values(job)
            case .independent, .chain, .fan, .layers: await graph(job)
            default: await bodies(job)
            }
        }
    }

    private func graph(_ job: Job) async -> Nanoseconds {
        let graph = job.graph
        let stopwatch = Stopwatch()
        var tasks: [Task<Void, Never>] = []
        tasks.reserveCapacity(graph.count)
        for index in 0..<graph.count {
            var sources: [Task<Void, Never>] = []
            graph.dependencies.forEach(of: index) { sources.append(tasks[$0]) }
            switch sources.count {
            case 0:
                tasks.append(Task {})
            case 1:
                let source = sources[0]
                tasks.append(Task { await source.value })
            default:
                tasks.append(Task { [sources] in for source in sources { await source.value } })
            }
        }
        for task in tasks { await task.value }
        tasks = []
        return stopwatch.nanoseconds
    }

    private func values(_ job: Job) async -> Nanoseconds {
        let stopwatch = Stopwatch()
        var tasks: [Task<Int, Never>] = [Task { 1 }]
        tasks.reserveCapacity(job.count)
        for index in 1..<job.count {
            let source = tasks[index - 1]
            tasks.append(Task { await source.value + 1 })
        }
        let value = await tasks[job.count - 1].value
        tasks = []
        let elapsed = stopwatch.nanoseconds
        precondition(value == job.count, "the chain of \(job.count) made \(value)")
        return elapsed
    }

    private func bodies(_ job: Job) async -> Nanoseconds {
        let iterations = job.iterations
        let stopwatch = Stopwatch()
        let tasks = (0..<job.count).map { _ in Task { spin(iterations) } }
        for task in tasks { await task.value }
        return stopwatch.nanoseconds
    }
}
