internal import class Foundation.Thread

/// Runs `work`, and throws if it has not returned after `limit`: a hang then fails one test instead of the whole run.
///
/// A separate thread enforces the limit, so that it also works while bodies block every thread of Swift's pool. Work
/// that hangs is abandoned; that thread calls `onTimeout`, which may end the work.
@discardableResult
func within<Value: Sendable>(
    _ limit: Duration = .seconds(600), onTimeout: @escaping @Sendable () -> Void = {},
    _ work: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    let race = Race<Value>()
    return try await withCheckedThrowingContinuation { continuation in
        race.start(continuation)
        Task {
            do { race.end(.success(try await work())) } catch { race.end(.failure(error)) }
        }
        Thread.detachNewThread {
            let end = ContinuousClock.now + limit
            while !race.hasEnded {
                if ContinuousClock.now >= end, !race.hasEnded {
                    onTimeout()
                    race.end(.failure(TookTooLong(limit: limit)))
                }
                Thread.sleep(forTimeInterval: 0.005)
            }
        }
    }
}

/// Returns when a condition outside this process is true. It polls, because the system does not notify this process of
/// the end of processes that are not its children.
func waitUntil(_ isSo: @escaping @Sendable () -> Bool) async throws {
    try await within { while !isSo() { try await Task.sleep(for: .milliseconds(5)) } }
}

/// Runs `work` on a thread of its own, and returns its result.
func onOwnThread<Value: Sendable>(
    stackSize: Int? = nil, _ work: @escaping @Sendable () -> Value
) async -> Value {
    await withCheckedContinuation { continuation in
        let thread = Thread { continuation.resume(returning: work()) }
        if let stackSize { thread.stackSize = stackSize }
        thread.start()
    }
}

struct TookTooLong: Error {
    let limit: Duration
}

/// Resumes a continuation with the first result.
private final class Race<Value: Sendable>: Sendable {
    private let continuation = Guarded<CheckedContinuation<Value, any Error>?>(nil)

    var hasEnded: Bool { continuation.withLock { $0 == nil } }

    func start(_ continuation: CheckedContinuation<Value, any Error>) {
        self.continuation.withLock { $0 = continuation }
    }

    func end(_ result: Result<Value, any Error>) {
        continuation.withLock { $0.take() }?.resume(with: result)
    }
}
