internal import Baton

/// Runs blocking work, such as file access and other programs, on a thread of its own. The global executor has only as
/// many threads as the machine has cores.
enum BlockingThread {
    static func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withTaskExecutorPreference(ThreadExecutor(name: "baton-trace", threads: 1)) {
            try await away(body)
        }
    }

    /// `@concurrent` leaves the caller's actor, so the body starts on the preferred executor.
    @concurrent
    private static func away<Value: Sendable>(_ body: @Sendable () throws -> Value) async throws -> Value {
        try body()
    }
}
