/// The phases of an operation's life for which handlers can be registered.
enum HandlerPhase: UInt8 {
    case start
    case cancel
    /// Comes once for each operation that the body produces, and leaves the handler registered.
    case product
    case beforeFinish
    /// The last phase of every operation.
    case finish

    fileprivate var bit: UInt8 { 1 << rawValue }
}

/// The handlers of one operation: those that are due, and those that wait for their phase. A pure value.
///
/// One task at a time calls the handlers that are due, in order. `willFinish` handlers are kept apart, because the
/// outcome waits for them.
struct HandlerList {
    typealias Call = nonisolated(nonsending) @Sendable (AnyOperation) async -> Void

    /// Wraps the closure, because a closure that is an element of a generic type is wrapped in another closure at every
    /// move.
    struct Handler {
        fileprivate let phase: HandlerPhase
        let call: Call
    }

    /// The effects of a phase, which the caller performs after unlocking.
    struct Actions {
        /// True if the caller has to have the handlers called.
        let isDue: Bool
        /// Handlers that will never be called. The caller releases them after unlocking, because they are the user's.
        private let uncalled: [Handler]?

        fileprivate init(isDue: Bool, uncalled: [Handler]? = nil) {
            self.isDue = isDue
            self.uncalled = uncalled
        }
    }

    private enum Store {
        case none
        /// A single handler, which is all that most operations with handlers have.
        case one(Handler, isDue: Bool)
        case many(Many)
    }

    /// Several handlers. Each is moved once, however many handlers or products there are. A handler that was taken out
    /// is not retained here, because it is released without the lock.
    private final class Many {
        var due = ChunkedFIFOQueue<Handler>()
        var beforeFinish = ChunkedFIFOQueue<Handler>()
        /// The handlers that wait for other phases.
        var waiting: [Handler] = []

        func add(_ handler: Handler) {
            if handler.phase == .beforeFinish { beforeFinish.append(handler) } else { waiting.append(handler) }
        }
    }

    private var store = Store.none
    /// One bit for each phase for which a handler was ever added.
    private var phases: UInt8 = 0
    /// One bit for each phase for which a handler waits.
    private var awaitedPhases: UInt8 = 0
    /// The phase of the handler that a task is calling; nil if no task calls handlers.
    private var calledPhase: HandlerPhase?
    /// True after the last `willFinish` handler has returned. One that is added later can no longer delay the outcome.
    private var willFinishIsOver = false

    /// True if a handler becomes due when the body starts.
    var hasStartHandler: Bool { hasHad(.start) }

    /// True if a handler was ever added.
    var hasHadAny: Bool { phases != 0 }

    private func hasHad(_ phase: HandlerPhase) -> Bool { phases & phase.bit != 0 }

    // MARK: Adding

    @inline(__always)
    mutating func add(at phase: HandlerPhase, _ call: consuming @escaping Call) {
        let handler = Handler(phase: phase, call: consume call)
        if case .none = store { store = .one(handler, isDue: false) } else { makeMany().add(handler) }
        phases |= phase.bit
        awaitedPhases |= phase.bit
    }

    mutating func addBeforeFinish(_ call: @escaping Call) {
        add(at: willFinishIsOver ? .finish : .beforeFinish, call)
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

    // MARK: Phases

    /// Makes the handlers of a phase due. Does nothing if none waits for it.
    @inline(__always)
    mutating func makeDue(_ phase: HandlerPhase) {
        if awaitedPhases & phase.bit != 0 { moveToDue(phase) }
    }

    private mutating func moveToDue(_ phase: HandlerPhase) {
        awaitedPhases &= ~phase.bit
        switch store {
        case .none: break
        case .one(let handler, _): store = .one(handler, isDue: true)
        case .many(let many):
            for handler in many.waiting where handler.phase == phase { many.due.append(handler) }
            many.waiting.removeAll { $0.phase == phase }
        }
    }

    /// Makes a call of each handler for products due. The handlers stay registered, and so does the bit of their phase,
    /// until ``takeUncalled()`` removes them.
    mutating func makeDue(forProduct product: AnyOperation) {
        if !hasHad(.product) { return }
        let many = makeMany()
        for handler in many.waiting where handler.phase == .product {
            many.due.append(Handler(phase: .product) { _ in await handler.call(product) })
        }
    }

    // MARK: Calls

    private var hasDue: Bool {
        switch store {
        case .none: false
        case .one(_, let isDue): isDue
        case .many(let many): !many.due.isEmpty
        }
    }

    private var isCalling: Bool { calledPhase != nil }

    @inline(__always) var isDue: Bool { !isCalling && hasDue }

    /// The handlers that have not returned, for explanations; nil if there are none.
    var openCalls: OpenCalls? {
        calledPhase == nil && !hasDue ? nil : OpenCalls(calledPhase: calledPhase, areOthersDue: hasDue)
    }

    /// Handlers that are due and have not returned.
    struct OpenCalls {
        /// The phase of the handler that is being called; nil if its task is about to begin.
        let calledPhase: HandlerPhase?
        /// True if further handlers are due.
        let areOthersDue: Bool
    }

    /// True if no handler waits for its phase, is due or is being called. After the finish, no handler will be called,
    /// except those that are added later.
    var hasEnded: Bool { awaitedPhases == 0 && !isCalling && !hasDue }

    @inline(__always) var actions: Actions { Actions(isDue: isDue) }

    /// Removes the handlers that will never be called. The operation has finished, so no other phase will come.
    @inline(__always)
    mutating func takeUncalled() -> Actions { awaitedPhases == 0 ? actions : takeThoseThatWait() }

    private mutating func takeThoseThatWait() -> Actions {
        awaitedPhases = 0
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

    /// Returns the first handler to call, or `nil` if none is due or another task calls handlers.
    mutating func startCall() -> Handler? {
        if isCalling { return nil }
        return popNext()
    }

    /// Returns the next handler to call. `nil` ends the calls; if handlers are left because the task was cancelled,
    /// the caller has them called by another task.
    mutating func nextDue(isCancelled: Bool) -> Handler? {
        if !isCancelled { return popNext() }
        calledPhase = nil
        return nil
    }

    private mutating func popNext() -> Handler? {
        let next = popDue()
        calledPhase = next?.phase
        return next
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

    // MARK: willFinish handlers

    /// Returns true if `willFinish` handlers have to be called before the outcome, which is decided, is published.
    func beginFinishing() -> Bool { hasHad(.beforeFinish) && !willFinishIsOver }

    /// Returns the next `willFinish` handler, or `nil` if all have returned, including those that were added meanwhile.
    mutating func nextBeforeFinish() -> Handler? {
        switch store {
        case .one(let handler, isDue: false) where handler.phase == .beforeFinish:
            store = .none
            return handler
        case .many(let many):
            if let handler = many.beforeFinish.popFirst() { return handler }
        case .none, .one: break
        }
        awaitedPhases &= ~HandlerPhase.beforeFinish.bit
        willFinishIsOver = true
        return nil
    }
}
