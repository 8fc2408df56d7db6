import Baton

/// Goes back from the end of a trace; see ``CriticalPath``. Pure.
///
/// It comes to each operation from its end at most once, and goes back in time otherwise, so it ends whatever the trace
/// says.
struct CriticalPathWalk {
    private struct Moment {
        let time: Duration
        let place: Int
    }

    private let trace: Trace
    private var places: [UInt64: Int] = [:]
    /// When bodies ended, in order: each made room for another one.
    private var runEnds: [Moment] = []
    /// By the place of the parent, in the order in which they finished.
    private var children: [Int: [Moment]] = [:]
    private var isEntered: [Bool]
    /// Of operations from which another one was followed: what lies before. Time only goes back.
    private var spansBefore: [Int: [TracedOperation.Span]] = [:]

    // The last first.
    private var steps: [CriticalPath.Step] = []
    private var chain: [OperationReference] = []

    init(of trace: Trace) {
        self.trace = trace
        isEntered = Array(repeating: false, count: trace.operations.count)
        for (place, operation) in trace.operations.enumerated() { places[operation.id] = place }
        for (place, operation) in trace.operations.enumerated() {
            for attempt in operation.attempts where attempt.start != nil {
                if let end = attempt.end { runEnds.append(Moment(time: end, place: place)) }
            }
            // One that goes on is what its parent, which goes on, too, waits for; and likewise for a dependency.
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
        var told = Set<UInt64>()
        let operations = chain.reversed().filter { told.insert($0.id).inserted }
        return CriticalPath(steps: steps.reversed(), operations: operations)
    }

    /// What goes on at the end, or ended last, of the operations that have run: one that never ran has made nothing
    /// longer. Of several that end at one time one that no other one runs, and rather one that runs than one that
    /// waits.
    private var last: Moment? {
        var last: (moment: Moment, rank: Int)?
        for (place, operation) in trace.operations.enumerated() where operation.hasRun {
            let time = operation.finished ?? trace.end
            let rank = (operation.parent == nil ? 2 : 0) + (operation.condition == .running ? 1 : 0)
            if let last, (time, rank) <= (last.moment.time, last.rank) { continue }
            last = (Moment(time: time, place: place), rank)
        }
        return last?.moment
    }

    /// Follows one operation back to where another one goes on. Nil: to the beginning.
    private mutating func before(_ moment: Moment) -> Moment? {
        let operation = trace.operations[moment.place]
        chain.append(operation.reference)
        var time = moment.time
        var spans = spansBefore.removeValue(forKey: moment.place) ?? operation.spans(until: trace.end)
        while let span = spans.last {
            if span.start < time {
                let cause = self.cause(of: span, of: operation, at: moment.place, before: time)
                note(operation, span.activity, from: cause?.time ?? span.start, to: time)
                if let cause {
                    spansBefore[moment.place] = spans
                    isEntered[cause.place] = true
                    return cause
                }
                time = span.start
            }
            spans.removeLast()
        }
        // Who runs it, or has produced it, was running then.
        guard let origin = operation.parent ?? operation.producer, let place = places[origin.id] else { return nil }
        let added = min(time, operation.firstMoment ?? time)
        // A trace in which one runs itself is not from a recorder.
        guard added < moment.time || !isEntered[place] else { return nil }
        isEntered[place] = true
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

    /// Of those to which the path has not come.
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
        _ operation: TracedOperation, _ activity: CriticalPath.Activity, from start: Duration, to end: Duration
    ) {
        guard start < end else { return }
        steps.append(CriticalPath.Step(operation: operation.reference, activity: activity, start: start, end: end))
    }
}

extension TracedOperation {
    struct Span {
        let activity: CriticalPath.Activity
        let start: Duration
        let end: Duration
    }

    var hasRun: Bool { attempts.contains { $0.start != nil } }

    /// Its waits and runs, in order.
    func spans(until end: Duration) -> [Span] {
        var spans = waits(until: end).map { Span(activity: .waiting($0.reason), start: $0.start, end: $0.end) }
        for attempt in attempts {
            guard let start = attempt.start else { continue }
            spans.append(Span(activity: .running, start: start, end: attempt.end ?? finished ?? end))
        }
        return spans.sorted { ($0.start, $0.end) < ($1.start, $1.end) }
    }
}
