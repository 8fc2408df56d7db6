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
/// The harness lives on the main thread: it is none of the pool's, so that waiting on it takes nothing from a
/// contestant.
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

/// A variable that is written by one and later read by another, with something between them that orders the two.
final class Box<Value>: @unchecked Sendable {
    // Safe because whoever shares a box orders its uses: by a semaphore, or by a dependency between two operations.
    var value: Value

    init(_ value: Value) { self.value = value }
}
