import Dispatch
import Foundation

/// Foundation's `OperationQueue` with block operations.
struct FoundationContestant: Contestant {
    /// The `maxConcurrentOperationCount`, or nil for the default.
    let width: Int?

    static func name(width: Int?) -> String { width.map { "OperationQueue width \($0)" } ?? "OperationQueue" }
    var name: String { Self.name(width: width) }

    /// Foundation takes quadratic time, and minutes beyond these sizes: a queue with a free permit scans all waiting
    /// operations whenever one finishes, and `addDependency` scans all dependencies of the operation.
    func largestCount(_ workload: Workload) -> Int? {
        switch (workload, width) {
        case (.independent, _): 100_000
        case (.chain, nil), (.fan, nil), (.layers, nil), (.values, nil): 1000
        case (.chain, 2), (.values, 2): 1000
        case (.fan, _), (.layers, 2): 10_000
        case (.chain, _), (.layers, _), (.values, _): 100_000
        case (.bodies1, nil), (.bodies10, nil), (.bodies100, nil): .max
        case (.bodies1, 2), (.bodies10, 2), (.bodies100, 2): .max
        case (.adding, nil): 100_000
        default: nil
        }
    }

    func run(_ job: Job) -> Nanoseconds {
        measure {
            let queue = OperationQueue()
            if let width { queue.maxConcurrentOperationCount = width }
            switch job.workload {
            case .values: values(job, queue)
            case .adding: adding(job, queue)
            case .bodies1, .bodies10, .bodies100: bodies(job, queue)
            default: graph(job, queue)
            }
        }
    }

    private func graph(_ job: Job, _ queue: OperationQueue) {
        var operations: [BlockOperation] = []
        operations.reserveCapacity(job.count)
        for index in 0..<job.count {
            let operation = BlockOperation {}
            job.graph.dependencies.forEach(of: index) { operation.addDependency(operations[$0]) }
            operations.append(operation)
        }
        run(operations, queue)
        if job.workload == .chain { unlink(operations) }
    }

    /// Foundation's operations have no results, so each stores its value in a box that the next one captures.
    private func values(_ job: Job, _ queue: OperationQueue) {
        var last = Box(0)
        var operations: [BlockOperation] = []
        operations.reserveCapacity(job.count)
        for index in 0..<job.count {
            let source = last
            let target = Box(0)
            let operation = BlockOperation { target.value = source.value + 1 }
            if index > 0 { operation.addDependency(operations[index - 1]) }
            operations.append(operation)
            last = target
        }
        run(operations, queue)
        precondition(last.value == job.count, "the chain of \(job.count) made \(last.value)")
        unlink(operations)
    }

    private func bodies(_ job: Job, _ queue: OperationQueue) {
        let iterations = job.iterations
        run((0..<job.count).map { _ in BlockOperation { spin(iterations) } }, queue)
    }

    private func adding(_ job: Job, _ queue: OperationQueue) {
        let adders = 4
        DispatchQueue.concurrentPerform(iterations: adders) { _ in
            var operations: [BlockOperation] = []
            operations.reserveCapacity(job.count / adders)
            for _ in 0..<job.count / adders {
                let operation = BlockOperation {}
                queue.addOperation(operation)
                operations.append(operation)
            }
        }
        queue.waitUntilAllOperationsAreFinished()
    }

    private func run(_ operations: [BlockOperation], _ queue: OperationQueue) {
        queue.addOperations(operations, waitUntilFinished: false)
        queue.waitUntilAllOperationsAreFinished()
    }

    /// Removes dependencies, because an operation retains them after it has finished, and the release of a long chain
    /// overflows the stack.
    private func unlink(_ operations: [BlockOperation]) {
        for index in operations.indices.dropFirst() { operations[index].removeDependency(operations[index - 1]) }
    }
}
