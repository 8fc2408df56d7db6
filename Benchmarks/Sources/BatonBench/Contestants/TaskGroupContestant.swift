/// One child task for each operation. A task group has no dependencies.
struct TaskGroupContestant: Contestant {
    static let name = "TaskGroup"
    var name: String { Self.name }

    func largestCount(_ workload: Workload) -> Int? {
        switch workload {
        case .independent: 100_000
        case .bodies1, .bodies10, .bodies100: .max
        default: nil
        }
    }

    func run(_ job: Job) -> Nanoseconds {
        let (count, iterations) = (job.count, job.iterations)
        return onPool {
            let stopwatch = Stopwatch()
            await withTaskGroup(of: Void.self) { group in
                if iterations == 0 {
                    for _ in 0..<count { group.addTask {} }
                } else {
                    for _ in 0..<count { group.addTask { spin(iterations) } }
                }
            }
            return stopwatch.nanoseconds
        }
    }
}
