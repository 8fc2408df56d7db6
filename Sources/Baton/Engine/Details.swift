/// What few operations have, made when first needed so that a bare one pays nothing. Guarded by its operation's lock.
///
/// `@exclusivity(unchecked)` spares the dynamic check, where it is paid for every handler: the lock forbids what it finds.
final class Details {
    var id: UInt64 = 0
    var name: String?
    /// Rules of dependencies that say when the body may run.
    @exclusivity(unchecked) var policies: [EdgePolicy] = []
    /// A lane has taken it up, and nobody knows yet whether its body will run.
    @exclusivity(unchecked) var isStartOpen = false
    /// Where its body runs, if not where its queue says.
    @exclusivity(unchecked) var executor: (any TaskExecutor)?
    /// Nil for `.requested`.
    var cancellationReason: CancellationReason?
    /// An early end that came while a thread was linking the operation, which will settle it.
    var endAfterLinking: OperationError?
    @exclusivity(unchecked) var handlers = HandlerList()
    /// Who awaits the outcome.
    @exclusivity(unchecked) var waiters: [Waiter] = []
    /// How many waits the body has begun and not ended: while there is one, the operation holds no slot.
    @exclusivity(unchecked) var openWaits = 0
    /// What those waits are for.
    var awaited: [Awaited] = []
    @exclusivity(unchecked) var progress: ProgressState?
    /// Conditions and exclusions.
    @exclusivity(unchecked) var rules: Rules?
    /// What it runs and awaits together; of a ``GroupOperation`` its children come first.
    @exclusivity(unchecked) var childGroups: [ChildGroup] = []
    /// The nearest operation that holds names and inside which this one runs.
    @exclusivity(unchecked) var nameHolder: AnyOperation?

    deinit { progress?.release() }

    /// Something is asked or told before the body runs, or before its outcome is published.
    var surroundsBody: Bool { !policies.isEmpty || executor != nil || handlers.surroundBody }

    func madeRules() -> Rules {
        if let rules { return rules }
        let made = Rules()
        rules = made
        return made
    }

    var children: [AnyOperation] { awaited.filter(\.isChild).map(\.operation) }

    /// Nil, and not empty, for most: even an empty array costs something each time it is handed on.
    func takeWaiters() -> [Waiter]? {
        if waiters.isEmpty { return nil }
        defer { waiters = [] }
        return waiters
    }

    var isAwaitedByBody: Bool { waiters.contains { $0.body != nil } }
}

/// Somebody who awaits an operation's outcome.
struct Waiter {
    enum Waking {
        /// Resumed with an error when the wait itself would have closed a circle.
        case resume(UnsafeContinuation<OperationError?, Never>)
        /// Told that this child of it has ended.
        case tell(ChildGroup, ChildGroup.Place)
    }

    let waking: Waking
    /// The operation whose body waits, if it lent its slot for it.
    let body: AnyOperation?
}

/// Something that a body waits for.
struct Awaited {
    let operation: AnyOperation
    /// Started by `context.run`: it is cancelled with the operation that waits.
    let isChild: Bool
}
