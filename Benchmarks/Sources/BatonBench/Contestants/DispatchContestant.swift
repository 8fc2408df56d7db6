import Dispatch

/// A concurrent Dispatch queue. Each operation has a group that its dependencies leave, and which then notifies it.
struct DispatchContestant: Contestant {
    static let name = "Dispatch"
    var name: String { Self.name }

    func largestCount(_ workload: Workload) -> Int? {
        switch workload {
        case .independent, .chain, .fan, .layers, .values: 100_000
        case .bodies1, .bodies10, .bodies100: .max
        default: nil
        }
    }

    func run(_ job: Job) -> Nanoseconds {
        let stopwatch = Stopwatch()
        let queue = DispatchQueue(label: "baton-bench", attributes: .concurrent)
        switch job.workload {
        case .independent: blocks(job, queue)
        case .values: values(job, queue)
        case .chain, .fan, .layers: graph(job, queue) { _ in }
        default: bodies(job, queue)
        }
        return stopwatch.nanoseconds
    }

    private func blocks(_ job: Job, _ queue: DispatchQueue) {
        let group = DispatchGroup()
        for _ in 0..<job.count { queue.async(group: group) {} }
        group.wait()
    }

    private func bodies(_ job: Job, _ queue: DispatchQueue) {
        let iterations = job.iterations
        let group = DispatchGroup()
        for _ in 0..<job.count { queue.async(group: group) { spin(iterations) } }
        group.wait()
    }

    private func graph(_ job: Job, _ queue: DispatchQueue, _ body: @escaping @Sendable (Int) -> Void) {
        let done = DispatchGroup()
        let groups = (0..<job.count).map { _ in DispatchGroup() }
        let graph = job.graph
        for index in 0..<job.count {
            for _ in 0..<graph.dependencies.count(of: index) { groups[index].enter() }
            if graph.dependents.count(of: index) == 0 { done.enter() }
        }
        for index in 0..<job.count {
            groups[index].notify(queue: queue) {
                body(index)
                graph.dependents.forEach(of: index) { groups[$0].leave() }
                if graph.dependents.count(of: index) == 0 { done.leave() }
            }
        }
        done.wait()
    }

    private func values(_ job: Job, _ queue: DispatchQueue) {
        let boxes = (0..<job.count).map { _ in Box(1) }
        graph(job, queue) { index in
            if index > 0 { boxes[index].value = boxes[index - 1].value + 1 }
        }
        let value = boxes[job.count - 1].value
        precondition(value == job.count, "the chain of \(job.count) made \(value)")
    }
}
