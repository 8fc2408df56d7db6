/// The handlers of one operation: those that wait for their moment, and those whose moment has come. Pure.
///
/// What is due is called by one task at a time, in order. `willFinish` handlers are apart, because the outcome waits for them.
struct HandlerList {
    typealias Call = @Sendable (AnyOperation) async -> Void
    typealias ProductCall = @Sendable (_ product: AnyOperation) async -> Void

    enum Moment {
        case start
        case cancel
        /// Comes once.
        case finish
    }

    private struct Registered {
        let moment: Moment
        let call: Call
    }

    private var registered: [Registered] = []
    private var forProducts: [ProductCall] = []
    private var beforeFinish: [Call] = []
    private var due: [Call] = []
    private var isDelivering = false
    /// The last `willFinish` handler has returned; later ones come too late to hold anything back.
    private var isDecidedFinally = false
    /// One of them has to be called before the body, or before its outcome is published.
    private(set) var surroundBody = false

    // MARK: Registering. True: the caller starts a delivery.

    mutating func add(at moment: Moment, isPast: Bool, _ call: @escaping Call) -> Bool {
        if isPast {
            due.append(call)
            return startDelivery()
        }
        registered.append(Registered(moment: moment, call: call))
        if moment == .start { surroundBody = true }
        return false
    }

    mutating func addBeforeFinish(isFinished: Bool, _ call: @escaping Call) -> Bool {
        if isFinished || isDecidedFinally { return add(at: .finish, isPast: isFinished, call) }
        beforeFinish.append(call)
        surroundBody = true
        return false
    }

    mutating func addForProducts(_ call: @escaping ProductCall) { forProducts.append(call) }

    // MARK: Moments. True: the caller starts a delivery.

    mutating func reach(_ moment: Moment) -> Bool {
        due += registered.filter { $0.moment == moment }.map(\.call)
        if moment == .finish {
            registered = []
            forProducts = []
        } else {
            registered.removeAll { $0.moment == moment }
        }
        return startDelivery()
    }

    mutating func reachProduct(_ product: AnyOperation) -> Bool {
        due += forProducts.map { call in { _ in await call(product) } }
        return startDelivery()
    }

    private mutating func startDelivery() -> Bool {
        if due.isEmpty || isDelivering { return false }
        isDelivering = true
        return true
    }

    // MARK: Delivering

    /// Nil: the delivery is over.
    mutating func nextDue() -> Call? {
        if due.isEmpty {
            isDelivering = false
            return nil
        }
        return due.removeFirst()
    }

    /// The outcome is decided. False: no handler stands between it and its publication.
    mutating func beginFinishing() -> Bool { !beforeFinish.isEmpty }

    /// Nil: all have returned, those that came meanwhile included.
    mutating func nextBeforeFinish() -> Call? {
        if beforeFinish.isEmpty {
            isDecidedFinally = true
            return nil
        }
        return beforeFinish.removeFirst()
    }
}
