import Baton
import BatonTesting

/// Runs a queue beside the other services of a program.
struct QueueService: Service {
    let queue: AsyncOperationQueue

    func run() async throws {
        let (untilShutdown, shutdown) = AsyncStream.makeStream(of: Void.self)
        await withGracefulShutdownHandler {
            for await _ in untilShutdown {}
            await queue.shutdown(within: .seconds(10))
        } onGracefulShutdown: {
            shutdown.finish()
        }
    }
}

// With the package this is `import ServiceLifecycle`. Here is a stand-in of the same shape.
protocol Service: Sendable {
    func run() async throws
}

enum ServiceGroup {
    @TaskLocal static var shutdown = Gate()
}

func withGracefulShutdownHandler(
    operation: () async throws -> Void, onGracefulShutdown handler: @escaping @Sendable () -> Void
) async rethrows {
    let watching = Task {
        await ServiceGroup.shutdown.wait()
        handler()
    }
    try await operation()
    watching.cancel()
}

let queue = AsyncOperationQueue()
let begun = Gate()
let report = AsyncOperation("report") { context in
    begun.open()
    try await context.sleep(for: .milliseconds(50))
    return "written"
}.add(to: queue)
let shutdown = Gate()
async let service: Void = ServiceGroup.$shutdown.withValue(shutdown) { try await QueueService(queue: queue).run() }
await begun.wait()
shutdown.open()
try await service
print(try await report.value)  // written
let late = queue.add("late") {}
await queue.waitUntilIdle()
print(late.result!)  // failure(the queue was shut down)
