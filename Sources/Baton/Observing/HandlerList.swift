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

    fileprivate struct Registered {
        let moment: Moment
        let call: Call
    }

    /// What follows from a moment, after unlocking.
    struct Effects {
        /// Somebody has to start a delivery.
        let isDue: Bool
        /// Never to be called. They are the user's, so they are released without a lock.
        private let uncalled: [Registered]
        private let uncalledForProducts: [ProductCall]

        fileprivate init(isDue: Bool, _ uncalled: [Registered] = [], _ uncalledForProducts: [ProductCall] = []) {
            self.isDue = isDue
            self.uncalled = uncalled
            self.uncalledForProducts = uncalledForProducts
        }
    }

    private var registered: [Registered] = []
    private var forProducts: [ProductCall] = []
    private var beforeFinish: [Call] = []
    private var due: [Call] = []
    private var isDelivering = false
    /// The last `willFinish` handler has returned; later ones come too late to hold anything back.
    private var isDecidedFinally = false
    /// One of them has to be called before the body.
    private(set) var surroundBody = false

    // MARK: Registering

    mutating func add(at moment: Moment, _ call: @escaping Call) {
        registered.append(Registered(moment: moment, call: call))
        if moment == .start { surroundBody = true }
    }

    mutating func addBeforeFinish(_ call: @escaping Call) {
        if isDecidedFinally { add(at: .finish, call) } else { beforeFinish.append(call) }
    }

    mutating func addForProducts(_ call: @escaping ProductCall) { forProducts.append(call) }

    // MARK: Moments

    mutating func reach(_ moment: Moment) {
        due += registered.filter { $0.moment == moment }.map(\.call)
        registered.removeAll { $0.moment == moment }
    }

    mutating func reachProduct(_ product: AnyOperation) {
        due += forProducts.map { call in { _ in await call(product) } }
    }

    // MARK: Delivering

    private var isDue: Bool { !due.isEmpty && !isDelivering }

    var effects: Effects { Effects(isDue: isDue) }

    /// After the finish: no other moment will come.
    mutating func takeUncalled() -> Effects {
        defer {
            registered = []
            forProducts = []
        }
        return Effects(isDue: isDue, registered, forProducts)
    }

    /// False: there is nothing to deliver, or somebody else does.
    mutating func startDelivery() -> Bool {
        guard isDue else { return false }
        isDelivering = true
        return true
    }

    /// Nil: the delivery is over.
    mutating func nextDue() -> Call? {
        if due.isEmpty {
            isDelivering = false
            return nil
        }
        return due.removeFirst()
    }

    // MARK: Before the finish

    /// The outcome is decided. False: no handler stands between it and its publication.
    func beginFinishing() -> Bool { !beforeFinish.isEmpty }

    /// Nil: all have returned, those that came meanwhile included.
    mutating func nextBeforeFinish() -> Call? {
        if beforeFinish.isEmpty {
            isDecidedFinally = true
            return nil
        }
        return beforeFinish.removeFirst()
    }
}
