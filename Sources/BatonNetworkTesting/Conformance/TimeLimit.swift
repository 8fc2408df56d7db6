internal import Baton

/// The error of work that takes longer than its limit.
struct TimeLimitExceeded: Error, CustomStringConvertible {
    let what: String
    let limit: Duration

    var description: String { "\(what) took longer than \(limit)" }
}

/// Runs a closure, and abandons it when it takes too long, even if it ignores cancellation.
///
/// A thread measures the time. It does not count time during which Swift's pool runs no task, because other tests block
/// its threads. The closure's task is unstructured, because a child task would have to be awaited.
///
/// - Parameters:
///   - limit: The time after which the closure is abandoned.
///   - what: The name of the work in the error.
///   - body: The closure to run, on a task of its own.
/// - Throws: The error of the closure, or ``TimeLimitExceeded``; its task is then cancelled and left behind.
func within<Value: Sendable>(
    _ limit: Duration, _ what: String, _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    guard let wakeUp = WakeUpSocket() else { throw FaultServer.NoResources() }
    let waiter = Waiter()
    let result = Shared<Result<Value, any Error>?>(nil)
    let task = Task {
        let value: Result<Value, any Error>
        do { value = .success(try await body()) } catch { value = .failure(error) }
        result.change { $0 = value }
        waiter.end(.happened)
        wakeUp.wake()
    }
    let watch = JoinableThread {
        var rest = limit
        while true {
            let step = min(rest, .milliseconds(500))
            if wakeUp.wait(until: .now + step) { return }
            rest -= step
            if rest <= .zero { return waiter.end(.stopped) }
            // Wait for the pool to run a task. The end of the closure wakes this thread as well.
            Task { wakeUp.wake() }
            _ = wakeUp.wait(until: .now + .seconds(86400))
            wakeUp.clear()
            if result.value != nil { return }
        }
    }
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
