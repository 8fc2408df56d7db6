import Foundation

/// Runs work that blocks its thread, on a thread of its own, and returns its result.
///
/// Swift's pool has as few threads as the machine has processors. A test that blocks one of them delays all other
/// tests.
func onOwnThread<Value: Sendable, Failure: Error>(
    _ work: @escaping @Sendable () throws(Failure) -> Value
) async throws(Failure) -> Value {
    let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
        Thread.detachNewThread {
            continuation.resume(returning: Result { () throws(Failure) in try work() })
        }
    }
    return try result.get()
}
