/// The handlers of one operation: those that are due, then those that wait for their moment. Pure.
///
/// What is due is called by one task at a time, in order. `willFinish` handlers are apart, because the outcome waits for them.
struct HandlerList {
    typealias Call = @Sendable (AnyOperation) async -> Void

    enum Moment: UInt8 {
        case start
        case cancel
        /// Comes once for each operation that is produced, and leaves the handler registered.
        case product
        case beforeFinish
        /// The last one.
        case finish
    }

    /// Around the closure, because one that is the element of a generic type is wrapped in another at every move.
    struct Handler {
        fileprivate let moment: Moment
        let call: Call
    }

    /// What follows from a moment, after unlocking.
    struct Effects {
        /// Somebody has to start a delivery.
        let isDue: Bool
        /// Never to be called. They are the user's, so they are released without a lock.
        private let uncalled: [Handler]?

        fileprivate init(isDue: Bool, uncalled: [Handler]? = nil) {
            self.isDue = isDue
            self.uncalled = uncalled
        }
    }

    /// The first ``dueCount`` are due.
    private var handlers = Few<Handler>.none
    private var dueCount: UInt32 = 0
    /// One bit for each moment for which there has been a handler.
    private var moments: UInt8 = 0
    private var isDelivering = false
    /// The last `willFinish` handler has returned; later ones come too late to hold anything back.
    private var isDecidedFinally = false

    /// One of them has to be called before the body.
    var surroundBody: Bool { hasHad(.start) }

    /// There has been a handler.
    var hasHadAny: Bool { moments != 0 }

    private func hasHad(_ moment: Moment) -> Bool { moments & (1 << moment.rawValue) != 0 }

    // MARK: Registering

    mutating func add(at moment: Moment, _ call: @escaping Call) {
        handlers.append(Handler(moment: moment, call: call))
        moments |= 1 << moment.rawValue
    }

    mutating func addBeforeFinish(_ call: @escaping Call) {
        add(at: isDecidedFinally ? .finish : .beforeFinish, call)
    }

    // MARK: Moments

    @inline(__always)
    mutating func reach(_ moment: Moment) {
        if hasHad(moment) { makeDue(moment) }
    }

    private mutating func makeDue(_ moment: Moment) {
        if handlers.count == 1 {
            if dueCount == 0, handlers[0].moment == moment { dueCount = 1 }
            return
        }
        let waiting = handlers.all[Int(dueCount)...]
        let reached = waiting.filter { $0.moment == moment }
        handlers = Few(handlers.all[..<Int(dueCount)] + reached + waiting.filter { $0.moment != moment })
        dueCount += UInt32(reached.count)
    }

    mutating func reachProduct(_ product: AnyOperation) {
        let waiting = handlers.all[Int(dueCount)...]
        let calls = waiting.filter { $0.moment == .product }.map { handler in
            Handler(moment: .product) { _ in await handler.call(product) }
        }
        handlers = Few(handlers.all[..<Int(dueCount)] + calls + waiting)
        dueCount += UInt32(calls.count)
    }

    // MARK: Delivering

    @inline(__always) var isDue: Bool { dueCount > 0 && !isDelivering }

    @inline(__always) var effects: Effects { Effects(isDue: isDue) }

    /// After the finish: no other moment will come.
    @inline(__always)
    mutating func takeUncalled() -> Effects { handlers.count == Int(dueCount) ? effects : takeThoseThatWait() }

    private mutating func takeThoseThatWait() -> Effects {
        let all = handlers.all
        handlers = Few(Array(all[..<Int(dueCount)]))
        return Effects(isDue: isDue, uncalled: Array(all[Int(dueCount)...]))
    }

    /// The first to be called. Nil: there is nothing to deliver, or somebody else does.
    mutating func startDelivery() -> Handler? {
        if isDelivering { return nil }
        isDelivering = dueCount > 0
        return popDue()
    }

    /// Nil: the delivery is over, or somebody has to start another, because the task of this one was cancelled.
    mutating func nextDue(isCancelled: Bool) -> Handler? {
        if !isCancelled, let next = popDue() { return next }
        isDelivering = false
        return nil
    }

    private mutating func popDue() -> Handler? {
        if dueCount == 0 { return nil }
        dueCount -= 1
        return handlers.remove(at: 0)
    }

    // MARK: Before the finish

    /// The outcome is decided. False: no handler stands between it and its publication.
    func beginFinishing() -> Bool { hasHad(.beforeFinish) && !isDecidedFinally }

    /// Nil: all have returned, those that came meanwhile included.
    mutating func nextBeforeFinish() -> Handler? {
        if let place = (Int(dueCount)..<handlers.count).first(where: { handlers[$0].moment == .beforeFinish }) {
            return handlers.remove(at: place)
        }
        isDecidedFinally = true
        return nil
    }
}
