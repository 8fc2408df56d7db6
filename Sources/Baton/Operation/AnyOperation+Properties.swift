extension AnyOperation {
    /// The name that errors and explanations use; without one, the type of the procedure; nil if there is neither.
    ///
    /// Errors and explanations name an operation without a name after the place in the source that made it, as in
    /// "parse.swift:38" or "parse.swift:38 then"; see ``OperationReference/name``. An empty name is no name.
    ///
    /// Setting the name after the add is ``Misuse`` and changes nothing.
    public final var name: String? {
        get { withLifecycle { $0.optionalState?.name } ?? fallbackName.type.map { "\($0)" } }
        set { change("the name") { $0.ensureOptionalState().name = newValue } }
    }

    /// Sets ``name`` in an expression.
    ///
    /// ```swift
    /// let picture = data.then(TiltShift()).name("tilt shift")
    /// ```
    ///
    /// A call after the add is ``Misuse`` and changes nothing.
    ///
    /// - Parameter name: The new name.
    /// - Returns: This operation.
    @discardableResult
    public final func name(_ name: String, file: StaticString = #fileID, line: UInt = #line) -> Self {
        change("the name", CallSite(file: file, line: line)) { $0.ensureOptionalState().name = name }
        return self
    }

    /// The priority that decides which of several ready operations of the queue starts first; `.normal` by default.
    ///
    /// The priority may be set at any time, and has no effect after the operation has finished. It decides when the
    /// operation starts, when its body goes on after a wait, and when a further attempt starts. Everything that the
    /// operation waits for (dependencies, the original of a join, operations that its body awaits or iterates) gets at
    /// least the same priority, transitively, and keeps it; otherwise an urgent operation would wait for one of low
    /// priority. So this value may be higher than the one that was set. The priority has no effect on the order in
    /// which operations get an ``Exclusion``, and does not raise the holders of one.
    ///
    /// - Complexity: Getting is O(1). Setting is O(1), or, if it raises the priority, O(n) for n operations: those that
    ///   this one waits for directly, those that are raised because of it, and those that these wait for directly.
    public final var priority: OperationPriority {
        get { currentPriority }
        set { setPriority(newValue) }
    }

    /// Sets ``priority`` in an expression.
    ///
    /// ```swift
    /// let picture = data.then(TiltShift()).priority(.high)
    /// ```
    ///
    /// - Parameter priority: The new priority.
    /// - Returns: This operation.
    /// - Complexity: O(1), or O(n) if it raises the priority; see the property.
    @discardableResult
    public final func priority(_ priority: OperationPriority) -> Self {
        setPriority(priority)
        return self
    }

    /// The executor that the body runs on in place of the queue's; nil by default, and after the operation has
    /// finished.
    ///
    /// A body on an executor of its own still takes a permit of its queue. Setting the executor after the add is
    /// ``Misuse`` and changes nothing.
    public final var executor: (any TaskExecutor)? {
        get { withLifecycle { $0.optionalState?.executor } }
        set { setExecutor(newValue, nil) }
    }

    /// Sets ``executor`` in an expression.
    ///
    /// ```swift
    /// let listing = AsyncOperation(Listing(folder)).executor(threads)
    /// ```
    ///
    /// A call after the add is ``Misuse`` and changes nothing.
    ///
    /// - Parameter executor: The executor for the body; nil for that of the queue.
    /// - Returns: This operation.
    @discardableResult
    public final func executor(
        _ executor: (any TaskExecutor)?, file: StaticString = #fileID, line: UInt = #line
    ) -> Self {
        setExecutor(executor, CallSite(file: file, line: line))
        return self
    }

    private final func setExecutor(_ executor: (any TaskExecutor)?, _ callSite: CallSite?) {
        // The former executor is the user's, so it is released after unlocking.
        var former: (any TaskExecutor)?
        change("the executor", callSite) { life in
            former = life.ensureOptionalState().executor
            life.ensureOptionalState().executor = executor
        }
        withExtendedLifetime(former) {}
    }

    /// The state of the operation at this moment.
    public final var state: OperationState {
        let (phase, isPaused, hasConditionsLeft) = withLifecycle {
            (
                $0.phase, $0.optionalState?.timing?.isPaused ?? false,
                $0.optionalState?.preconditions.hasConditionsLeft ?? false
            )
        }
        return switch phase {
        case .created: .created
        case .added: dependencyCounter.isZero && !isPaused ? (hasConditionsLeft ? .evaluating : .ready) : .waiting
        case .evaluating: .evaluating
        case .executing: .executing
        case .finishing: .finishing
        case .finished: .finished
        }
    }

    /// The error of the outcome; nil until the operation has finished, and if it has an output.
    public final var error: OperationError? { hasFinished ? failure : nil }

    /// A Boolean value that indicates whether the operation was cancelled before its outcome was decided.
    ///
    /// Once true, it stays true, even if the body returns a value in spite of the cancellation.
    public final var isCancelled: Bool { withLifecycle { $0.isCancelled } }

    /// Makes a change that is allowed only before the add, and reports misuse if it comes too late.
    @inline(__always)
    final func change(
        _ what: @autoclosure () -> String, _ callSite: CallSite? = nil, _ body: (inout Lifecycle) -> Void
    ) {
        let isTooLate = withLifecycle { life in
            if life.phase != .created { return true }
            body(&life)
            return false
        }
        if isTooLate { wasChangedTooLate(what(), callSite) }
    }

    /// Makes a change of limits, delays or attempts, and reports misuse if it comes too late.
    @inline(__always)
    final func changeTiming(_ what: String, _ callSite: CallSite, _ body: (TimedState) -> Void) {
        let isTooLate = withLifecycle { life in
            guard let timing = life.timingToChange() else { return true }
            timing.use(body)
            return false
        }
        if isTooLate { wasChangedTooLate(what, callSite) }
    }

    /// Changes limits that equal operations share. Returns false if the operation has been added, or if its limits need
    /// an object of their own.
    @inline(__always)
    final func changeSharedLimits(_ body: (inout SharedLimits.Values) -> Void) -> Bool {
        withLifecycle { $0.changeSharedLimits(body) }
    }

    @inline(never)
    private final func wasChangedTooLate(_ what: String, _ callSite: CallSite?) {
        report(Misuse(.changedAfterAdding(what), operation: reference, callSite: callSite))
    }
}

/// Operations are equal only if they are identical.

// MARK: - States and priorities

/// The state of an operation in its life.
///
/// An operation moves through the states in their order, and may leave some of them out. Only the pause before a
/// further run takes it back, to ``waiting``.
@nonexhaustive
public enum OperationState: Sendable, Hashable, Comparable, CaseIterable {
    /// Nobody has added the operation to a queue. Its dependencies, name and priority may still change.
    case created
    /// The operation was added. A dependency has no outcome yet, or the operation pauses before a further run.
    case waiting
    /// The dependencies have finished. Conditions are evaluated, or will be when a worker takes the operation.
    case evaluating
    /// The operation may start. Only its queue (width, suspension, operations that come first) or an exclusion delays
    /// it.
    case ready
    /// The body runs, or waits for operations that it has started.
    case executing
    /// The outcome is decided, and is published when the `willFinish` handlers have returned.
    case finishing
    /// The operation has its outcome, which never changes.
    case finished
}

/// The order in which ready operations of a queue start. The five levels are those of Foundation's `queuePriority`.
///
/// Among operations that are ready at the same moment, those of a higher priority start first. A priority does not
/// override an operation's dependencies, and does not interrupt operations that run.
public enum OperationPriority: UInt8, Sendable, Hashable, Comparable, CaseIterable {
    /// Starts after operations of all other priorities.
    case veryLow
    /// Starts after normal work.
    case low
    /// The default.
    case normal
    /// Starts before normal work.
    case high
    /// Starts before operations of all other priorities.
    case veryHigh

    /// Returns whether `left` starts after `right`.
    @inlinable
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

// MARK: - Changes of the priority

/// Changing priorities after the add, and passing them on to the operations that are waited for.
extension AnyOperation {
    /// Performs a change of ``priority``.
    final func setPriority(_ priority: OperationPriority) {
        let former = currentPriority
        guard changePriority(when: { $0 != priority }, to: priority), priority > former else { return }
        Self.raise(waitsFor, to: priority)
    }

    /// Raises operations that have a lower priority, and then the operations that they wait for.
    ///
    /// The sources of an operation are visited once for each priority that it rises to, so at most four times unless
    /// somebody lowers it in between.
    @inline(never)
    static func raise(_ operations: [AnyOperation], to priority: OperationPriority) {
        // The order of visits is the order in which the operations are waited for. Those with the same priority start
        // in this order.
        var (pending, next) = (operations, 0)
        while next < pending.count {
            if pending[next].changePriority(when: { $0 < priority }, to: priority) { pending += pending[next].waitsFor }
            next += 1
        }
    }

    /// Raises the sources of this operation, after it has been linked to them.
    @inline(never)
    final func raiseSources() { Self.raise(waitsFor, to: currentPriority) }

    /// Changes the priority. Returns false if `condition` is not met, or if the operation has finished.
    private final func changePriority(when condition: (OperationPriority) -> Bool, to priority: OperationPriority)
        -> Bool
    {
        if !condition(currentPriority) { return false }
        let (isChanged, core, resumption) = withLifecycle { life -> (Bool, QueueCore?, Scheduler.Resumption?) in
            switch life.phase {
            case .created:
                // While the operation is locked, nobody else changes its priority. Its sources are raised when it is
                // added.
                let isChanged = condition(currentPriority)
                if isChanged { currentPriority = priority }
                return (isChanged, nil, nil)
            case .finished: return (false, nil, nil)
            case .added where isFence:
                let isChanged = condition(currentPriority)
                if isChanged { currentPriority = priority }
                return (isChanged, nil, nil)
            default: return (false, self.core, life.optionalState?.resumption)
            }
        }
        guard let core else { return isChanged }
        return core.change { state in
            if !condition(currentPriority) { return false }
            state.scheduler.move(Unretained(self), to: priority)
            if let resumption { state.scheduler.append(resumption, at: priority) }
            return true
        }
    }
}
