/// What few operations have, made when first needed so that a bare one pays nothing. Guarded by its operation's lock.
///
/// Small, with what is rarer still in an object of its own: past 120 bytes the allocator takes longer over the objects
/// of a large graph, though not as long as over two, so ``TimedState`` are these and more. `@exclusivity(unchecked)`
/// spares the dynamic check, where it is paid for every handler or rule: the lock forbids what it finds.
class OptionalState {
    @exclusivity(unchecked) var name: String?
    @exclusivity(unchecked) var handlers = HandlerList()
    /// A worker has taken it up, and nobody knows yet whether its body will run.
    @exclusivity(unchecked) var isStartOpen = false
    /// Its body has returned, and waits for the call of its callback.
    @exclusivity(unchecked) var awaitsCallback = false
    private let isTimed: Bool
    /// How many waits the body has begun and not ended: while there is one, the operation holds no permit.
    @exclusivity(unchecked) var openWaits: Int32 = 0
    /// Which one of the body is under way, or comes next. Counts them all, repetitions included, and may wrap around:
    /// to be compared and nothing else.
    @exclusivity(unchecked) var run: Int32 = 0
    /// Conditions and exclusions.
    @exclusivity(unchecked) var preconditions = Preconditions()
    /// Nil, and not empty, for most: even an empty array costs something each time it is handed on.
    @exclusivity(unchecked) private var waitersIfAny: [Waiter]?
    @exclusivity(unchecked) fileprivate(set) var rare: RareState?

    init() { isTimed = false }

    /// For ``TimedState``, which take the place of `former`. Before the add, so nothing of a run is there.
    init(timedAfter former: OptionalState?) {
        isTimed = true
        guard let former else { return }
        name = former.name
        handlers = former.handlers
        preconditions = former.preconditions
        waitersIfAny = former.waitersIfAny
        rare = former.rare
    }

    /// Itself, if it has limits, delays or further attempts.
    var timing: TimedState? { isTimed ? unsafeDowncast(self, to: TimedState.self) : nil }

    @inline(__always)
    var borrowedTiming: Unmanaged<TimedState>? { timing.map { .passUnretained($0) } }

    @inline(__always)
    var borrowedRare: Unmanaged<RareState>? { rare.map { .passUnretained($0) } }

    /// Something is asked or told before the body runs, or before its outcome is published. For ``timing`` it says so
    /// itself.
    var surroundsBody: Bool { handlers.surroundBody || rare?.surroundsBody == true }

    /// It has an identity, is on a broken cycle, or has limits that count from the add.
    var isPreparedAtAdd: Bool { rare?.isPreparedAtAdd == true || timing?.rareTiming != nil }

    /// Its finish has to call, wake or release something.
    var hasEnd: Bool {
        handlers.hasHadAny || waitersIfAny != nil || rare?.hasEnd == true || !preconditions.areNone
            || timing?.hasTimedEnd == true
    }

    /// At the finish, for the caller to release after unlocking.
    func takePreconditions() -> Preconditions {
        var preconditions = Preconditions()
        swap(&preconditions, &self.preconditions)
        return preconditions
    }

    /// Who awaits the outcome.
    var waiters: [Waiter] {
        get { waitersIfAny ?? [] }
        _modify {
            var waiters = waitersIfAny.take() ?? []
            defer { waitersIfAny = waiters }
            yield &waiters
        }
    }

    func takeWaiters() -> [Waiter]? { waitersIfAny.take() }

    /// Those of a run that has ended are not counted any more.
    func forgetWaits() {
        openWaits = 0
        run &+= 1
        if rare != nil {
            waits = Slab()
            childGroups = []
            listeners = []
        }
    }

    var isAwaitedByBody: Bool { waitersIfAny?.contains { $0.body != nil } ?? false }

    /// True without a look at the waiters if there are more than 16, so that the check is bounded.
    var mayBeAwaitedByBody: Bool { waitersIfAny.map { $0.count > 16 || isAwaitedByBody } ?? false }
}

/// Part of ``OptionalState``, and read and changed through it.
final class RareState {
    fileprivate(set) var id: UInt64 = 0
    @exclusivity(unchecked) fileprivate(set) var policies: [EdgePolicy] = []
    @exclusivity(unchecked) fileprivate(set) var removals: Removals?
    @exclusivity(unchecked) fileprivate(set) var executor: (any TaskExecutor)?
    fileprivate(set) var cancellationReason: CancellationReason?
    fileprivate(set) var endAfterLinking: OperationError?
    @exclusivity(unchecked) fileprivate(set) var waits = Slab<Awaited?>()
    /// Where the body waits for a permit after its last wait has ended; nil when it goes on.
    @exclusivity(unchecked) fileprivate(set) var resumption: Scheduler.Resumption?
    @exclusivity(unchecked) fileprivate(set) var progress: ProgressState?
    @exclusivity(unchecked) fileprivate(set) var childGroups: [ChildGroup] = []
    @exclusivity(unchecked) fileprivate(set) var nameHolder: AnyOperation?
    @exclusivity(unchecked) fileprivate(set) var listeners: [any OutcomeListener] = []
    /// To be told when it starts.
    @exclusivity(unchecked) fileprivate(set) var chainStarts: [ChainStart] = []
    fileprivate(set) var uniqueness: Uniqueness?
    /// The values that its body and handlers find in the task-locals that its queue carries.
    fileprivate(set) var taskLocals: TaskLocalValues?
    /// Somebody awaited it before it was added, and that will be reported unless it is added soon.
    fileprivate(set) var wasAwaitedBeforeAdding = false
    fileprivate(set) var brokenCycles: BrokenCycles?
    /// Nil: nobody observes it.
    @exclusivity(unchecked) fileprivate(set) var outbox: EventOutbox.Box?

    @inline(__always)
    var borrowedOutbox: Unmanaged<EventOutbox.Box>? { outbox.map { .passUnretained($0) } }

    deinit {
        progress?.release()
        outbox?.machine.letGo()
    }

    var surroundsBody: Bool {
        !policies.isEmpty || executor != nil || outbox != nil || !chainStarts.isEmpty || !childGroups.isEmpty
    }

    var isPreparedAtAdd: Bool { uniqueness != nil || brokenCycles != nil }

    /// Something ends with the operation.
    var hasEnd: Bool {
        progress != nil || uniqueness != nil || nameHolder != nil || !childGroups.isEmpty || !listeners.isEmpty
            || executor != nil || !policies.isEmpty || removals != nil || !waits.isEmpty
            || taskLocals != nil
    }

    /// To be asked when all dependencies have finished.
    var hasUnmetPolicy: Bool { policies.contains(where: \.isUnmet) }
}

extension OptionalState {
    private var madeRare: RareState {
        if let rare { return rare }
        let made = RareState()
        rare = made
        return made
    }

    /// 0 until somebody asks for it.
    var id: UInt64 {
        get { rare?.id ?? 0 }
        set { madeRare.id = newValue }
    }

    /// Where the body waits for a permit after its last wait has ended; nil when it goes on.
    var resumption: Scheduler.Resumption? {
        get { rare?.resumption }
        set { if newValue != nil || rare != nil { madeRare.resumption = newValue } }
    }

    /// Preconditions of dependencies that say when the body may run.
    var policies: [EdgePolicy] {
        get { rare?.policies ?? [] }
        _modify { yield &madeRare.policies }
    }

    /// Until the finish: some dependencies were removed before the add.
    var removals: Removals? {
        get { rare?.removals }
        _modify { yield &madeRare.removals }
    }

    /// Where its body runs, if not where its queue says.
    var executor: (any TaskExecutor)? {
        get { rare?.executor }
        set { madeRare.executor = newValue }
    }

    /// Nil for `.requested`.
    var cancellationReason: CancellationReason? {
        get { rare?.cancellationReason }
        set { madeRare.cancellationReason = newValue }
    }

    /// An early end that came while a thread was linking the operation, which will settle it.
    var endAfterLinking: OperationError? {
        get { rare?.endAfterLinking }
        set { madeRare.endAfterLinking = newValue }
    }

    /// Those for operations that are open. Each knows its place: one of many ends as fast as one alone.
    var waits: Slab<Awaited?> {
        get { rare?.waits ?? Slab() }
        _modify { yield &madeRare.waits }
    }

    /// What the open waits are for, in no particular order.
    var awaited: [Awaited] { waits.all.compactMap(\.self) }

    var children: [AnyOperation] { awaited.filter(\.isChild).map(\.operation) }

    var progress: ProgressState? {
        get { rare?.progress }
        set { madeRare.progress = newValue }
    }

    /// What it runs and awaits together; of a ``GroupOperation`` its children come first.
    var childGroups: [ChildGroup] {
        get { rare?.childGroups ?? [] }
        _modify { yield &madeRare.childGroups }
    }

    /// The nearest operation that holds names and inside which this one runs.
    var nameHolder: AnyOperation? {
        get { rare?.nameHolder }
        set { madeRare.nameHolder = newValue }
    }

    /// - Parameter hub: Of its queue, if it has been added.
    func beginOutbox(hub: EventBroadcaster? = nil, ignoresStart: Bool = false) {
        madeRare.outbox = EventOutbox.Box(hub: hub, ignoresStart: ignoresStart)
    }

    /// The iterations of its body, each of which awaits operations of its own.
    var listeners: [any OutcomeListener] {
        get { rare?.listeners ?? [] }
        _modify { yield &madeRare.listeners }
    }

    /// It is told when the operation starts.
    func add(_ chain: ChainStart) { madeRare.chainStarts.append(chain) }

    /// The newest one of its own.
    var chainStart: ChainStart? { rare?.chainStarts.last }

    func takeChainStarts() -> [ChainStart] {
        guard let rare else { return [] }
        defer { rare.chainStarts = [] }
        return rare.chainStarts
    }

    /// Its identity, and those who share its outcome.
    var uniqueness: Uniqueness? {
        get { rare?.uniqueness }
        set { madeRare.uniqueness = newValue }
    }

    var taskLocals: TaskLocalValues? {
        get { rare?.taskLocals }
        set { madeRare.taskLocals = newValue }
    }

    /// For the caller to release after unlocking.
    func takeTaskLocals() -> TaskLocalValues? { rare?.taskLocals.take() }

    /// True once.
    func noteFirstWaitBeforeAdding() -> Bool {
        defer { madeRare.wasAwaitedBeforeAdding = true }
        return !madeRare.wasAwaitedBeforeAdding
    }

    /// The cycles that were broken before anybody added the operation; nil if there were none.
    var brokenCycles: BrokenCycles? { rare?.brokenCycles }

    func noteBrokenCycle(_ error: OperationError, next: AnyOperation, followers: some Sequence<AnyOperation>) {
        let rare = madeRare
        // In its place: a copy would copy all that is known.
        if rare.brokenCycles == nil { rare.brokenCycles = BrokenCycles() }
        rare.brokenCycles?.note(error, next: next, followers: followers)
    }

    /// At the finish. Nil: nothing ends with it.
    func takeEnds() -> Ends? {
        let rare = rare.flatMap { $0.hasEnd ? $0 : nil }
        if rare == nil, timing == nil { return nil }
        let ends = Ends(
            timers: timing?.takeTimers(), closures: timing?.takeClosures(), groups: childGroups,
            listeners: listeners, uniqueness: uniqueness, progress: progress, nameHolder: nameHolder,
            executor: executor, waits: waits,
            taskLocals: handlers.hasHadAny ? nil : takeTaskLocals())
        if let rare {
            rare.executor = nil
            rare.policies = []
            rare.removals = nil
            rare.waits = Slab()
            childGroups = []
            listeners = []
            uniqueness = nil
            nameHolder = nil
        }
        return ends
    }
}

/// What ends with an operation that has more than most: to be told, and released, after unlocking. An object, because
/// it is handed on by all whose end has to wake somebody.
final class Ends {
    private let timers: OperationTimers?
    private let closures: Any?
    private let groups: [ChildGroup]
    private let listeners: [any OutcomeListener]
    private let uniqueness: Uniqueness?
    private let progress: ProgressState?
    private let nameHolder: AnyOperation?
    private let executor: (any TaskExecutor)?
    /// That the body has left behind.
    private let waits: Slab<Awaited?>
    /// Nil also if handlers are to find them.
    private let taskLocals: TaskLocalValues?

    fileprivate init(
        timers: OperationTimers?, closures: Any?, groups: [ChildGroup], listeners: [any OutcomeListener],
        uniqueness: Uniqueness?, progress: ProgressState?, nameHolder: AnyOperation?, executor: (any TaskExecutor)?,
        waits: Slab<Awaited?>, taskLocals: TaskLocalValues?
    ) {
        self.timers = timers
        self.closures = closures
        self.groups = groups
        self.listeners = listeners
        self.uniqueness = uniqueness
        self.progress = progress
        self.nameHolder = nameHolder
        self.executor = executor
        self.waits = waits
        self.taskLocals = taskLocals
    }

    /// It has finished.
    func tell(of operation: AnyOperation, in core: QueueCore?) {
        timers?.takeOut(of: operation, from: core)
        uniqueness?.operationEnded(operation)
        for group in groups { group.parentEnded() }
        for listener in listeners { listener.bodyEnded() }
        progress?.end(operation.hasFailed ? .failed : .succeeded)
    }
}

/// Somebody who awaits an operation's outcome.
struct Waiter {
    enum Waking {
        /// Resumed with an error when the wait itself would have closed a cycle.
        case resume(UnsafeContinuation<OperationError?, Never>)
        /// Told that this child of it has ended.
        case tell(ChildGroup, ChildGroup.Place)
        /// Told that the operation at this place has ended.
        case inform(any OutcomeListener, Int)
    }

    let waking: Waking
    /// The operation whose body waits, if it releases its permit for it.
    let body: AnyOperation?
    /// Of that body.
    var run: Int32 = 0
    /// Of the wait, among those of that run.
    var place = Awaited.Place.none
}

/// Awaits many operations, each known to it by a number. Called outside every lock.
protocol OutcomeListener: AnyObject, Sendable {
    /// Those that have not ended.
    var waitsFor: [AnyOperation] { get }
    /// The operation whose body waits for them.
    var body: AnyOperation? { get }
    /// Somebody waits for what comes next, which is not there.
    var awaitsMore: Bool { get }

    /// It holds that operation no longer.
    func bodyEnded()

    /// - Parameter error: Set when the wait itself would have closed a cycle, and the operation has not ended.
    func ended(_ place: Int, _ operation: AnyOperation, _ error: OperationError?)
}

/// Something that a body waits for.
struct Awaited {
    typealias Place = Slab<Awaited?>.ID

    let operation: AnyOperation
    /// Started by `context.run`: it is cancelled with the operation that waits.
    let isChild: Bool
}
