internal import Baton

/// A call whose child tasks produce the streams that it sends.
///
/// A transport returns the head of a response although it may still be sending the body of the request. It can
/// therefore have no child task of its own that iterates the stream. The call, which lasts until the response has been
/// read, has one, and the transport passes the iteration on to it. If the body of an operation makes the call, the
/// iteration runs on the executor of the operation's queue, and what it awaits counts as awaited by that body.
final class UploadScope: Sendable {
    typealias Work = @Sendable () async -> Void

    private struct State {
        /// The work that no child task has taken yet.
        var work: [Work] = []
        /// The continuation of the task that takes work, while there is none.
        var waiter: UnsafeContinuation<Void, Never>?
        var isClosed = false
    }

    /// The scope of the call for which the task sends a request, nil if that call sends no stream.
    ///
    /// It is a task-local, so that it also reaches a transport that wraps another one.
    @TaskLocal static var current: UploadScope?

    private let state = Locked(State())

    private init() {}

    /// Calls a closure, and returns when the closure and all work that was added to the scope have ended. Work that
    /// goes on when the closure has ended is cancelled.
    static func open<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        let scope = UploadScope()
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await scope.performWork() }
            defer { scope.close() }
            return try await $current.withValue(scope) { try await body() }
        }
    }

    /// Performs work on a child task of the call. Returns false if the call is about to end.
    func add(_ work: @escaping Work) -> Bool {
        let (isAdded, waiter) = state.withLock { state -> (Bool, UnsafeContinuation<Void, Never>?) in
            if state.isClosed { return (false, nil) }
            state.work.append(work)
            return (true, state.waiter.take())
        }
        waiter?.resume()
        return isAdded
    }

    private func close() {
        let waiter = state.withLock { state in
            state.isClosed = true
            return state.waiter.take()
        }
        waiter?.resume()
    }

    private func performWork() async {
        await withDiscardingTaskGroup { group in
            while let work = await next() { group.addTask { await work() } }
            group.cancelAll()
        }
    }

    /// Returns the next work, or nil if the scope is closed. Work that was added is returned even if the task is
    /// cancelled, because others wait for its end.
    private func next() async -> Work? {
        while true {
            let (work, isClosed) = state.withLock { state in
                (state.work.isEmpty ? nil : state.work.removeFirst(), state.isClosed)
            }
            if work != nil || isClosed { return work }
            await withUnsafeContinuation { waiter in
                let mustWait = state.withLock { state -> Bool in
                    if state.isClosed || !state.work.isEmpty { return false }
                    state.waiter = waiter
                    return true
                }
                if !mustWait { waiter.resume() }
            }
        }
    }
}
