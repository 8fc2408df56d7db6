/// Owns one reference to an object. It cannot be copied, and using it up is the only way to hand it on, so the compiler
/// refuses code that releases the reference twice. If nobody uses it up, its end releases the object.
///
/// The code that owns a reference decides when the object is released. That is why this type is used in place of an
/// ordinary reference: an operation has to be released before its queue can be idle (G31), while the compiler may keep
/// what an ordinary variable refers to until the end of the scope, or not.
///
/// The most important of these references is the *queue's reference* to an operation. It is made when the queue adopts
/// the operation, and released when the operation has left the queue. In between, whatever the operation waits in owns
/// the reference: a list of the scheduler, a timer, a wait queue of exclusions or rates, the worker that runs it. These
/// store it with ``handOver()`` as an ``Unretained``, because lists and tables consist of copyable values, and the code
/// that takes the operation out restores the owner with ``init(handedOver:)``.
struct Retained<Object: AnyObject>: ~Copyable {
    private let unmanaged: Unmanaged<Object>

    /// Retains the object.
    @inline(__always)
    init(_ object: Object) { unmanaged = .passRetained(object) }

    /// Restores the owner of a reference that ``handOver()`` has left to a list, a table or a timer, when the operation
    /// is taken out of it. This must be done once for each call of ``handOver()``.
    @inline(__always)
    init(handedOver reference: Unretained<Object>) { unmanaged = reference.unmanaged }

    /// Restores the owner of a reference to this object, which ``handOver()`` has left behind.
    @inline(__always)
    init(handedOver object: Object) { self.init(handedOver: Unretained(object)) }

    deinit { unmanaged.release() }

    /// The object without its reference count, for as long as this owner exists.
    @inline(__always)
    var unretained: Unretained<Object> { Unretained(unmanaged) }

    /// Calls `body` with the object.
    @inline(__always)
    borrowing func use<Result>(_ body: (Object) throws -> Result) rethrows -> Result { try unretained.use(body) }

    /// Releases the object.
    @inline(__always)
    consuming func release() {
        unmanaged.release()
        discard self
    }

    /// Turns the reference into an ordinary one.
    @inline(__always)
    consuming func take() -> Object {
        let object = unmanaged.takeRetainedValue()
        discard self
        return object
    }

    /// Leaves the reference to a place that stores it without an owner; see ``init(handedOver:)``.
    @inline(__always)
    consuming func handOver() -> Unretained<Object> {
        let unretained = unretained
        discard self
        return unretained
    }
}

extension Retained: Sendable where Object: Sendable {}
