import Baton

/// A time in which an operation did not run, and why.
public struct TracedWait: Sendable, Hashable {
    /// What an operation can wait for.
    @nonexhaustive
    public enum Reason: String, Sendable, Hashable, Codable, CaseIterable {
        /// One of its dependencies had not finished.
        case dependencies
        /// A delay of its own, after its dependencies.
        case delay
        /// Its conditions were evaluated, with the operations that they bring along.
        case conditions
        /// A permit of its queue: as many others ran as the queue is wide.
        case queue
        /// The queue was suspended. Of a trace that is made of events, and not by a recorder, this counts as a wait for
        /// the queue.
        case suspension
        /// An exclusion that others held or waited for. In traces that older versions wrote, with the wait for the
        /// permit that follows.
        case exclusion
        /// Its turn at a rate.
        case rate
        /// The pause between two attempts or repetitions.
        case pause
    }

    /// Why.
    public let reason: Reason
    /// The exclusion or the rate, if it was for one and its name is known.
    public let name: String?
    /// When it began.
    public let start: Duration
    /// When it was over.
    public let end: Duration

    init(reason: Reason, name: String? = nil, start: Duration, end: Duration) {
        self.reason = reason
        self.name = name
        self.start = start
        self.end = end
    }

    /// How long it was.
    public var duration: Duration { end - start }
}

extension TracedOperation {
    /// Its waits, in order, none of length zero.
    ///
    /// - Parameter end: Up to when a wait counts that was not over; mostly ``Trace/end``.
    public func waits(until end: Duration) -> [TracedWait] {
        let end = finished ?? end
        var waits = WaitList(suspensions: suspensions[...], end: end)
        let prepared = evaluating ?? ready ?? attempts.first?.obstacles.first?.start ?? started ?? end
        func notePreparation(_ start: Duration?) {
            waits.noteQueue(start, delayed.map { min($0, prepared) } ?? prepared)
            waits.note(.delay, delayed, prepared)
        }
        if hasWaited {
            // They may have finished before the add was told.
            let met = max(added ?? .zero, min(dependenciesMet ?? delayed ?? prepared, prepared))
            waits.note(.dependencies, added, met)
            notePreparation(met)
        } else {
            notePreparation(added)
        }
        waits.note(.conditions, evaluating, ready ?? started)
        for (place, attempt) in attempts.enumerated() {
            waits.noteReadiness(of: attempt)
            let isLast = place == attempts.count - 1
            if isLast, attempt.pause == nil { continue }
            let next = isLast ? nil : attempts[place + 1]
            waits.note(.pause, attempt.end, next?.ready ?? next?.start)
        }
        return waits.all
    }

    /// How long its body ran, all attempts together.
    ///
    /// - Parameter end: Up to when a run counts that was not over; mostly ``Trace/end``.
    public func runningTime(until end: Duration) -> Duration {
        attempts.reduce(.zero) { sum, attempt in
            guard let start = attempt.start else { return sum }
            return sum + max(.zero, (attempt.end ?? finished ?? end) - start)
        }
    }
}

/// Collects the waits of one operation, in order. Pure.
private struct WaitList {
    private(set) var all: [TracedWait] = []
    /// Those that are not over when the next wait begins.
    private var suspensions: ArraySlice<Trace.Suspension>
    private let end: Duration

    init(suspensions: ArraySlice<Trace.Suspension>, end: Duration) {
        self.suspensions = suspensions
        self.end = end
    }

    mutating func note(
        _ reason: TracedWait.Reason, _ start: Duration?, _ stop: Duration?, named name: String? = nil
    ) {
        let stop = stop ?? end
        guard let start, start < stop else { return }
        let isSame = all.last.map { $0.reason == reason && $0.name == name && $0.end == start } ?? false
        let begin = isSame ? all.removeLast().start : start
        all.append(TracedWait(reason: reason, name: name, start: begin, end: stop))
    }

    /// A wait for the queue, which may have been suspended in parts of that time.
    mutating func noteQueue(_ start: Duration?, _ stop: Duration?) {
        let stop = stop ?? end
        guard var start, start < stop else { return }
        while let suspension = suspensions.first, suspension.start < stop {
            let over = min(suspension.end ?? stop, stop)
            note(.queue, start, suspension.start)
            note(.suspension, max(start, suspension.start), over)
            start = max(start, over)
            // It may go on in the next wait.
            if suspension.end.map({ $0 > stop }) ?? true { break }
            suspensions.removeFirst()
        }
        note(.queue, start, stop)
    }

    /// From when an attempt was ready until its body ran.
    mutating func noteReadiness(of attempt: TracedOperation.Attempt) {
        let stop = attempt.start ?? attempt.end
        if attempt.obstacles.isEmpty {
            // Older traces do not say whether it had to wait for its exclusions, but for nothing that takes long
            // otherwise.
            noteQueue(attempt.ready, attempt.acquiring ?? stop)
            return note(.exclusion, attempt.acquiring, stop)
        }
        var since = attempt.ready
        for obstacle in attempt.obstacles {
            noteQueue(since, obstacle.start)
            note(obstacle.reason, obstacle.start, obstacle.end ?? stop, named: obstacle.name)
            since = obstacle.end ?? stop ?? end
        }
        noteQueue(since, stop)
    }
}
