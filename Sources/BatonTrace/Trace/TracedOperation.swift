public import Baton

/// One operation of a ``Trace``: what happened to it, and when.
///
/// A time is nil if it has not come, or was before the recording began.
public struct TracedOperation: Sendable, Hashable, Identifiable {
    /// Names it.
    public internal(set) var reference: OperationReference
    /// What runs it: with `context.run`, as the child of a group, or for a condition.
    public internal(set) var parent: OperationReference?
    /// What has produced it, with `context.produce`.
    public internal(set) var producer: OperationReference?
    /// What it depends on, inputs first.
    public internal(set) var edges: [Edge] = []
    /// When its queue took it.
    public internal(set) var added: Duration?
    /// Whether one of its dependencies had not finished then.
    public internal(set) var hasWaited = false
    /// When the last of the dependencies that it waited for finished.
    public internal(set) var dependenciesMet: Duration?
    /// When its delay began.
    public internal(set) var delayed: Duration?
    /// When its conditions began to be looked at.
    public internal(set) var evaluating: Duration?
    /// Its runs, the last one last; the last may only be ready to run.
    public internal(set) var attempts: [Attempt] = []
    /// When its queue was suspended while it waited for that: see ``TracedWait/Reason/suspension``.
    public internal(set) var suspensions: [Trace.Suspension] = []
    /// Who cancelled it, if anybody did.
    public internal(set) var cancel: Cancel?
    /// When it had its outcome.
    public internal(set) var finished: Duration?
    /// How it ended.
    public internal(set) var outcome: Outcome?
    /// The text of its error, of at most ``Trace/textLimit`` characters.
    public internal(set) var error: String?
    /// How far it came, from 0 to 1, if it said so.
    public internal(set) var progress: Double?
    /// The texts of what was done to it that makes no sense.
    public internal(set) var misuses: [String] = []

    init(_ reference: OperationReference) { self.reference = reference }

    /// Unique in the process that was recorded; see `OperationReference.id`.
    public var id: UInt64 { reference.id }

    /// What it is called.
    public var name: String { reference.name }

    /// When it was first ready to run.
    public var ready: Duration? { attempts.first?.ready }

    /// When it first ran.
    public var started: Duration? { attempts.first?.start }

    /// How often it ran again because a run had failed.
    public var retryCount: Int { attempts.lazy.filter { $0.error != nil }.count }

    /// When it was first heard of.
    var firstMoment: Duration? {
        if let added { return added }
        let first = attempts.first
        // What was recorded from the middle of a run on has the end of that alone.
        return [
            delayed, evaluating, first?.ready, first?.obstacles.first?.start, first?.start, first?.end, cancel?.time,
            finished,
        ].lazy.compactMap(\.self).min()
    }
}

extension TracedOperation {
    /// A dependency.
    public struct Edge: Sendable, Hashable, Codable {
        /// What a dependency is for.
        @nonexhaustive
        public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
            /// It hands over its output.
            case input
            /// It comes first, whatever its outcome.
            case order
            /// It comes first, and has to succeed.
            case onSuccess
            /// It comes first, and must neither fail nor be cancelled.
            case onNoFailure
            /// It comes first, and has to fail.
            case onFailure
        }

        /// What the operation depends on.
        public let source: OperationReference
        /// What for.
        public let kind: Kind
    }

    /// One run of its body, and the time before it in which it was ready.
    public struct Attempt: Sendable, Hashable {
        /// Counts from 1; each repetition begins at 1 again.
        public internal(set) var number: Int
        /// From when on nothing kept it but the queue, its width, a suspension, or an exclusion that others held.
        public internal(set) var ready: Duration?
        /// When it asked for its exclusions.
        public internal(set) var acquiring: Duration?
        /// When the body began.
        public internal(set) var start: Duration?
        /// When it had ended.
        public internal(set) var end: Duration?
        /// The text of the error, if another attempt follows.
        public internal(set) var error: String?
        /// How long it was to pause then.
        public internal(set) var pause: Duration?
        /// The exclusions and rates that it had to wait for, one after another.
        public internal(set) var obstacles: [Obstacle] = []
    }

    /// An exclusion or a rate that kept an attempt from starting.
    public struct Obstacle: Sendable, Hashable {
        /// ``TracedWait/Reason/exclusion`` or ``TracedWait/Reason/rate``.
        public internal(set) var reason: TracedWait.Reason
        /// What it is called, in quotes. Nil if that is not known, because the wait was too short.
        public internal(set) var name: String?
        /// An operation that held the exclusion when the wait began, or came before this one in the line for it.
        public internal(set) var holder: OperationReference?
        /// When the wait began.
        public internal(set) var start: Duration
        /// When it was over.
        public internal(set) var end: Duration?
    }

    /// A cancel that came before the outcome.
    public struct Cancel: Sendable, Hashable {
        /// When.
        public internal(set) var time: Duration
        /// Why, as the end of a sentence that begins with "was cancelled".
        public internal(set) var reason: String
    }

    /// How an operation ended.
    @nonexhaustive
    public enum Outcome: String, Sendable, Hashable, Codable, CaseIterable {
        /// It has an output.
        case success
        /// It has an error other than the next two.
        case failure
        /// It was cancelled.
        case cancelled
        /// A rule kept it from running.
        case skipped
    }
}
