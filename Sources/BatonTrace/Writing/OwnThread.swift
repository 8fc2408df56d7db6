internal import Baton

/// For what blocks: files and other programs. The global executor has as many threads as the machine has cores.
enum OwnThread {
    static func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withTaskExecutorPreference(ThreadExecutor(name: "baton-trace", threads: 1)) {
            try await away(body)
        }
    }

    /// Leaves the caller's actor, and so begins on the preferred executor.
    @concurrent
    private static func away<Value: Sendable>(_ body: @Sendable () throws -> Value) async throws -> Value {
        try body()
    }
}
