internal import CBaton

/// A call that makes no sense at this point. It changes nothing unless its kind says otherwise, and it never traps.
///
/// Calls that throw, throw it as ``OperationError/misuse(_:)``. All others report it once to the queue's
/// ``AsyncOperationQueue/onMisuse``, which by default writes one line to standard error. So is misuse of an operation
/// that has not been added to a queue. No operation waits because of a misuse.
public struct Misuse: Error, Sendable, CustomStringConvertible {
    /// The ways to misuse Baton.
    @nonexhaustive
    public enum Kind: Sendable, Hashable {
        /// The operation had been added to a queue before.
        case addedTwice
        /// A task awaits the operation, and nobody has added it to a queue within a second. A child of a
        /// ``GroupOperation`` is not reported, because its group adds it.
        case awaitedBeforeAdding
        /// The operation was added to another queue, together with this reader of its output; nil if the reader has
        /// finished.
        case addedWithReader(OperationReference?)
        /// A property that may change only until the add was changed afterwards. The text names the property.
        case changedAfterAdding(String)
        /// A child of this ordered group was added before the group started, so it does not wait for the child `before`
        /// it.
        case addedBeforeOrderedGroup(OperationReference, before: OperationReference)
        /// A dependency that hands its output over as an input cannot be removed.
        case removedInput(OperationReference)
        /// `maxConcurrentOperationCount` must be at least 1. The number is the one that was refused.
        case invalidWidth(Int)
        /// A ``ThreadExecutor`` needs at least 1 thread. The number is the one that was refused.
        case invalidThreadCount(Int)
        /// `maxWaitingOperationCount` must be at least 1. The number is the one that was refused.
        case invalidWaitingLimit(Int)
        /// The width with which a sequence is delivered must be at least 1. The number is the one that was refused.
        case invalidDeliveryWidth(Int)
        /// `context.run` was called after the body had returned.
        case ranAfterTheEnd
        /// In a further attempt, the body of this operation called `context.run` for an operation that had finished
        /// without an output before the call. The call throws the old error again.
        case ranFinishedOperation(in: OperationReference)
        /// `context.produce` was called after the body had returned.
        case producedAfterTheEnd
        /// `context.sleep` was called after the body had returned.
        case sleptAfterTheEnd
        /// A hook of `around` called the body a second time.
        case calledBodyTwice
        /// A hook of `around` returned without a call of the body.
        case leftBodyOut
        /// The body of a callback operation called its `finish` a second time, or called it and threw an error.
        case finishedTwice
        /// The `finish` of a callback operation was called after its body had thrown.
        case finishedAfterThrowing
        /// A body or a handler called `waitUntilIdle()`, `drain()` or a `shutdown` of its own queue, and would have
        /// waited for itself. The text names the call.
        case waitedForItsOwnQueue(String)
        /// A task has waited for a second in `waitUntilIdle()` or `drain()` of a queue that was suspended and had
        /// operations. The wait goes on. The text names the call.
        case waitedForSuspendedQueue(String)
        /// A body waited until another queue was idle, while an operation of that queue waited for the body. The path
        /// is the cycle. The call has returned, and the queue may not be idle.
        case idlenessCycle([OperationReference])
        /// The signal is one that a program cannot wait for. The text says why.
        case unusableSignal(ShutdownSignal, String)
        /// The exclusion is one that nobody could ever hold. The text says why.
        case invalidExclusion(String)
        /// Operations limit the same name to different numbers. The smaller number counts.
        case conflictingLimits(name: String, limit: Int, other: Int)
        /// The rate is one within which nobody could ever start. The text says why.
        case invalidRate(String)
        /// Operations give the same rate different numbers. The slower numbers count.
        case conflictingRates(name: String)
        /// A ``CircuitBreaker`` must allow at least 1 failure before it opens. The number is the one that was refused.
        case invalidFailureCount(circuit: String, Int)
        /// A duration was negative, and counts as zero. The text names it.
        case negativeDuration(String)
        /// The factor of an exponential ``Backoff`` was below 1 or a NaN, and counts as 1.
        case invalidBackoffFactor
        /// An operation must make at least 1 attempt. The number is the one that was refused.
        case invalidAttempts(Int)
        /// An operation must repeat at least 1 time. The number is the one that was refused.
        case invalidCount(Int)
        /// A group cannot be retried or repeated.
        case groupRunsOnce
        /// An operation that only passes an output or an error on got a retry, a repetition or a time limit, which does
        /// not concern the operation before it. The text names the setting.
        case settingOfPassingOperation(String)
        /// The body of this operation uses something that works only once, and has run again. The text names it.
        case ranAgain(String)
        /// A stream of the newest events must hold at least 1 event. The number is the one that was refused.
        case invalidEventLimit(Int)
        /// A number of a progress was negative, and counts as 0. The text names the number.
        case negativeProgress(String, Int)
        /// The child was added to a group that was closed.
        case groupIsClosed(OperationReference)
        /// The operation should have joined this one, whose output has another type.
        case joinedAnotherOutput(OperationReference)
    }

    /// The kind of misuse.
    public let kind: Kind
    /// The operation concerned; nil if the misuse does not concern one.
    public let operation: OperationReference?
    /// The name of the queue concerned; nil if the queue has no name, or the misuse does not concern one. For an
    /// operation that was added twice, it is the other queue that has the operation.
    public let queue: String?
    /// The place of the call in the source, as `file:line`; nil for property setters, which Swift gives no place.
    public let callSite: String?
    /// In a conflict of two declarations, a part of the sentence that says what the other one is, and where.
    private let other: String?

    init(_ kind: Kind, operation: OperationReference? = nil, queue: String? = nil, callSite: CallSite? = nil) {
        self.kind = kind
        self.operation = operation
        self.queue = queue
        self.callSite = callSite?.description
        other = nil
    }

    /// Makes the misuse of an operation that disagrees with another declaration.
    init(_ kind: Kind, operation: OperationReference, declaredAt site: DeclarationSite, other: String) {
        self.kind = kind
        self.operation = operation
        queue = nil
        callSite = site.callSite
        self.other = other
    }

    /// One line that says what happened, to which operation or queue, where, and what to do.
    public var description: String {
        let what = operation.map { "\($0)\(hasPredicate ? "" : ":") " } ?? queue.map { "queue \($0.quoted): " } ?? ""
        let place = callSite.map { " (\($0))" } ?? ""
        return "\(what)\(explanation)\(place)".singleLine
    }

    /// True if the explanation is the predicate of a sentence whose subject is the operation.
    private var hasPredicate: Bool {
        switch kind {
        case .addedTwice, .awaitedBeforeAdding, .addedWithReader, .ranFinishedOperation, .waitedForItsOwnQueue,
            .idlenessCycle, .invalidAttempts, .invalidCount:
            true
        default: false
        }
    }

    private var explanation: String {
        switch kind {
        case .addedTwice:
            "was added to \(queue.map { "the queue \($0.quoted) before" } ?? "a queue twice"); the second add was "
                + "ignored. An operation is one run: make a new one to run again"
        case .awaitedBeforeAdding:
            "is awaited, and nobody has added it, so the wait does not end unless somebody adds it later. Add it to "
                + "a queue, or use `run`"
        case .addedWithReader(let reader):
            """
            was added to another queue with \(reader.map { "\($0), which needs it" } ?? "what needs it"); this add was \
            ignored. Add it before what needs it
            """
        case .changedAfterAdding(let what):
            "\(what) changed after the operation was added; the change was ignored. Change it before adding"
        case .addedBeforeOrderedGroup(let group, let before):
            "was added before the ordered group \(group) started, so it does not wait for \(before), the child before "
                + "it. Give it this order with `addDependency` before adding it"
        case .removedInput(let source):
            "the dependency on \(source) hands over an input and cannot be removed; nothing was changed"
        case .invalidWidth(let width):
            "maxConcurrentOperationCount cannot be \(width); "
                + (operation != nil
                    ? "the group has no limit of its own. Use 1 or more"
                    // A call site is that of an initializer. Property setters have none.
                    : callSite != nil
                        ? "the queue has the default, \(AsyncOperationQueue.defaultMaxConcurrentOperationCount). "
                            + "Use 1 or more"
                        : "the old value stays. Use 1 or more, or isSuspended to pause")
        case .invalidThreadCount(let count):
            "a ThreadExecutor cannot have \(count) threads; it was made with 1. Ask for 1 or more"
        case .invalidWaitingLimit(let limit):
            "maxWaitingOperationCount cannot be \(limit); the old value stays. Use 1 or more"
        case .invalidDeliveryWidth(let width):
            "a sequence cannot be delivered with a width of \(width); it is with 1. Ask for 1 or more"
        case .ranAfterTheEnd:
            "context.run was called after the body had returned. Await what the body starts before it returns"
        case .ranFinishedOperation(let parent):
            "had finished without an output before a further attempt of \(parent) called context.run for it; the "
                + "attempt gets the old error. An operation runs once: make it in the body, so that each attempt has "
                + "its own"
        case .producedAfterTheEnd:
            "context.produce was called after the body had returned. Produce before it returns, or add to a queue"
        case .sleptAfterTheEnd:
            "context.sleep was called after the body had returned. Await what the body starts before it returns"
        case .calledBodyTwice:
            "a hook of around called the body twice; the second call did nothing. To run again, use an operation of "
                + "its own"
        case .leftBodyOut:
            "a hook of around did not call the body. Call it once, or throw the error that the operation shall have"
        case .finishedTwice:
            "finish was called twice, or was called by a body that throws; only the first of the two counts. Call it "
                + "exactly once on every path"
        case .finishedAfterThrowing:
            "finish was called although the body had thrown; the call was ignored. Throw only before something is "
                + "started that calls it"
        case .waitedForItsOwnQueue(let call):
            // Without an operation, the text begins with the name of the queue.
            (operation == nil
                ? "a handler called \(call) of its own queue"
                : "called \(call) of its own queue\(queue.map { " \($0.quoted)" } ?? "")")
                + ", which would wait for itself; the call did nothing, and the queue takes operations as before. "
                + "Call it outside the bodies and handlers of that queue"
        case .waitedForSuspendedQueue(let call):
            "\(call) waits for operations of the queue, which is suspended, so it does not return unless somebody "
                + "resumes the queue. Set `isSuspended` to false before"
        case .idlenessCycle(let path):
            "waited for the idleness of \(queue?.quoted ?? "another queue"), one of whose operations waits "
                + "for it: \(OperationError.chain(path)). The wait has ended, and the queue may not be idle. Await "
                + "single operations, or wait outside of operations"
        case .unusableSignal(let signal, let problem):
            "shutdown cannot wait for \(signal): \(problem); it does not. Use .interrupt, .terminate or .hangUp"
        case .invalidExclusion(let problem):
            "it can never hold its exclusions: \(problem)"
        case .conflictingLimits(let name, let limit, let other):
            "\(name) is limited to \(limit) here and to \(other) \(self.other ?? "elsewhere"); the smaller limit "
                + "counts. Use one limit for one name"
        case .invalidRate(let problem):
            "it can never have its turn: \(problem)"
        case .conflictingRates(let name):
            "the rate \(name) \(other ?? "has other numbers elsewhere"); the slower ones count. Use the same numbers "
                + "for one name"
        case .invalidFailureCount(let circuit, let count):
            "the circuit breaker \(circuit.quoted) cannot open after \(count) failures; it opens after 1. "
                + "Ask for 1 or more"
        case .negativeDuration(let what):
            "\(what) cannot be negative; it counts as zero"
        case .invalidBackoffFactor:
            "the factor of an exponential backoff cannot be below 1; it counts as 1. Use `.constant` for equal delays"
        case .invalidAttempts(let count):
            "cannot make \(count) attempts; it makes 1. Ask for 1 or more"
        case .invalidCount(let count):
            "cannot repeat \(count) times; it runs once. Ask for 1 or more"
        case .groupRunsOnce:
            "a group cannot run again, because its children run once. Retry an operation that makes the group and runs "
                + "it"
        case .settingOfPassingOperation(let setting):
            "\(setting) is of no use to an operation that only passes on what the one before it ends with, and does "
                + "not concern that one. Set it on the operation before"
        case .ranAgain(let what):
            "\(what) runs only once, so a further attempt or repetition does nothing. Let each run make its own"
        case .invalidEventLimit(let limit):
            "a stream of events cannot hold the newest \(limit); it holds 1. Ask for 1 or more, or for all"
        case .negativeProgress(let what, let number):
            "\(what) cannot be \(number); it counts as 0. Use 0 or more, nil for an unknown total, and "
                + "completedUnitCount to go back"
        case .groupIsClosed(let child):
            "\(child) was added when the group had finished, was cancelled or had decided; it was left alone. Add it "
                + "earlier"
        case .joinedAnotherOutput(let original):
            "it cannot join \(original), whose output is of another type. Give one of them another namespace or key"
        }
    }
}

// MARK: - Reports

/// The place of a call in the user's source.
package struct CallSite: Sendable, CustomStringConvertible {
    let file: StaticString
    let line: UInt

    package var description: String { "\(file):\(line)" }
}

/// The call site of the declaration of a limit or a rate. All are equal, because the call site makes no difference
/// between declarations.
struct DeclarationSite: Sendable, Hashable {
    private let name: FallbackName

    static let unknown = DeclarationSite(name: .none)

    private init(name: FallbackName) { self.name = name }

    init(_ file: StaticString, _ line: UInt) { self.init(name: FallbackName(.made, file, line)) }

    /// The call site as `file:line`; nil if it is not known.
    var callSite: String? { name.callSite }

    /// The call site in parentheses, after a space; empty if it is not known.
    var suffix: String { callSite.map { " (\($0))" } ?? "" }

    /// The call site as the end of a sentence about another declaration.
    var text: String { callSite.map { "at \($0)" } ?? "elsewhere" }

    static func == (left: Self, right: Self) -> Bool { true }

    func hash(into hasher: inout Hasher) {}
}

extension AnyOperation {
    /// Reports a misuse to the queue that the operation was added to, otherwise to standard error. Call this outside
    /// every lock.
    final func report(_ misuse: Misuse) {
        if let core = QueueDirectory.find(queueNumber) {
            core.report(misuse)
        } else {
            Misuse.writeToStandardError(misuse)
        }
        publishMisuse(misuse)
    }

    /// Reports that the body has run again, and uses something that works only once.
    ///
    /// - Parameter what: What works only once, as the beginning of a sentence.
    package final func reportRunAgain(of what: String) { report(Misuse(.ranAgain(what), operation: reference)) }
}

extension QueueCore {
    /// True in the handler of a misuse. A handler that is the cause of misuse would call itself without end.
    @TaskLocal private static var isReporting = false

    func report(_ misuse: Misuse) {
        assert(HeldLocks.isEmpty, "The user's handler is called without a lock.")
        guard !Self.isReporting, let handler = misuseHandler.withLock({ $0 }) else {
            return Misuse.writeToStandardError(misuse)
        }
        Self.$isReporting.withValue(true) { handler(misuse) }
    }

    /// Reports a misuse of an operation that was given to this queue, but may belong to another one.
    func report(_ misuse: Misuse, of operation: AnyOperation) {
        report(misuse)
        operation.publishMisuse(misuse)
    }
}

extension Misuse {
    /// Writes one line to standard error.
    @Sendable
    static func writeToStandardError(_ misuse: Misuse) { StandardErrorLine.write("\(misuse)") }
}

/// Lines of Baton's own on the standard error of the process.
package enum StandardErrorLine {
    /// Writes one line, after the name of the package.
    package static func write(_ text: String) { baton_complain("Baton: \(text)") }
}

/// Reports operations that a task awaits and nobody adds, because such a task would wait forever without a message.
extension AnyOperation {
    /// The time within which an awaited operation has to be added.
    private static let timeToBeAdded = Duration.seconds(1)

    /// Schedules a check of whether the operation has been added. Call this when a task begins to wait for an operation
    /// in phase `created`.
    final func scheduleNotAddedCheck() {
        guard withLifecycle({ $0.phase == .created && $0.ensureOptionalState().noteFirstWaitBeforeAdding() }) else {
            return
        }
        // Captures `self` weakly on this thread. If the timer thread did so, it could hold the last strong reference,
        // and would run the deinitializers of the user's objects.
        let check: @Sendable () async -> Void = { [weak self] in self?.reportIfNotAdded() }
        LateCall.schedule(after: Self.timeToBeAdded, check)
    }

    /// A child of a group is not reported: its group, which may wait for something else, adds it when it starts.
    final func reportIfNotAdded() {
        if withLifecycle({ $0.phase == .created && kinship != .childOfPlannedGroup }) {
            report(Misuse(.awaitedBeforeAdding, operation: reference))
        }
    }
}
