/// The state that few operations have, made when it is first needed, so that a bare operation has no overhead. Guarded
/// by its operation's lock.
///
/// Allocations of more than 120 bytes are slower in a large graph, so rarer state is in ``RareState``. One large
/// allocation is still faster than two, so ``TimedState`` is a subclass and not a second object.
/// `@exclusivity(unchecked)` spares the dynamic check for every handler and precondition. Accesses cannot overlap: the
/// lock excludes other threads, and no closure that runs during an access reads the same property.
class OptionalState {
    @exclusivity(unchecked) private var storedName: String?
    @exclusivity(unchecked) var handlers = HandlerList()
    /// True if a worker has taken the operation, and it is not yet known whether its body will run.
    @exclusivity(unchecked) var isStartPending = false
    /// True if the body has returned, and the operation waits for the call of its callback.
    @exclusivity(unchecked) var awaitsCallback = false
    /// The number of waits that the body has begun and not ended: while there is one, the operation holds no permit.
    @exclusivity(unchecked) var openWaits: Int32 = 0
    /// The number of the run of the body that is in progress, or that comes next. It counts all runs, repetitions
    /// included, and may wrap around, so it can only be compared for equality.
    @exclusivity(unchecked) var run: Int32 = 0
    /// Conditions, exclusions, rates and delays.
    @exclusivity(unchecked) var preconditions = Preconditions()
    /// Nil, and not empty, if there are none, because retaining and releasing even an empty array takes time.
    @exclusivity(unchecked) private var waitersIfAny: [Waiter]?
    @exclusivity(unchecked) fileprivate(set) var rare: RareState?

    init() {}

    /// Called for a ``TimedState`` that replaces `former`. This happens before the add, so there is no state of a run.
    init(timedAfter former: OptionalState?) {
        guard let former else { return }
        storedName = former.storedName
        handlers = former.handlers
        preconditions = former.preconditions
        waitersIfAny = former.waitersIfAny
        rare = former.rare
    }

    /// The name that the operation was given. An empty name is none, because a text could not show it.
    @inline(__always)
    final var name: String? {
        get { storedName }
        set { storedName = newValue?.isEmpty == true ? nil : newValue }
    }

    /// This object as a ``TimedState``, or nil if it is not one.
    final var timing: TimedState? { borrowedTiming?.object }

    /// This object as a ``TimedState``, not retained, or nil if it is not one. The subclass overrides it, because a
    /// call of a method takes less time than a cast.
    var borrowedTiming: Unretained<TimedState>? { nil }

    @inline(__always)
    var borrowedRare: Unretained<RareState>? { rare.map { Unretained($0) } }

    /// True if anything has to be done before the body runs, or before its outcome is published. ``timing`` is not
    /// included; see ``TimedState/timesBody``.
    var hasWorkAroundBody: Bool { handlers.hasStartHandler || rare?.hasWorkAroundBody == true }

    /// True if the operation has an identity, is on a broken cycle, or has limits that count from the add.
    var isPreparedAtAdd: Bool { rare?.isPreparedAtAdd == true || timing?.rareTimedState != nil }

    /// True if the finish has to call, wake or release anything.
    var hasFinishWork: Bool {
        handlers.hasHadAny || waitersIfAny != nil || rare?.hasFinishWork == true || !preconditions.areNone
            || timing?.hasTimedEnd == true
    }

    /// Called at the finish. The caller releases the preconditions after unlocking.
    func takePreconditions() -> Preconditions {
        var preconditions = Preconditions()
        swap(&preconditions, &self.preconditions)
        return preconditions
    }

    /// The waiters that await the outcome.
    var waiters: [Waiter] {
        get { waitersIfAny ?? [] }
        _modify {
            var waiters = waitersIfAny.take() ?? []
            defer { waitersIfAny = waiters.isEmpty ? nil : waiters }
            yield &waiters
        }
    }

    func takeWaiters() -> [Waiter]? { waitersIfAny.take() }

    /// Ends one of the open waits.
    func endOpenWait() {
        assert(openWaits > 0, "Every end of a wait follows its beginning in the same run.")
        openWaits -= 1
    }

    /// Forgets the waits of a run that has ended.
    func forgetWaits() {
        openWaits = 0
        run &+= 1
        if rare != nil {
            waits = Slab()
            childGroups = []
            listeners = Slab()
        }
    }

    var isAwaitedByBody: Bool { waitersIfAny?.contains { $0.body != nil } ?? false }

    /// True if a body may await the operation. More than 16 waiters are not inspected, and count as true.
    var mayBeAwaitedByBody: Bool { waitersIfAny.map { $0.count > 16 || isAwaitedByBody } ?? false }
}

/// The rarer part of ``OptionalState``, which is read and changed through it.
final class RareState {
    fileprivate(set) var id: UInt64 = 0
    fileprivate(set) var policies: [EdgePolicy] = []
    fileprivate(set) var removals: Removals?
    fileprivate(set) var executor: (any TaskExecutor)?
    fileprivate(set) var cancellationReason: CancellationReason?
    fileprivate(set) var endAfterLinking: OperationError?
    fileprivate(set) var waits = Slab<Awaited?>()
    /// The end of the body's last wait, while it waits for a permit that the body needs to go on; nil otherwise.
    fileprivate(set) var resumption: Scheduler.Resumption?
    fileprivate(set) var progress: ProgressState?
    fileprivate(set) var childGroups: [ChildGroup] = []
    /// The ids of the ordered groups in which the operation has a place.
    fileprivate(set) var orderedGroups = TinyArray<UInt64>.none
    /// The number of groups that have not started and have the operation as a child, apart from one that its kinship
    /// stands for.
    fileprivate(set) var otherPlannedGroups = 0
    fileprivate(set) var exclusionHolder: AnyOperation?
    fileprivate(set) var listeners = Slab<(any OutcomeListener)?>()
    /// The chains that are notified when the operation starts.
    fileprivate(set) var chainStarts: [ChainStart] = []
    fileprivate(set) var uniqueness: Uniqueness?
    /// The values of the task-locals that the queue passes on, bound while the body and the handlers run.
    fileprivate(set) var taskLocals: TaskLocalValues?
    /// True if a wait began before the operation was added, which is reported unless it is added soon.
    fileprivate(set) var wasAwaitedBeforeAdding = false
    fileprivate(set) var brokenCycles: BrokenCycles?
    /// Nil if the operation is not observed.
    fileprivate(set) var outbox: EventOutbox.Box?

    @inline(__always)
    var borrowedOutbox: Unretained<EventOutbox.Box>? { outbox.map { Unretained($0) } }

    deinit {
        progress?.release()
        outbox?.machine.operationWasReleased()
    }

    var hasWorkAroundBody: Bool {
        !policies.isEmpty || executor != nil || outbox != nil || !chainStarts.isEmpty || !childGroups.isEmpty
    }

    var isPreparedAtAdd: Bool { uniqueness != nil || brokenCycles != nil }

    /// True if the finish has to notify or release anything that this object stores.
    var hasFinishWork: Bool {
        progress != nil || uniqueness != nil || exclusionHolder != nil || !childGroups.isEmpty || !listeners.isEmpty
            || executor != nil || !policies.isEmpty || removals != nil || !waits.isEmpty
            || taskLocals != nil
    }

    /// True if a dependency policy keeps the body from running. Read when all dependencies have finished.
    var hasUnmetPolicy: Bool { policies.contains(where: \.isUnmet) }
}

extension OptionalState {
    private var ensuredRare: RareState {
        if let rare { return rare }
        let made = RareState()
        rare = made
        return made
    }

    /// The number of the operation; 0 until it is first needed.
    var id: UInt64 {
        get { rare?.id ?? 0 }
        set { ensuredRare.id = newValue }
    }

    /// The end of the body's last wait, while it waits for a permit that the body needs to go on; nil otherwise.
    var resumption: Scheduler.Resumption? {
        get { rare?.resumption }
        set { if newValue != nil || rare != nil { ensuredRare.resumption = newValue } }
    }

    /// The policies of dependencies that decide whether the body may run.
    var policies: [EdgePolicy] {
        get { rare?.policies ?? [] }
        _modify { yield &ensuredRare.policies }
    }

    /// The dependencies that were removed before the add. Kept until the finish.
    var removals: Removals? {
        get { rare?.removals }
        _modify { yield &ensuredRare.removals }
    }

    /// The executor of the body, if it is not the queue's.
    var executor: (any TaskExecutor)? {
        get { rare?.executor }
        set { ensuredRare.executor = newValue }
    }

    /// The reason for the cancellation. Nil if there was none, and also if the reason is `.requested`.
    var cancellationReason: CancellationReason? {
        get { rare?.cancellationReason }
        set { ensuredRare.cancellationReason = newValue }
    }

    /// The error of an early end that came while a thread was linking the operation. That thread completes the end.
    var endAfterLinking: OperationError? {
        get { rare?.endAfterLinking }
        set { ensuredRare.endAfterLinking = newValue }
    }

    /// The open waits for operations. Each wait stores its place, so it is removed in O(1).
    var waits: Slab<Awaited?> {
        get { rare?.waits ?? Slab() }
        _modify { yield &ensuredRare.waits }
    }

    /// The operations that the open waits are for, in no particular order.
    var awaited: [Awaited] { waits.all.compactMap(\.self) }

    /// The operations that the body runs with `context.run` and awaits. The children of groups are not included.
    var awaitedChildren: [AnyOperation] { awaited.filter(\.isChild).map(\.operation) }

    var progress: ProgressState? {
        get { rare?.progress }
        set { ensuredRare.progress = newValue }
    }

    /// The groups of operations that the body runs and awaits together. The first group of a ``GroupOperation`` is that
    /// of its children.
    var childGroups: [ChildGroup] {
        get { rare?.childGroups ?? [] }
        _modify { yield &ensuredRare.childGroups }
    }

    /// The ids of the ordered groups in which the operation has a place.
    var orderedGroups: [UInt64] { rare?.orderedGroups.all ?? [] }

    /// Records that the operation has a place in the order of the group with this id. Returns false if that was
    /// recorded before. The child stores it and not the group, which may run for long and outlive most of its children.
    func takePlace(inOrderOf group: UInt64) -> Bool {
        let rare = ensuredRare
        if rare.orderedGroups.all.contains(group) { return false }
        rare.orderedGroups.append(group)
        return true
    }

    /// The number of times that groups which have not started have the operation as a child, without the first time,
    /// which ``AnyOperation/Kinship`` records.
    var otherPlannedGroups: Int {
        get { rare?.otherPlannedGroups ?? 0 }
        set { ensuredRare.otherPlannedGroups = newValue }
    }

    /// The nearest operation that holds exclusions and inside which this one runs.
    var exclusionHolder: AnyOperation? {
        get { rare?.exclusionHolder }
        set { ensuredRare.exclusionHolder = newValue }
    }

    /// - Parameter broadcaster: The broadcaster of the queue, if the operation has been added.
    func beginOutbox(broadcaster: EventBroadcaster? = nil, ignoresStart: Bool = false) {
        ensuredRare.outbox = EventOutbox.Box(broadcaster: broadcaster, ignoresStart: ignoresStart)
    }

    /// The iterations and other waits of the body for many operations. Each listener stores its place, so it is removed
    /// in O(1).
    var listeners: Slab<(any OutcomeListener)?> {
        get { rare?.listeners ?? Slab() }
        _modify { yield &ensuredRare.listeners }
    }

    /// The listeners in no particular order.
    var allListeners: [any OutcomeListener] { listeners.all.compactMap(\.self) }

    /// Adds a chain that is notified when the operation starts.
    func add(_ chain: ChainStart) { ensuredRare.chainStarts.append(chain) }

    /// The newest chain that was added to this operation.
    var chainStart: ChainStart? { rare?.chainStarts.last }

    func takeChainStarts() -> [ChainStart] {
        guard let rare else { return [] }
        defer { rare.chainStarts = [] }
        return rare.chainStarts
    }

    /// The identity of the operation, and the operations that share its outcome.
    var uniqueness: Uniqueness? {
        get { rare?.uniqueness }
        set { ensuredRare.uniqueness = newValue }
    }

    var taskLocals: TaskLocalValues? {
        get { rare?.taskLocals }
        set { ensuredRare.taskLocals = newValue }
    }

    /// The caller releases the values after unlocking.
    func takeTaskLocals() -> TaskLocalValues? { rare?.taskLocals.take() }

    /// Returns true on the first call.
    func noteFirstWaitBeforeAdding() -> Bool {
        defer { ensuredRare.wasAwaitedBeforeAdding = true }
        return !ensuredRare.wasAwaitedBeforeAdding
    }

    /// The cycles that were broken before anybody added the operation; nil if there were none.
    var brokenCycles: BrokenCycles? { rare?.brokenCycles }

    func noteBrokenCycle(_ error: OperationError, next: AnyOperation, followers: some Sequence<AnyOperation>) {
        let rare = ensuredRare
        // The value is changed in place, because a copy would copy all that has been noted.
        if rare.brokenCycles == nil { rare.brokenCycles = BrokenCycles() }
        rare.brokenCycles?.note(error, next: next, followers: followers)
    }

    /// Called at the finish, after the handlers of all phases that have passed have become due. Returns nil if the
    /// operation has neither timing nor rare state that has to be notified or released.
    func takeFinishEffects() -> FinishEffects? {
        let rare = rare.flatMap { $0.hasFinishWork ? $0 : nil }
        if rare == nil, timing == nil { return nil }
        let effects = FinishEffects(
            timers: timing?.takeTimers(), closures: timing?.takeClosures(), groups: childGroups,
            listeners: allListeners, uniqueness: uniqueness, progress: progress, exclusionHolder: exclusionHolder,
            executor: executor, policies: policies, removals: removals, waits: waits,
            taskLocals: handlers.hasEnded ? takeTaskLocals() : nil)
        if let rare {
            rare.executor = nil
            rare.policies = []
            rare.removals = nil
            rare.waits = Slab()
            childGroups = []
            listeners = Slab()
            uniqueness = nil
            exclusionHolder = nil
        }
        return effects
    }
}

/// The parts of the optional state that a finish takes, to notify or release them after unlocking. This is a class, so
/// that passing it on copies one word.
final class FinishEffects {
    private let timers: OperationTimers?
    private let closures: Any?
    private let groups: [ChildGroup]
    private let listeners: [any OutcomeListener]
    private let uniqueness: Uniqueness?
    private let progress: ProgressState?
    private let exclusionHolder: AnyOperation?
    private let executor: (any TaskExecutor)?
    private let policies: [EdgePolicy]
    private let removals: Removals?
    /// The waits that the body has left open.
    private let waits: Slab<Awaited?>
    /// Nil if there are no values, and also if handlers still need them.
    private let taskLocals: TaskLocalValues?

    fileprivate init(
        timers: OperationTimers?, closures: Any?, groups: [ChildGroup], listeners: [any OutcomeListener],
        uniqueness: Uniqueness?, progress: ProgressState?, exclusionHolder: AnyOperation?,
        executor: (any TaskExecutor)?, policies: [EdgePolicy], removals: Removals?,
        waits: Slab<Awaited?>, taskLocals: TaskLocalValues?
    ) {
        self.timers = timers
        self.closures = closures
        self.groups = groups
        self.listeners = listeners
        self.uniqueness = uniqueness
        self.progress = progress
        self.exclusionHolder = exclusionHolder
        self.executor = executor
        self.policies = policies
        self.removals = removals
        self.waits = waits
        self.taskLocals = taskLocals
    }

    /// Tells all parts that the operation has finished.
    func notifyFinished(_ operation: AnyOperation, in core: QueueCore?) {
        timers?.takeOut(of: operation, from: core)
        uniqueness?.operationEnded(operation)
        if !groups.isEmpty {
            let cancelsChildren = operation.withLifecycle { operation.cancelsPlannedChildren($0) }
            for group in groups { group.parentEnded(cancelsChildren: cancelsChildren) }
        }
        for listener in listeners { listener.bodyEnded() }
        progress?.end(operation.hasFailed ? .failed : .succeeded)
    }
}
