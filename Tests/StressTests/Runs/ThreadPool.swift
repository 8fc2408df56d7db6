import Baton
import Foundation

/// Threads of its own, more than there are cores, so that the system takes the core away from them in the middle of
/// anything, and so that bodies that spin keep nobody else's thread.
final class ThreadPool: TaskExecutor {
    private final class Jobs: @unchecked Sendable {
        // Guarded by the condition.
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

    /// Their threads end with the process.
    static let shared = ThreadPool()
    static let racing = ThreadPool()
    /// Bodies block all of its threads.
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
