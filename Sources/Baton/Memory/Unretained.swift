/// A reference to an object that does not keep the object alive. Two references are equal if they refer to the same
/// object.
///
/// The engine refers in this way to operations that something else keeps alive, for two reasons: each retain and each
/// release is an atomic operation, of which a worker would need several for every operation, and a reference that a
/// variable happens to retain would keep an operation alive in an idle queue (G31).
///
/// This is the only type that uses `Unmanaged`, besides ``Retained``. It has no retain and no release: a reference that
/// counts is a ``Retained`` or an ordinary one. It cannot check that the object exists. A comment at each stored
/// `Unretained` says what keeps the object alive until its last use. For an operation it is one of these:
///
/// - the queue's reference, which a ``Retained`` owns from the adoption of the operation until it leaves the queue;
/// - the operation that depends on it, whose ``DependencyList`` retains its sources;
/// - the caller, for the time of a call.
@usableFromInline
struct Unretained<Object: AnyObject> {
    @usableFromInline let unmanaged: Unmanaged<Object>

    @inline(__always)
    init(_ object: Object) { unmanaged = .passUnretained(object) }

    @inline(__always)
    init(_ unmanaged: Unmanaged<Object>) { self.unmanaged = unmanaged }

    /// Calls `body` with the object, which has to exist until `body` has returned or has caused its release. The object
    /// is neither retained nor released.
    ///
    /// `_withUnsafeGuaranteedRef` is not a documented part of the standard library, but nothing else avoids the retain
    /// and the release. If it should disappear, ``object`` takes its place, at the cost of two atomic operations for
    /// each call.
    @inlinable
    @inline(__always)
    func use<Result>(_ body: (Object) throws -> Result) rethrows -> Result {
        try unmanaged._withUnsafeGuaranteedRef(body)
    }

    /// The object, retained for the caller.
    @usableFromInline
    @inline(__always)
    var object: Object { unmanaged.takeUnretainedValue() }

    /// True if this is a reference to `object`.
    @inline(__always)
    func refers(to object: Object) -> Bool { self == Unretained(object) }
}

extension Unretained: BitwiseCopyable {}

extension Unretained: Sendable where Object: Sendable {}

extension Unretained: Hashable {
    @usableFromInline
    @inline(__always)
    static func == (left: Self, right: Self) -> Bool { left.unmanaged.toOpaque() == right.unmanaged.toOpaque() }

    @usableFromInline
    func hash(into hasher: inout Hasher) { hasher.combine(unmanaged.toOpaque()) }
}

// MARK: - Addresses

/// Addresses are for C functions, for ThreadSanitizer, and for the types that pack several references into one word.
extension Unretained {
    /// The address of the object.
    @inline(__always)
    var address: UnsafeMutableRawPointer { unmanaged.toOpaque() }

    /// The reference to the object at this address, which has to be of this class.
    @inline(__always)
    init(address: UnsafeRawPointer) { self.init(Unmanaged<Object>.fromOpaque(address)) }
}
