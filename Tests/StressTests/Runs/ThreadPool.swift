import Baton
import Foundation

/// An executor with threads of its own. There are more threads than cores, so that the system preempts them at any
/// point, and bodies that spin block no other thread.
final class ThreadPool: TaskExecutor {
    private final class Jobs: @unchecked Sendable {
        // The condition guards this property.
        private var waiting: [UnownedJob] = []
        private let condition = NSCondition()

        func append(_ job: UnownedJob) {
            condition.withLock {
                waiting.append(job)
                condition.signal()
            }
        }

        func next() -> UnownedJob {
            condition.withLock {
                while waiting.isEmpty { condition.wait() }
                return waiting.removeFirst()
            }
        }
    }

    /// The threads of the pools run until the process ends.
    static let shared = ThreadPool()
    static let racing = ThreadPool()
    /// An executor with so few threads that bodies block all of them.
    static let small: any TaskExecutor = ThreadExecutor(name: "small", threads: 2)

    private let jobs = Jobs()

    private init() {
        for _ in 0..<4 {
            let thread = Thread { [self] in
                while true { jobs.next().runSynchronously(on: asUnownedTaskExecutor()) }
            }
            thread.start()
        }
    }

    func enqueue(_ job: consuming ExecutorJob) { jobs.append(UnownedJob(job)) }
}
