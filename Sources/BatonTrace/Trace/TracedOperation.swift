public import Baton

/// One operation of a ``Trace``: its events, and their times.
///
/// Times are on the clock of the queue. A time is nil if the event has not happened, or happened before the recording
/// started.
public struct TracedOperation: Sendable, Hashable, Identifiable {
    /// The reference that identifies the operation.
    public internal(set) var reference: OperationReference
    /// The operation that runs it: with `context.run`, as the child of a group, or for a condition.
    public internal(set) var parent: OperationReference?
    /// The operation that has produced it with `context.produce`.
    public internal(set) var producer: OperationReference?
    /// The dependencies of the operation, inputs first.
    public internal(set) var edges: [Edge] = []
    /// The time when the operation was added to its queue.
    public internal(set) var added: Duration?
    /// True if one of the dependencies had not finished when the operation was added.
    public internal(set) var hasWaited = false
    /// The time when the last of the dependencies that it waited for finished.
    public internal(set) var dependenciesMet: Duration?
    /// The time when the delay started.
    public internal(set) var delayed: Duration?
    /// The time when the evaluation of the conditions started.
    public internal(set) var evaluating: Duration?
    /// The attempts to run the operation, in order. The last one may only be ready to run.
    public internal(set) var attempts: [Attempt] = []
    /// The times in which the queue was suspended while the operation waited for it; see
    /// ``TracedWait/Reason/suspension``.
    public internal(set) var suspensions: [Trace.Suspension] = []
    /// The cancellation, if the operation was cancelled before its outcome.
    public internal(set) var cancel: Cancel?
    /// The time when the operation finished.
    public internal(set) var finished: Duration?
    /// The outcome of the operation, or nil if it has not finished.
    public internal(set) var outcome: Outcome?
    /// The text of the operation's error, of at most ``Trace/textLimit`` characters.
    public internal(set) var error: String?
    /// The last progress that the operation reported, from 0 to 1.
    public internal(set) var progress: Double?
    /// Descriptions of the misuses of the operation that were reported.
    public internal(set) var misuses: [String] = []

    init(_ reference: OperationReference) { self.reference = reference }

    /// The id of the operation, unique in the process that was recorded; see `OperationReference.id`.
    public var id: UInt64 { reference.id }

    /// The name of the operation.
    public var name: String { reference.name }

    /// The time when the operation was first ready to run.
    public var ready: Duration? { attempts.first?.ready }

    /// The time when the first run started.
    public var started: Duration? { attempts.first?.start }

    /// The number of runs that failed and were followed by another one.
    ///
    /// - Complexity: O(n), where n is the number of runs.
    public var retryCount: Int { attempts.lazy.filter { $0.error != nil }.count }

    /// The time of the first event of the operation.
    var firstMoment: Duration? {
        if let added { return added }
        let first = attempts.first
        // If the recording started during a run, only the end of that run is known.
        return [
            delayed, evaluating, first?.ready, first?.obstacles.first?.start, first?.start, first?.end, cancel?.time,
            finished,
        ].lazy.compactMap(\.self).min()
    }
}

extension TracedOperation {
    /// A dependency of an operation.
    public struct Edge: Sendable, Hashable, Codable {
        /// The kind of a dependency.
        @nonexhaustive
        public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
            /// The source passes its output to the operation.
            case input
            /// The source has to finish first, with any outcome.
            case order
            /// The source has to finish first, and to succeed.
            case onSuccess
            /// The source has to finish first, and must neither fail nor be cancelled.
            case onNoFailure
            /// The source has to finish first, and to fail.
            case onFailure
        }

        /// The operation that is depended on.
        public let source: OperationReference
        /// The kind of the dependency.
        public let kind: Kind
    }

    /// One run of the body, and the time before it in which the operation was ready.
    public struct Attempt: Sendable, Hashable {
        /// The number of the attempt, counted from 1. Each repetition starts at 1 again.
        public internal(set) var number: Int
        /// The time from which only the queue's width, a suspension, a rate, or an exclusion held by others kept the
        /// operation from running.
        public internal(set) var ready: Duration?
        /// The time when the operation asked for its exclusions.
        public internal(set) var acquiring: Duration?
        /// The time when the body started.
        public internal(set) var start: Duration?
        /// The time when the body had ended.
        public internal(set) var end: Duration?
        /// The text of the error, if another attempt follows.
        public internal(set) var error: String?
        /// The pause that was scheduled after the attempt.
        public internal(set) var pause: Duration?
        /// The exclusions and rates that the attempt had to wait for, one after another.
        public internal(set) var obstacles: [Obstacle] = []
    }

    /// An exclusion or a rate that kept an attempt from starting.
    public struct Obstacle: Sendable, Hashable {
        /// ``TracedWait/Reason/exclusion`` or ``TracedWait/Reason/rate``.
        public internal(set) var reason: TracedWait.Reason
        /// The name, in quotes. Nil if it is not known, because the wait was too short.
        public internal(set) var name: String?
        /// An operation that held the exclusion when the wait started, or was queued for it before this one.
        public internal(set) var holder: OperationReference?
        /// The time when the wait started.
        public internal(set) var start: Duration
        /// The time when the wait ended, or nil if it has not.
        public internal(set) var end: Duration?
    }

    /// A cancellation that came before the outcome.
    public struct Cancel: Sendable, Hashable {
        /// The time of the cancellation.
        public internal(set) var time: Duration
        /// The reason, as the end of a sentence that begins with "was cancelled".
        public internal(set) var reason: String
    }

    /// The outcome of an operation.
    @nonexhaustive
    public enum Outcome: String, Sendable, Hashable, Codable, CaseIterable {
        /// The operation has an output.
        case success
        /// The operation failed with an error that is neither a cancellation nor a skip.
        case failure
        /// The operation was cancelled.
        case cancelled
        /// A condition or the outcome of a dependency kept the operation from running.
        case skipped
    }
}
