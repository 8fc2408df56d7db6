internal import Baton

/// Something took longer than it may.
struct TimeLimitExceeded: Error, CustomStringConvertible {
    let what: String
    let limit: Duration

    var description: String { "\(what) took longer than \(limit)" }
}

/// Runs a closure, and gives it up when it takes too long, even if it does not mind being cancelled.
///
/// The time is measured by a thread, so it ends as well if every thread of Swift's pool is blocked. This is the only
/// function here that makes tasks of its own: a child task would have to be awaited.
///
/// - Throws: What the closure throws, or ``TimeLimitExceeded``; then its task is cancelled and left behind.
func within<Value: Sendable>(
    _ limit: Duration, _ what: String, _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    guard let wake = Wake() else { throw FaultServer.NoResources() }
    let waiter = Waiter()
    let result = Shared<Result<Value, any Error>?>(nil)
    let task = Task {
        let value: Result<Value, any Error>
        do { value = .success(try await body()) } catch { value = .failure(error) }
        result.change { $0 = value }
        waiter.end(.happened)
        wake.wake()
    }
    let deadline = ContinuousClock.now + limit
    let watch = JoinableThread { if !wake.wait(until: deadline) { waiter.end(.stopped) } }
    guard let watch else {
        task.cancel()
        throw FaultServer.NoResources()
    }
    let end = await withTaskCancellationHandler {
        await waiter.suspend()
    } onCancel: {
        task.cancel()
    }
    watch.join()
    if end == .happened, let result = result.value { return try result.get() }
    task.cancel()
    throw TimeLimitExceeded(what: what, limit: limit)
}

/// A value that several tasks change.
final class Shared<Value: Sendable>: Sendable {
    private let state: Locked<Value>

    init(_ value: Value) { state = Locked(value) }

    var value: Value { state.withLock { $0 } }

    func change<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result { try state.withLock(body) }
}
