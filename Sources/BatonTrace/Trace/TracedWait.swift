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
        /// A slot of its queue, or the end of a suspension.
        case queue
        /// An exclusion that others held, with the wait for the slot that follows.
        case exclusion
        /// The pause between two attempts or repetitions.
        case pause
    }

    /// Why.
    public let reason: Reason
    /// When it began.
    public let start: Duration
    /// When it was over.
    public let end: Duration

    /// How long it was.
    public var duration: Duration { end - start }
}

extension TracedOperation {
    /// Its waits, in order, none of length zero.
    ///
    /// - Parameter end: Up to when a wait counts that was not over; mostly ``Trace/end``.
    public func waits(until end: Duration) -> [TracedWait] {
        let end = finished ?? end
        var waits: [TracedWait] = []
        func note(_ reason: TracedWait.Reason, _ start: Duration?, _ stop: Duration?) {
            let stop = stop ?? end
            guard let start, start < stop else { return }
            let isSame = waits.last?.reason == reason && waits.last?.end == start
            let begin = isSame ? waits.removeLast().start : start
            waits.append(TracedWait(reason: reason, start: begin, end: stop))
        }

        let prepared = evaluating ?? ready ?? started ?? end
        func notePreparation(_ start: Duration?) {
            note(.queue, start, delayed.map { min($0, prepared) } ?? prepared)
            note(.delay, delayed, prepared)
        }
        if hasWaited {
            // They may have finished before the add was told.
            let met = max(added ?? .zero, min(dependenciesMet ?? delayed ?? prepared, prepared))
            note(.dependencies, added, met)
            notePreparation(met)
        } else {
            notePreparation(added)
        }
        note(.conditions, evaluating, ready ?? started)
        for (place, attempt) in attempts.enumerated() {
            note(.queue, attempt.ready, attempt.acquiring ?? attempt.start ?? attempt.end)
            note(.exclusion, attempt.acquiring, attempt.start ?? attempt.end)
            let isLast = place == attempts.count - 1
            if isLast, attempt.pause == nil { continue }
            let next = isLast ? nil : attempts[place + 1]
            note(.pause, attempt.end, next?.ready ?? next?.start)
        }
        return waits
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
