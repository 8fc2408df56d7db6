/// The handlers of one operation: those that are due, then those that wait for their moment. Pure.
///
/// What is due is called by one task at a time, in order. `willFinish` handlers are apart, because the outcome waits
/// for them.
struct HandlerList {
    typealias Call = nonisolated(nonsending) @Sendable (AnyOperation) async -> Void

    enum Moment: UInt8 {
        case start
        case cancel
        /// Comes once for each operation that is produced, and leaves the handler registered.
        case product
        case beforeFinish
        /// The last one.
        case finish

        fileprivate var bit: UInt8 { 1 << rawValue }
    }

    /// Around the closure, because one that is the element of a generic type is wrapped in another at every move.
    struct Handler {
        fileprivate let moment: Moment
        let call: Call
    }

    /// What follows from a moment, after unlocking.
    struct Actions {
        /// Somebody has to start a delivery.
        let isDue: Bool
        /// Never to be called. They are the user's, so they are released without a lock.
        private let uncalled: [Handler]?

        fileprivate init(isDue: Bool, uncalled: [Handler]? = nil) {
            self.isDue = isDue
            self.uncalled = uncalled
        }
    }

    private enum Store {
        case none
        /// Most operations that have a handler have one.
        case one(Handler, isDue: Bool)
        case many(Many)
    }

    /// However many handlers or products there are, each is moved once; and what was taken out is not kept, for it is
    /// released without the lock.
    private final class Many {
        @exclusivity(unchecked) var due = ChunkedFIFOQueue<Handler>()
        @exclusivity(unchecked) var beforeFinish = ChunkedFIFOQueue<Handler>()
        /// For other moments.
        @exclusivity(unchecked) var waiting: [Handler] = []

        func add(_ handler: Handler) {
            if handler.moment == .beforeFinish { beforeFinish.append(handler) } else { waiting.append(handler) }
        }
    }

    private var store = Store.none
    /// One bit for each moment for which there has been a handler.
    private var moments: UInt8 = 0
    /// As above, for those that wait.
    private var awaitedMoments: UInt8 = 0
    private var isDelivering = false
    /// The last `willFinish` handler has returned; later ones come too late to hold anything back.
    private var isDecidedFinally = false

    /// One of them has to be called before the body.
    var surroundBody: Bool { hasHad(.start) }

    /// There has been a handler.
    var hasHadAny: Bool { moments != 0 }

    private func hasHad(_ moment: Moment) -> Bool { moments & moment.bit != 0 }

    // MARK: Registering

    @inline(__always)
    mutating func add(at moment: Moment, _ call: consuming @escaping Call) {
        let handler = Handler(moment: moment, call: consume call)
        if case .none = store { store = .one(handler, isDue: false) } else { makeMany().add(handler) }
        moments |= moment.bit
        awaitedMoments |= moment.bit
    }

    mutating func addBeforeFinish(_ call: @escaping Call) {
        add(at: isDecidedFinally ? .finish : .beforeFinish, call)
    }

    private mutating func makeMany() -> Many {
        if case .many(let many) = store { return many }
        let many = Many()
        if case .one(let handler, let isDue) = store {
            if isDue { many.due.append(handler) } else { many.add(handler) }
        }
        store = .many(many)
        return many
    }

    // MARK: Moments

    @inline(__always)
    mutating func reach(_ moment: Moment) {
        if awaitedMoments & moment.bit != 0 { makeDue(moment) }
    }

    private mutating func makeDue(_ moment: Moment) {
        awaitedMoments &= ~moment.bit
        switch store {
        case .none: break
        case .one(let handler, _): store = .one(handler, isDue: true)
        case .many(let many):
            for handler in many.waiting where handler.moment == moment { many.due.append(handler) }
            many.waiting.removeAll { $0.moment == moment }
        }
    }

    mutating func reachProduct(_ product: AnyOperation) {
        if !hasHad(.product) { return }
        let many = makeMany()
        for handler in many.waiting where handler.moment == .product {
            many.due.append(Handler(moment: .product) { _ in await handler.call(product) })
        }
    }

    // MARK: Delivering

    private var hasDue: Bool {
        switch store {
        case .none: false
        case .one(_, let isDue): isDue
        case .many(let many): !many.due.isEmpty
        }
    }

    @inline(__always) var isDue: Bool { !isDelivering && hasDue }

    @inline(__always) var actions: Actions { Actions(isDue: isDue) }

    /// After the finish: no other moment will come.
    @inline(__always)
    mutating func takeUncalled() -> Actions { awaitedMoments == 0 ? actions : takeThoseThatWait() }

    private mutating func takeThoseThatWait() -> Actions {
        awaitedMoments = 0
        switch store {
        case .one(let handler, isDue: false):
            store = .none
            return Actions(isDue: false, uncalled: [handler])
        case .many(let many):
            defer { many.waiting = [] }
            return Actions(isDue: isDue, uncalled: many.waiting)
        case .none, .one: return actions
        }
    }

    /// The first to be called. Nil: there is nothing to deliver, or somebody else does.
    mutating func startDelivery() -> Handler? {
        if isDelivering { return nil }
        isDelivering = hasDue
        return popDue()
    }

    /// Nil: the delivery is over, or somebody has to start another, because the task of this one was cancelled.
    mutating func nextDue(isCancelled: Bool) -> Handler? {
        if !isCancelled, let next = popDue() { return next }
        isDelivering = false
        return nil
    }

    private mutating func popDue() -> Handler? {
        switch store {
        case .one(let handler, isDue: true):
            store = .none
            return handler
        case .many(let many): return many.due.popFirst()
        case .none, .one: return nil
        }
    }

    // MARK: Before the finish

    /// The outcome is decided. False: no handler stands between it and its publication.
    func beginFinishing() -> Bool { hasHad(.beforeFinish) && !isDecidedFinally }

    /// Nil: all have returned, those that came meanwhile included.
    mutating func nextBeforeFinish() -> Handler? {
        switch store {
        case .one(let handler, isDue: false) where handler.moment == .beforeFinish:
            store = .none
            return handler
        case .many(let many):
            if let handler = many.beforeFinish.popFirst() { return handler }
        case .none, .one: break
        }
        awaitedMoments &= ~Moment.beforeFinish.bit
        isDecidedFinally = true
        return nil
    }
}
