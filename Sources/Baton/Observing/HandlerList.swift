/// The handlers of one operation: those that wait for their moment, and those whose moment has come. Pure.
///
/// What is due is called by one task at a time, in order. `willFinish` handlers are apart, because the outcome waits for them.
struct HandlerList {
    typealias Call = @Sendable (AnyOperation) async -> Void
    typealias ProductCall = @Sendable (_ product: AnyOperation) async -> Void

    enum Moment {
        case start
        case cancel
        /// The last one.
        case finish
    }

    /// Around the closure, because one that is the element of a generic type is wrapped in another at every move.
    struct Handler {
        let call: Call
    }

    struct ProductHandler {
        let call: ProductCall
    }

    fileprivate struct Registered {
        let moment: Moment
        let handler: Handler
    }

    /// What follows from a moment, after unlocking.
    struct Effects {
        /// Somebody has to start a delivery.
        let isDue: Bool
        /// Never to be called. They are the user's, so they are released without a lock.
        private let uncalled: Few<Registered>
        private let uncalledForProducts: Few<ProductHandler>

        fileprivate init(
            isDue: Bool, _ uncalled: Few<Registered> = .none, _ uncalledForProducts: Few<ProductHandler> = .none
        ) {
            self.isDue = isDue
            self.uncalled = uncalled
            self.uncalledForProducts = uncalledForProducts
        }
    }

    private var registered = Few<Registered>.none
    private var forProducts = Few<ProductHandler>.none
    private var beforeFinish = Few<Handler>.none
    private var due = Few<Handler>.none
    private var isDelivering = false
    /// The last `willFinish` handler has returned; later ones come too late to hold anything back.
    private var isDecidedFinally = false
    /// One of them has to be called before the body.
    private(set) var surroundBody = false

    // MARK: Registering

    mutating func add(at moment: Moment, _ call: @escaping Call) {
        registered.append(Registered(moment: moment, handler: Handler(call: call)))
        if moment == .start { surroundBody = true }
    }

    mutating func addBeforeFinish(_ call: @escaping Call) {
        if isDecidedFinally { add(at: .finish, call) } else { beforeFinish.append(Handler(call: call)) }
    }

    mutating func addForProducts(_ call: @escaping ProductCall) { forProducts.append(ProductHandler(call: call)) }

    // MARK: Moments

    mutating func reach(_ moment: Moment) {
        if registered.isEmpty { return }
        var others = Few<Registered>.none
        while let next = registered.popFirst() {
            if next.moment == moment { due.append(next.handler) } else { others.append(next) }
        }
        registered = others
    }

    mutating func reachProduct(_ product: AnyOperation) {
        forProducts.visit { handler in due.append(Handler { _ in await handler.call(product) }) }
    }

    // MARK: Delivering

    @inline(__always) var isDue: Bool { !due.isEmpty && !isDelivering }

    @inline(__always) var effects: Effects { Effects(isDue: isDue) }

    /// After the finish: no other moment will come.
    mutating func takeUncalled() -> Effects {
        defer {
            registered = .none
            forProducts = .none
        }
        return Effects(isDue: isDue, registered, forProducts)
    }

    /// The first to be called. Nil: there is nothing to deliver, or somebody else does.
    mutating func startDelivery() -> Handler? {
        guard !isDelivering, let first = due.popFirst() else { return nil }
        isDelivering = true
        return first
    }

    /// Nil: the delivery is over, or somebody has to start another, because the task of this one was cancelled.
    mutating func nextDue(isCancelled: Bool) -> Handler? {
        if !isCancelled, let next = due.popFirst() { return next }
        isDelivering = false
        return nil
    }

    // MARK: Before the finish

    /// The outcome is decided. False: no handler stands between it and its publication.
    func beginFinishing() -> Bool { !beforeFinish.isEmpty }

    /// Nil: all have returned, those that came meanwhile included.
    mutating func nextBeforeFinish() -> Handler? {
        if let next = beforeFinish.popFirst() { return next }
        isDecidedFinally = true
        return nil
    }
}
