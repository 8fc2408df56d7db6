import Dispatch

typealias Nanoseconds = Double

struct Stopwatch {
    private let start = ContinuousClock.now

    var nanoseconds: Nanoseconds {
        let (seconds, attoseconds) = (ContinuousClock.now - start).components
        return Double(seconds) * 1e9 + Double(attoseconds) / 1e9
    }
}

func measure(_ work: () -> Void) -> Nanoseconds {
    let stopwatch = Stopwatch()
    work()
    return stopwatch.nanoseconds
}

/// Runs `work` on the cooperative pool and blocks the main thread until it is done.
///
/// The harness uses the main thread, which does not belong to the pool, so its waits take no thread from a contestant.
func onPool<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) -> Value {
    let box = Box<Value?>(nil)
    let done = DispatchSemaphore(value: 0)
    Task.detached {
        box.value = await work()
        done.signal()
    }
    done.wait()
    return box.value!
}

/// A variable that one thread writes and another thread reads later. The code that uses it must order the two accesses.
final class Box<Value>: @unchecked Sendable {
    // This is safe because the code that shares a box orders its accesses, by a semaphore or by a dependency between
    // two operations.
    var value: Value

    init(_ value: Value) { self.value = value }
}
