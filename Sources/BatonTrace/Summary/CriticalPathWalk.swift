import Baton

/// Follows the critical path backwards from the end of a trace; see ``CriticalPath``. A pure value.
///
/// The walk enters each operation at its end at most once, returns from each to its parent at most once without going
/// back in time, and otherwise goes back in time. So it ends for every trace, even for an inconsistent one.
struct CriticalPathWalk {
    private struct Moment {
        let time: Duration
        let place: Int
    }

    /// The operation whose step contains the time of an operation that never ran.
    private struct Waiter {
        let operation: OperationReference
        let activity: CriticalPath.Activity
        /// The index of the operation with which the walk goes on if the one that never ran waited for nothing. Nil
        /// for a child of the one that never ran: the walk then goes on with the origin of the latter.
        let place: Int?
    }

    private let trace: Trace
    private var places: [UInt64: Int] = [:]
    /// The ends of runs, in order of time. Each end made room for another run.
    private var runEnds: [Moment] = []
    /// The ends of children, in order of time, by the index of the parent.
    private var children: [Int: [Moment]] = [:]
    private var isEntered: [Bool]
    /// True for each operation from which the walk has gone back to the parent or the producer. The second time it only
    /// does so if it goes back in time.
    private var hasReturned: [Bool]
    /// The remaining earlier spans of operations that the walk has left for another one. The walk only goes back in
    /// time.
    private var spansBefore: [Int: [TracedOperation.Span]] = [:]
    /// The operations on the path that waited for an operation that never ran, by the index of the latter.
    private var waiters: [Int: Waiter] = [:]

    // The steps and operations found so far, the last ones first.
    private var steps: [CriticalPath.Step] = []
    private var chain: [OperationReference] = []

    init(of trace: Trace) {
        self.trace = trace
        isEntered = Array(repeating: false, count: trace.operations.count)
        hasReturned = isEntered
        for (place, operation) in trace.operations.enumerated() { places[operation.id] = place }
        for (place, operation) in trace.operations.enumerated() {
            for attempt in operation.attempts where attempt.start != nil {
                if let end = attempt.end { runEnds.append(Moment(time: end, place: place)) }
            }
            // An unfinished child counts as ending at the end of the trace, since its unfinished parent waits for it.
            // The same holds for an unfinished dependency.
            if let parent = operation.parent, let parentPlace = places[parent.id] {
                children[parentPlace, default: []].append(Moment(time: operation.finished ?? trace.end, place: place))
            }
        }
        runEnds.sort { $0.time < $1.time }
        for parent in children.keys { children[parent]?.sort { $0.time < $1.time } }
    }

    mutating func path() -> CriticalPath {
        var next = last
        if let next { isEntered[next.place] = true }
        while let moment = next { next = before(moment) }
        var seen = Set<UInt64>()
        let operations = chain.reversed().filter { seen.insert($0.id).inserted }
        return CriticalPath(steps: steps.reversed(), operations: operations)
    }

    /// The end of the operation to start from: of those that have run, the one that is unfinished or ended last.
    ///
    /// If several end at the same time, an operation without a parent is preferred, then one that runs over one that
    /// waits.
    private var last: Moment? {
        var last: (moment: Moment, rank: Int)?
        for (place, operation) in trace.operations.enumerated() where operation.hasRun {
            let time = operation.finished ?? trace.end
            let rank = (operation.parent == nil ? 2 : 0) + (operation.status == .running ? 1 : 0)
            if let last, (time, rank) <= (last.moment.time, last.rank) { continue }
            last = (Moment(time: time, place: place), rank)
        }
        return last?.moment
    }

    /// Follows one operation back to the point where another one continues the path. Returns nil at the beginning of
    /// the path.
    private mutating func before(_ moment: Moment) -> Moment? {
        let operation = trace.operations[moment.place]
        if operation.neverRan { return beforeUnstarted(moment) }
        chain.append(operation.reference)
        var time = moment.time
        var spans = spansBefore.removeValue(forKey: moment.place) ?? operation.spans(until: trace.end)
        while let span = spans.last {
            if span.start < time {
                let cause = self.cause(of: span, of: operation, at: moment.place, before: time)
                note(operation.reference, span.activity, from: cause?.time ?? span.start, to: time)
                if let cause {
                    spansBefore[moment.place] = spans
                    let waiter = Waiter(operation: operation.reference, activity: span.activity, place: moment.place)
                    return enter(cause, for: waiter)
                }
                time = span.start
            }
            spans.removeLast()
        }
        let added = min(time, operation.firstMoment ?? time)
        return origin(of: moment, addedAt: added, for: operation.reference)
    }

    /// Follows what an operation that never ran waited for. The operation is not on the path: its time belongs to the
    /// one that waited for it.
    private mutating func beforeUnstarted(_ moment: Moment) -> Moment? {
        let operation = trace.operations[moment.place]
        guard let waiter = waiters[moment.place] else { return nil }
        var spans = spansBefore.removeValue(forKey: moment.place) ?? operation.spans(until: trace.end)
        while let span = spans.last {
            if span.start < moment.time,
                let cause = cause(of: span, of: operation, at: moment.place, before: moment.time)
            {
                note(waiter.operation, waiter.activity, from: cause.time, to: moment.time)
                spansBefore[moment.place] = spans
                let next = Waiter(operation: waiter.operation, activity: waiter.activity, place: moment.place)
                return enter(cause, for: next)
            }
            spans.removeLast()
        }
        if let place = waiter.place { return Moment(time: moment.time, place: place) }
        let added = min(moment.time, operation.firstMoment ?? moment.time)
        note(waiter.operation, waiter.activity, from: added, to: moment.time)
        return origin(of: moment, addedAt: added, for: waiter.operation)
    }

    private mutating func enter(_ cause: Moment, for waiter: Waiter) -> Moment {
        isEntered[cause.place] = true
        if trace.operations[cause.place].neverRan { waiters[cause.place] = waiter }
        return cause
    }

    /// Returns the parent or the producer of an operation, which was running, or evaluating its conditions, when it
    /// added the operation.
    ///
    /// - Parameter successor: The operation that comes next on the path.
    private mutating func origin(
        of moment: Moment, addedAt added: Duration, for successor: OperationReference
    ) -> Moment? {
        let operation = trace.operations[moment.place]
        guard let origin = operation.parent ?? operation.producer, let place = places[origin.id] else { return nil }
        // A recorder does not make a trace in which an operation is its own ancestor, but a decoded trace may contain
        // one.
        guard added < moment.time || !hasReturned[moment.place] else { return nil }
        hasReturned[moment.place] = true
        isEntered[place] = true
        if trace.operations[place].neverRan {
            waiters[place] = Waiter(operation: successor, activity: .waiting(.conditions), place: nil)
        }
        return Moment(time: added, place: place)
    }

    private func cause(
        of span: TracedOperation.Span, of operation: TracedOperation, at place: Int, before time: Duration
    ) -> Moment? {
        switch span.activity {
        case .running, .waiting(.conditions): latest(of: children[place] ?? [], after: span.start, until: time)
        case .waiting(.queue), .waiting(.exclusion): latest(of: runEnds, after: span.start, until: time)
        case .waiting(.dependencies): latest(of: dependencies(of: operation), after: span.start, until: time)
        case .waiting(.delay), .waiting(.pause), .waiting(.rate), .waiting(.suspension): nil
        }
    }

    private func dependencies(of operation: TracedOperation) -> [Moment] {
        operation.edges.compactMap { edge in
            guard let place = places[edge.source.id] else { return nil }
            return Moment(time: trace.operations[place].finished ?? trace.end, place: place)
        }
        .sorted { $0.time < $1.time }
    }

    /// Returns the latest of the moments whose operations the walk has not entered yet.
    private func latest(of moments: [Moment], after start: Duration, until end: Duration) -> Moment? {
        var low = 0
        var high = moments.count
        while low < high {
            let middle = (low + high) / 2
            if moments[middle].time <= end { low = middle + 1 } else { high = middle }
        }
        while low > 0, moments[low - 1].time > start {
            low -= 1
            if !isEntered[moments[low].place] { return moments[low] }
        }
        return nil
    }

    private mutating func note(
        _ operation: OperationReference, _ activity: CriticalPath.Activity, from start: Duration, to end: Duration
    ) {
        guard start < end else { return }
        var end = end
        // The walk comes back to an operation that has waited for one that never ran.
        if let next = steps.last, (next.operation, next.activity, next.start) == (operation, activity, end) {
            end = next.end
            steps.removeLast()
        }
        steps.append(CriticalPath.Step(operation: operation, activity: activity, start: start, end: end))
    }
}

extension TracedOperation {
    struct Span {
        let activity: CriticalPath.Activity
        let start: Duration
        let end: Duration
    }

    var hasRun: Bool { attempts.contains { $0.start != nil } }

    /// True if the operation has ended without a run.
    var neverRan: Bool { finished != nil && !hasRun }

    /// Returns the waits and the runs of the operation, in order of time.
    func spans(until end: Duration) -> [Span] {
        var spans = waits(until: end).map { Span(activity: .waiting($0.reason), start: $0.start, end: $0.end) }
        for attempt in attempts {
            guard let start = attempt.start else { continue }
            spans.append(Span(activity: .running, start: start, end: attempt.end ?? finished ?? end))
        }
        return spans.sorted { ($0.start, $0.end) < ($1.start, $1.end) }
    }
}
