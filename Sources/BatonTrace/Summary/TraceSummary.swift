public import Baton

/// A ``Trace`` in figures: how long it took, what it waited for, and what to make faster first.
public struct TraceSummary: Sendable, Hashable {
    /// Waits of one kind, of all operations.
    public struct Waiting: Sendable, Hashable {
        /// What for.
        public let reason: TracedWait.Reason
        /// The exclusion or the rate. Nil: all of the kind together.
        public let name: String?
        /// How long, all together. Waits that overlap count as often.
        public let time: Duration
        /// How many.
        public let count: Int
    }

    /// A part of the critical path that a stage is answerable for.
    public struct Lever: Sendable, Hashable {
        /// Operations of which kind.
        public let stage: String
        /// What they did.
        public let activity: CriticalPath.Activity
        /// How long, on the critical path.
        public let time: Duration
        /// Of the path, from 0 to 1.
        public let share: Double
        /// How many of them are on the path.
        public let operationCount: Int
    }

    /// From the first event of an operation to the end.
    public let duration: Duration
    /// How many operations there are.
    public let operationCount: Int
    /// How many ended how.
    public let outcomes: [TracedOperation.Outcome: Int]
    /// How many have not finished.
    public let unfinishedCount: Int
    /// How many attempts failed that another one followed.
    public let retryCount: Int
    /// How long bodies ran, all together.
    public let runningTime: Duration
    /// What was waited for, the longest first. Reasons for which nothing waited are left out.
    public let waits: [Waiting]
    /// Which exclusions and rates were waited for, the longest first. Those whose names are not known are left out.
    public let namedWaits: [Waiting]
    /// From the first event of an operation to the beginning of the critical path: its first operation was added no
    /// earlier.
    public let leadTime: Duration
    /// What determined the end.
    public let criticalPath: CriticalPath
    /// What to make faster first: what takes most of the critical path comes first.
    public let levers: [Lever]

    /// How many bodies ran at a time, on average. Zero if no time has passed.
    public var parallelism: Double { duration > .zero ? runningTime / duration : 0 }
}

extension Trace {
    /// The trace in figures.
    ///
    /// - Parameter stage: Which operations are of one kind: called with each operation on the critical path, on the
    ///   calling thread. By default those are whose names are the same but for a number at the end; see
    ///   ``stageName(of:)``.
    public func summary(
        stage: (OperationReference) -> String = { Trace.stageName(of: $0) }
    ) -> TraceSummary {
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
            .sorted { ($1.time, $0.name ?? "") < ($0.time, $1.name ?? "") },
            leadTime: (path.steps.first?.start ?? firstMoment) - firstMoment, criticalPath: path,
            levers: path.levers(stage))
    }

    private struct NamedReason: Hashable {
        let reason: TracedWait.Reason
        let name: String
    }

    /// The name without a number at its end, and without what divides the two.
    ///
    /// "page" of "page 12" and of "page (12)", "part" of "part-3.1". A name that is a number, or has none at its end,
    /// stays as it is.
    public static func stageName(of operation: OperationReference) -> String {
        var stage = operation.name[...]
        while let shorter = stage.withoutNumber { stage = shorter }
        return stage.isEmpty ? operation.name : String(stage)
    }
}

extension Substring {
    /// Without the number at its end, in brackets or not, and what stands before that; nil if there is none.
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
    /// Of any script.
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
        .sorted { ($1.time, $0.stage) < ($0.time, $1.stage) }
    }
}
