import Baton

/// A time in which an operation did not run, and the reason.
public struct TracedWait: Sendable, Hashable {
    /// A reason for which an operation waits.
    @nonexhaustive
    public enum Reason: String, Sendable, Hashable, Codable, CaseIterable {
        /// One of the operation's dependencies had not finished.
        case dependencies
        /// The operation's own delay had not passed after its dependencies had finished.
        case delay
        /// The operation's conditions were evaluated, and their dependencies ran.
        case conditions
        /// The operation waited for a permit: as many other operations ran as the queue is wide.
        case queue
        /// The queue was suspended. In a trace that was made from events and not by a recorder, this counts as a wait
        /// for the queue.
        case suspension
        /// Other operations held the exclusion, or were queued for it before. Traces of older versions include the
        /// following wait for the permit.
        case exclusion
        /// The operation waited for its turn at a rate.
        case rate
        /// The operation paused between two attempts or repetitions.
        case pause
    }

    /// The reason for the wait.
    public let reason: Reason
    /// The name of the exclusion or the rate, if the wait was for one and its name is known.
    public let name: String?
    /// The start of the wait.
    public let start: Duration
    /// The end of the wait.
    public let end: Duration

    init(reason: Reason, name: String? = nil, start: Duration, end: Duration) {
        self.reason = reason
        self.name = name
        self.start = start
        self.end = end
    }

    /// The length of the wait.
    public var duration: Duration { end - start }
}

extension TracedOperation {
    /// Returns the waits of the operation, in order of time. None has the length zero.
    ///
    /// - Parameter end: The time up to which an unfinished wait counts, usually ``Trace/end``.
    /// - Complexity: O(*n*), where *n* is the number of attempts, obstacles and suspensions.
    public func waits(until end: Duration) -> [TracedWait] {
        let end = finished ?? end
        var waits = WaitList(suspensions: suspensions[...], end: end)
        let prepared = evaluating ?? ready ?? attempts.first?.obstacles.first?.start ?? started ?? end
        func notePreparation(_ start: Duration?) {
            waits.noteQueue(start, delayed.map { min($0, prepared) } ?? prepared)
            waits.note(.delay, delayed, prepared)
        }
        if hasWaited {
            // The dependencies may have finished before the event of the add was emitted.
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

    /// Returns the total time in which the body ran in all attempts.
    ///
    /// - Parameter end: The time up to which an unfinished run counts, usually ``Trace/end``.
    /// - Complexity: O(*n*), where *n* is the number of attempts.
    public func runningTime(until end: Duration) -> Duration {
        attempts.reduce(.zero) { sum, attempt in
            guard let start = attempt.start else { return sum }
            return sum + max(.zero, (attempt.end ?? finished ?? end) - start)
        }
    }
}

/// Collects the waits of one operation, in order of time. A pure value.
private struct WaitList {
    private(set) var all: [TracedWait] = []
    /// The suspensions that have not ended when the next wait starts.
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

    /// Adds a wait for the queue, and splits off the parts in which the queue was suspended.
    mutating func noteQueue(_ start: Duration?, _ stop: Duration?) {
        let stop = stop ?? end
        guard var start, start < stop else { return }
        while let suspension = suspensions.first, suspension.start < stop {
            let over = min(suspension.end ?? stop, stop)
            note(.queue, start, suspension.start)
            note(.suspension, max(start, suspension.start), over)
            start = max(start, over)
            // The suspension may extend into the next wait.
            if suspension.end.map({ $0 > stop }) ?? true { break }
            suspensions.removeFirst()
        }
        note(.queue, start, stop)
    }

    /// Adds the waits from the time when an attempt was ready until its body ran.
    mutating func noteReadiness(of attempt: TracedOperation.Attempt) {
        let stop = attempt.start ?? attempt.end
        if attempt.obstacles.isEmpty {
            // Traces of older versions do not tell whether the attempt waited for its exclusions, but nothing else
            // takes long between the request and the start.
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
