internal import Baton

/// The clock that measures the idle limit of the requests that a task sends.
///
/// It is a task-local, so that it also reaches a transport that wraps another one.
enum TransferTime {
    /// Nil stands for the system's continuous clock.
    @TaskLocal static var current: TimeSource?

    /// Calls a closure whose requests are measured by a clock.
    static func measured<Value: Sendable>(
        by time: TimeSource, _ body: () async throws -> Value
    ) async throws -> Value {
        let time = time.isContinuous ? nil : time
        if time == nil, current == nil { return try await body() }
        return try await $current.withValue(time) { try await body() }
    }
}
