internal import CBaton

/// A call that makes no sense at this point. It changed nothing; nothing traps, and nothing waits because of it.
///
/// Calls that throw, throw it as ``OperationError/misuse(_:)``. The others report it once to the queue's
/// ``AsyncOperationQueue/onMisuse``, which by default writes one line to standard error.
public struct Misuse: Error, Sendable, CustomStringConvertible {
    /// What was wrong with the call.
    @nonexhaustive
    public enum Kind: Sendable, Hashable {
        /// The operation had been added to a queue before.
        case addedTwice
        /// The operation is awaited, and a second later nobody has added it to a queue.
        case awaitedBeforeAdding
        /// The operation is on another queue, to which it was added with this one, which takes its output; nil if that
        /// has finished.
        case addedWithReader(OperationReference?)
        /// Dependencies, name and priority may change only until the operation is added. The text names what was
        /// changed.
        case changedAfterAdding(String)
        /// A dependency that hands its output over as an input cannot be removed.
        case removedInput(OperationReference)
        /// `maxConcurrentOperationCount` must be at least 1. The number is the one that was refused.
        case invalidWidth(Int)
        /// A ``ThreadExecutor`` has at least 1 thread. The number is the one that was refused.
        case invalidThreadCount(Int)
        /// `maxWaitingOperationCount` must be at least 1. The number is the one that was refused.
        case invalidWaitingLimit(Int)
        /// A sequence is delivered to at least 1 operation at a time. The number is the one that was refused.
        case invalidDeliveryWidth(Int)
        /// `context.run` was called after the body had returned.
        case ranAfterTheEnd
        /// `context.produce` was called after the body had returned.
        case producedAfterTheEnd
        /// `context.sleep` was called after the body had returned.
        case sleptAfterTheEnd
        /// A hook of `around` called the body a second time.
        case calledBodyTwice
        /// A hook of `around` returned without having called the body.
        case leftBodyOut
        /// A callback body called its `finish` a second time.
        case finishedTwice
        /// A body or a handler called `waitUntilIdle()`, `drain()` or a `shutdown` of its own queue, which would wait
        /// for itself.
        case waitedForItsOwnQueue
        /// A signal that a program cannot wait for. The text says why.
        case unusableSignal(ShutdownSignal, String)
        /// An exclusion that nobody could ever hold. The text says why.
        case invalidExclusion(String)
        /// Operations limit the same name to different numbers; the smaller one counts.
        case conflictingLimits(name: String, limit: Int, other: Int)
        /// A rate within which nobody could ever start. The text says why.
        case invalidRate(String)
        /// Operations give the same rate different numbers; the slower ones count.
        case conflictingRates(name: String)
        /// A ``CircuitBreaker`` opens after at least 1 failure. The number is the one that was refused.
        case invalidFailureCount(circuit: String, Int)
        /// A duration that cannot be negative was. The text names it.
        case negativeDuration(String)
        /// An operation makes at least 1 attempt. The number is the one that was refused.
        case invalidAttempts(Int)
        /// An operation repeats at least 1 time. The number is the one that was refused.
        case invalidCount(Int)
        /// A group was to be retried or repeated.
        case groupRunsOnce
        /// A stream of the newest events holds at least 1. The number is the one that was refused.
        case invalidEventLimit(Int)
        /// A child was added to a group that had closed.
        case groupIsClosed(OperationReference)
        /// It should have joined this operation, whose output is of another type.
        case joinedAnotherOutput(OperationReference)
    }

    /// What was wrong.
    public let kind: Kind
    /// The operation concerned, if it is about one.
    public let operation: OperationReference?
    /// The name of the queue concerned, if it has one.
    public let queue: String?
    /// Where the call stands in the source: `file:line`. Nil for property setters, which Swift does not tell.
    public let callSite: String?

    init(_ kind: Kind, operation: OperationReference? = nil, queue: String? = nil, callSite: CallSite? = nil) {
        self.kind = kind
        self.operation = operation
        self.queue = queue
        self.callSite = callSite?.description
    }

    /// One line: what happened, to what, where, and what to do.
    public var description: String {
        let what = operation.map { "\($0): " } ?? queue.map { "queue ‘\($0)’: " } ?? ""
        let place = callSite.map { " (\($0))" } ?? ""
        return "\(what)\(explanation)\(place)".singleLine
    }

    private var explanation: String {
        switch kind {
        case .addedTwice:
            "was added to a queue twice; the second add was ignored. An operation is one run: make a new one to run again"
        case .awaitedBeforeAdding:
            "is awaited, and nobody has added it, so the wait does not end unless something is about to. Add it to a "
                + "queue, or use `run`"
        case .addedWithReader(let reader):
            """
            was added to another queue with \(reader.map { "\($0)" } ?? "what takes its output"); this add was ignored. \
            Add it before what takes its output
            """
        case .changedAfterAdding(let what):
            "\(what) changed after the operation was added; the change was ignored. Change it before adding"
        case .removedInput(let source):
            "the dependency on \(source) hands over an input and cannot be removed; nothing was changed"
        case .invalidWidth(let width):
            "maxConcurrentOperationCount cannot be \(width); the old value stays. Use 1 or more, or isSuspended to pause"
        case .invalidThreadCount(let count):
            "a ThreadExecutor cannot have \(count) threads; it was made with 1. Ask for 1 or more"
        case .invalidWaitingLimit(let limit):
            "maxWaitingOperationCount cannot be \(limit); the old value stays. Use 1 or more"
        case .invalidDeliveryWidth(let width):
            "a sequence cannot be delivered with a width of \(width); it is with 1. Ask for 1 or more"
        case .ranAfterTheEnd:
            "context.run was called after the body had returned. Await what the body starts before it returns"
        case .producedAfterTheEnd:
            "context.produce was called after the body had returned. Produce before it returns, or add to a queue"
        case .sleptAfterTheEnd:
            "context.sleep was called after the body had returned. Await what the body starts before it returns"
        case .calledBodyTwice:
            "a hook of around called the body twice; the second call did nothing. To run again, use an operation of its own"
        case .leftBodyOut:
            "a hook of around did not call the body. Call it once, or throw the error that the operation shall have"
        case .finishedTwice:
            "finish was called twice; the second call was ignored. Call it exactly once on every path"
        case .waitedForItsOwnQueue:
            "a body or a handler called waitUntilIdle, drain or shutdown of its own queue, which would wait for itself; the call "
                + "did nothing, and the queue takes operations as before. Call it outside"
        case .unusableSignal(let signal, let problem):
            "shutdown cannot wait for \(signal): \(problem); it does not. Use .interrupt, .terminate or .hangUp"
        case .invalidExclusion(let problem):
            "it can never hold its exclusions: \(problem)"
        case .conflictingLimits(let name, let limit, let other):
            "\(name) is limited to \(limit) here and to \(other) elsewhere; the smaller limit counts. Use one limit for one name"
        case .invalidRate(let problem):
            "it can never have its turn: \(problem)"
        case .conflictingRates(let name):
            "the rate \(name) has other numbers elsewhere; the slower ones count. Use the same numbers for one name"
        case .invalidFailureCount(let circuit, let count):
            "the circuit breaker ‘\(circuit)’ cannot open after \(count) failures; it opens after 1. Ask for 1 or more"
        case .negativeDuration(let what):
            "\(what) cannot be negative; it counts as zero"
        case .invalidAttempts(let count):
            "cannot make \(count) attempts; it makes 1. Ask for 1 or more"
        case .invalidCount(let count):
            "cannot repeat \(count) times; it runs once. Ask for 1 or more"
        case .groupRunsOnce:
            "a group cannot run again, because its children run once. Retry an operation that makes the group and runs it"
        case .invalidEventLimit(let limit):
            "a stream of events cannot hold the newest \(limit); it holds 1. Ask for 1 or more, or for all"
        case .groupIsClosed(let child):
            "\(child) was added when the group had finished, was cancelled or had decided; it was left alone. Add it earlier"
        case .joinedAnotherOutput(let original):
            "it cannot join \(original), whose output is of another type. Give one of them another namespace or key"
        }
    }
}

/// Where a call stands in the user's source.
struct CallSite: Sendable, CustomStringConvertible {
    let file: StaticString
    let line: UInt

    var description: String { "\(file):\(line)" }
}

extension AnyOperation {
    /// To the queue that it was added to, else to standard error. Outside every lock.
    final func report(_ misuse: Misuse) {
        if let core = QueueDirectory.find(queueNumber) { core.report(misuse) } else { Misuse.complain(misuse) }
        tellMisuse(misuse)
    }
}

extension QueueCore {
    func report(_ misuse: Misuse) { (misuseHandler.withLock { $0 } ?? Misuse.complain)(misuse) }

    /// Somebody gave an operation to this queue, which may be another one's.
    func report(_ misuse: Misuse, of operation: AnyOperation) {
        report(misuse)
        operation.tellMisuse(misuse)
    }
}

extension Misuse {
    /// One line on standard error.
    @Sendable
    static func complain(_ misuse: Misuse) { baton_complain("Baton: \(misuse)") }
}

/// Reports an operation that somebody awaits and nobody adds: the task that awaits it would wait for ever, without a
/// word.
extension AnyOperation {
    /// How long an awaited operation has to be added.
    private static let timeToBeAdded = Duration.seconds(1)

    /// Somebody awaits this operation, which nobody has added.
    final func noteAwaitedBeforeAdding() {
        guard withLife({ $0.phase == .created && $0.madeOptionalState().noteFirstWaitBeforeAdding() }) else { return }
        // Made here: to make a weak reference on the thread of the timers could release the operation there, with what
        // is the user's.
        let check: @Sendable () async -> Void = { [weak self] in self?.reportIfNotAdded() }
        TimerThread.shared.call(after: Self.timeToBeAdded) { TaskFactory.services.spawn(check) }
    }

    final func reportIfNotAdded() {
        if withLife({ $0.phase == .created }) { report(Misuse(.awaitedBeforeAdding, operation: reference)) }
    }
}
