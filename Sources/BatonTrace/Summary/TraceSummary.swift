public import Baton

/// The figures of a ``Trace``: how long it took, what operations waited for, and what to make faster first.
public struct TraceSummary: Sendable, Hashable {
    /// All waits of one kind.
    public struct Waiting: Sendable, Hashable {
        /// The reason for the waits.
        public let reason: TracedWait.Reason
        /// The name of the exclusion or the rate, or nil for all waits with this reason.
        public let name: String?
        /// The total time of the waits. Waits that overlap are added up.
        public let time: Duration
        /// The number of waits.
        public let count: Int
    }

    /// The part of the critical path that one activity of a stage takes.
    public struct Lever: Sendable, Hashable {
        /// The name of the stage, or of its operation if it has only one; see ``Trace/summary()``.
        public let stage: String
        /// The activity of the operations.
        public let activity: CriticalPath.Activity
        /// The time on the critical path.
        public let time: Duration
        /// The share of the critical path, from 0 to 1.
        public let share: Double
        /// The number of operations of the stage that are on the path with this activity.
        public let operationCount: Int
    }

    /// The time from the first event of an operation to the end of the trace.
    public let duration: Duration
    /// The number of operations.
    public let operationCount: Int
    /// The number of operations with each outcome.
    public let outcomes: [TracedOperation.Outcome: Int]
    /// The number of operations that failed without having run, most often because of an operation that they needed.
    public let failedBeforeRunCount: Int
    /// The number of operations that have not finished.
    public let unfinishedCount: Int
    /// The number of failed attempts that another attempt followed.
    public let retryCount: Int
    /// The total time in which bodies ran. A body that awaits another operation counts as running.
    public let runningTime: Duration
    /// The waits by reason, the longest first. Reasons without waits are left out.
    public let waits: [Waiting]
    /// The waits by exclusion or rate, the longest first, and equally long ones by name. Waits whose names are not
    /// known are left out.
    public let namedWaits: [Waiting]
    /// The time from the first event of an operation to the start of the critical path, when its first operation was
    /// added.
    public let leadTime: Duration
    /// The chain of operations that determined the end of the trace.
    public let criticalPath: CriticalPath
    /// The parts of the critical path by stage and activity, the longest first, and equally long ones by stage: what to
    /// make faster first.
    public let levers: [Lever]

    /// The average number of bodies that ran at a time, including those that awaited other operations. Zero if no time
    /// has passed.
    public var parallelism: Double { duration > .zero ? runningTime / duration : 0 }
}

extension Trace {
    /// Returns the figures of the trace, with the stages of ``stageName(of:)``.
    ///
    /// A stage that contains only one operation of the trace has the name of that operation: "step 1" if there is no
    /// "step 2".
    ///
    /// - Complexity: O(*n* log *n*), where *n* is the number of events.
    public func summary() -> TraceSummary { summary(stage: defaultStages()) }

    /// Returns the figures of the trace.
    ///
    /// - Parameter stage: Returns the name of the stage that an operation belongs to. It is called with each operation
    ///   on the critical path, on the calling thread.
    /// - Complexity: O(*n* log *n*), where *n* is the number of events.
    public func summary(stage: (OperationReference) -> String) -> TraceSummary {
        var totals: [TracedWait.Reason: (time: Duration, count: Int)] = [:]
        var named: [NamedReason: (time: Duration, count: Int)] = [:]
        var outcomes: [TracedOperation.Outcome: Int] = [:]
        for operation in operations {
            if let outcome = operation.outcome { outcomes[outcome, default: 0] += 1 }
            for wait in operation.waits(until: end) {
                let total = totals[wait.reason] ?? (.zero, 0)
                totals[wait.reason] = (total.time + wait.duration, total.count + 1)
                guard let name = wait.name else { continue }
                let key = NamedReason(reason: wait.reason, name: name)
                let sum = named[key] ?? (.zero, 0)
                named[key] = (sum.time + wait.duration, sum.count + 1)
            }
        }
        let path = criticalPath()
        return TraceSummary(
            duration: duration, operationCount: operations.count, outcomes: outcomes,
            failedBeforeRunCount: operations.lazy.filter { $0.outcome == .failure && $0.started == nil }.count,
            unfinishedCount: operations.lazy.filter { $0.outcome == nil }.count,
            retryCount: operations.reduce(0) { $0 + $1.retryCount },
            runningTime: operations.reduce(.zero) { $0 + $1.runningTime(until: end) },
            waits: TracedWait.Reason.allCases
                .compactMap { reason in
                    totals[reason].map {
                        TraceSummary.Waiting(reason: reason, name: nil, time: $0.time, count: $0.count)
                    }
                }
                .sorted { $0.time > $1.time },
            namedWaits: named.map { key, sum in
                TraceSummary.Waiting(reason: key.reason, name: key.name, time: sum.time, count: sum.count)
            }
            .sorted { ($1.time, $0.name ?? "", $0.reason.rawValue) < ($0.time, $1.name ?? "", $1.reason.rawValue) },
            leadTime: (path.steps.first?.start ?? firstMoment) - firstMoment, criticalPath: path,
            levers: path.levers(stage))
    }

    /// Returns the names of the stages for ``summary()`` and ``timeline()``: ``stageName(of:)``, or the name of the
    /// operation if it is the only one of its stage.
    func defaultStages() -> (OperationReference) -> String {
        var counts: [String: Int] = [:]
        for operation in operations { counts[Self.stageName(of: operation.reference), default: 0] += 1 }
        return { [counts] operation in
            let stage = Self.stageName(of: operation)
            return counts[stage] == 1 ? operation.name : stage
        }
    }

    private struct NamedReason: Hashable {
        let reason: TracedWait.Reason
        let name: String
    }

    /// Returns the name of an operation without the number at its end and the separator before it.
    ///
    /// For example, the stage of "page 12" and of "page (12)" is "page", and that of "part-3.1" is "part". A name that
    /// is a number, or that does not end with one, is returned as it is.
    ///
    /// - Parameter operation: The operation.
    public static func stageName(of operation: OperationReference) -> String {
        var stage = operation.name[...]
        while let shorter = stage.withoutNumber { stage = shorter }
        return stage.isEmpty ? operation.name : String(stage)
    }
}

extension Substring {
    /// The text without the number at its end, in brackets or not, and without the separators before it. Nil if there
    /// is not a number.
    fileprivate var withoutNumber: Substring? {
        let openers: [Character: Character] = [")": "(", "]": "["]
        let separators: Set<Character> = [" ", "-", "_", "#", ":", ".", "/"]
        var rest = self
        let opener = last.flatMap { openers[$0] }
        if opener != nil { rest.removeLast() }
        guard rest.last?.isDigit == true else { return nil }
        while rest.last?.isDigit == true { rest.removeLast() }
        if let opener {
            guard rest.last == opener else { return nil }
            rest.removeLast()
        }
        while let last = rest.last, separators.contains(last) { rest.removeLast() }
        return rest
    }
}

extension Character {
    /// True if the character is a decimal digit of any script.
    fileprivate var isDigit: Bool {
        unicodeScalars.first?.properties.numericType == .decimal && unicodeScalars.count == 1
    }
}

extension CriticalPath {
    fileprivate func levers(_ stage: (OperationReference) -> String) -> [TraceSummary.Lever] {
        struct Key: Hashable {
            let stage: String
            let activity: Activity
        }
        var parts: [Key: (time: Duration, operations: Set<UInt64>)] = [:]
        for step in steps {
            let key = Key(stage: stage(step.operation), activity: step.activity)
            parts[key, default: (.zero, [])].time += step.duration
            parts[key]?.operations.insert(step.operation.id)
        }
        let whole = duration
        return parts.map { key, part in
            TraceSummary.Lever(
                stage: key.stage, activity: key.activity, time: part.time, share: part.time / whole,
                operationCount: part.operations.count)
        }
        .sorted { ($1.time, $0.stage, $0.activity.sortKey) < ($0.time, $1.stage, $1.activity.sortKey) }
    }
}

extension CriticalPath.Activity {
    /// A text that no other activity has. Running sorts before the waits.
    fileprivate var sortKey: String {
        switch self {
        case .running: ""
        case .waiting(let reason): reason.rawValue
        }
    }
}
