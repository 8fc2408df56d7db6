import Baton
import BatonTesting

actor Disk {
    private var page: String?
    func write(_ text: String) { page = text }
    func read() -> String? { page }
}

struct NothingToRead: Error {}

// The bodies do not wait for each other, because a dependency is missing. Most runs do not show it.
do {
    try await exploring(schedules: 50) { scheduler in
        let queue = AsyncOperationQueue(maxConcurrentOperationCount: 2, executor: scheduler)
        let disk = Disk()
        let write = AsyncOperation("write") { await disk.write("a page") }
        let read = AsyncOperation("read") { if await disk.read() == nil { throw NothingToRead() } }
        queue.add(write, read)  // lacks read.addDependency(write)
        await queue.waitUntilIdle()
        if let error = read.error { throw error }
    }
} catch let failure as ScheduleFailure {
    print(failure.underlying)  // NothingToRead()
}
