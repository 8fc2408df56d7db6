internal import Synchronization

/// A Boolean value that threads share without a lock.
///
/// All accesses are relaxed: the flag publishes nothing but itself. A thread that reads an old value does what it would
/// have done if it had come a little earlier. The code that uses a flag has to show that this is right, usually because
/// a lock that both threads take orders the accesses.
struct AtomicFlag: ~Copyable, Sendable {
    private let word: Atomic<Bool>

    init(_ value: Bool = false) { word = Atomic(value) }

    var isSet: Bool {
        @inline(__always) get { word.load(ordering: .relaxed) }
        @inline(__always) nonmutating set { word.store(newValue, ordering: .relaxed) }
    }

    /// Sets the flag. Returns true for the first of all callers, and false for the others: the exchange is one step, so
    /// no two callers find the flag unset.
    borrowing func setIfUnset() -> Bool { !word.exchange(true, ordering: .relaxed) }
}

/// A small number that one thread leaves for others, which may read an old one. Relaxed, as ``AtomicFlag`` is.
struct AtomicHint<Value: FixedWidthInteger & UnsignedInteger>: ~Copyable {
    // `Atomic` has no operations for a generic integer.
    private let word: Atomic<UInt>

    init(_ value: Value) { word = Atomic(UInt(value)) }

    var value: Value {
        @inline(__always) get { Value(truncatingIfNeeded: word.load(ordering: .relaxed)) }
        @inline(__always) nonmutating set { word.store(UInt(newValue), ordering: .relaxed) }
    }
}

extension AtomicHint: Sendable where Value: Sendable {}

/// The priority of an operation, which threads read without a lock. Relaxed, as ``AtomicFlag`` is: a thread that reads
/// an old priority lists the operation where it stood before, and the thread that changes the priority moves it under
/// the queue's lock.
struct AtomicPriority: ~Copyable, Sendable {
    private let word: Atomic<UInt8>

    init(_ priority: OperationPriority) { word = Atomic(priority.rawValue) }

    /// The getter casts, because `init(rawValue:)` is a jump table and each edge of a graph reads two priorities. This
    /// is safe, because only raw values of priorities are stored, and a priority is represented by its raw value.
    var value: OperationPriority {
        @inline(__always) get { unsafeBitCast(word.load(ordering: .relaxed), to: OperationPriority.self) }
        @inline(__always) nonmutating set { word.store(newValue.rawValue, ordering: .relaxed) }
    }
}

/// A reference that one thread leaves for others without counting it, such as the operation that runs on a task. The
/// thread that stores the reference removes it before the object can be released, and the others are certain by other
/// means to come before that. So the accesses can be relaxed.
struct AtomicReference<Object: AnyObject & Sendable>: ~Copyable, Sendable {
    private let word = Atomic<Unmanaged<Object>?>(nil)

    /// The object. The getter retains it for the caller.
    var object: Object? {
        @inline(__always) get { word.load(ordering: .relaxed)?.takeUnretainedValue() }
        @inline(__always) nonmutating set { word.store(newValue.map { .passUnretained($0) }, ordering: .relaxed) }
    }
}
