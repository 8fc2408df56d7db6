import Baton

/// Builds a trace from events. It has no lock and no clock.
///
/// The events of an operation come in order, but the first ones may be missing, because recording started later.
struct TraceBuilder {
    private var trace: Trace
    private var places: [UInt64: Int] = [:]

    init(queue: QueueReference?, start: Duration) {
        trace = Trace(
            queueName: queue?.name, queueNumber: queue?.number, start: start, end: start, eventCount: 0, operations: [])
    }

    mutating func add(_ event: OperationEvent) {
        trace.eventCount += 1
        trace.end = max(trace.end, event.time)
        if trace.queueNumber == nil, let queue = event.queue {
            (trace.queueName, trace.queueNumber) = (queue.name, queue.number)
        }
        if case .produced(let product) = event.kind {
            let place = ensurePlace(of: product)
            trace.operations[place].producer = event.operation
        }
        // The event names the operation of the last dropped event, but is not about it.
        if case .dropped = event.kind { return }
        let place = ensurePlace(of: event.operation)
        if let parent = event.parent, trace.operations[place].parent == nil { trace.operations[place].parent = parent }
        trace.operations[place].note(event.kind, at: event.time)
    }

    /// Notes that the queue was suspended or resumed. Changes arrive in order, but a change may arrive
    /// after events with a later time.
    mutating func add(_ change: SuspensionChange) {
        trace.end = max(trace.end, change.time)
        if change.isSuspended {
            trace.suspensions.append(Trace.Suspension(start: change.time))
        } else if let last = trace.suspensions.indices.last, trace.suspensions[last].end == nil {
            trace.suspensions[last].end = change.time
        }
    }

    /// Returns a trace of the events so far. More events may be added afterwards.
    func trace(at time: Duration) -> Trace {
        var trace = trace
        trace.end = max(trace.end, time)
        for place in trace.operations.indices where trace.operations[place].hasWaited {
            trace.operations[place].dependenciesMet = lastOfDependencies(of: trace.operations[place])
        }
        if trace.suspensions.isEmpty { return trace }
        for place in trace.operations.indices {
            trace.operations[place].suspensions = trace.suspensions(holding: trace.operations[place])
        }
        return trace
    }

    /// Returns the index of the operation, which is added if it is new.
    private mutating func ensurePlace(of operation: OperationReference) -> Int {
        if let place = places[operation.id] { return place }
        places[operation.id] = trace.operations.count
        trace.operations.append(TracedOperation(operation))
        return trace.operations.count - 1
    }

    /// Returns the time when the last dependency finished, or nil if one is unfinished or unknown.
    private func lastOfDependencies(of operation: TracedOperation) -> Duration? {
        if operation.edges.isEmpty { return nil }
        var last = Duration.zero
        for edge in operation.edges {
            guard let place = places[edge.source.id], let finished = trace.operations[place].finished else {
                return nil
            }
            last = max(last, finished)
        }
        return last
    }
}

extension TracedOperation {
    fileprivate mutating func note(_ kind: OperationEvent.Kind, at time: Duration) {
        switch kind {
        case .added(let edges):
            added = time
            self.edges = edges.map(Edge.init)
        case .waiting: hasWaited = true
        case .delayed: delayed = time
        case .evaluating: evaluating = time
        case .acquiring: noteAcquiring(at: time)
        case .excluded(let holder, let exclusion):
            noteObstacle(.exclusion, Trace.text(of: exclusion), holder, at: time)
        case .waitingForRate(let rate): noteObstacle(.rate, Trace.text(of: rate), nil, at: time)
        case .granted: noteGrant(at: time)
        case .ready: noteReady(at: time)
        case .started(let number): noteStart(of: number, at: time)
        case .progress(let fraction): progress = fraction
        case .retrying(let number, let error, let delay): notePause(after: number, error, delay, at: time)
        case .repeating(let delay): notePause(after: attempts.last?.number ?? 1, nil, delay, at: time)
        case .cancelRequested(let reason): cancel = Cancel(time: time, reason: Trace.text(of: reason))
        case .misuse(let misuse): misuses.append(Trace.text(of: misuse))
        case .finished(let outcome, let error): noteFinish(outcome, error, at: time)
        case .produced, .dropped: break
        }
    }

    private mutating func noteReady(at time: Duration) {
        // The event that ended the attempt may have been dropped.
        if let last = attempts.indices.last, attempts[last].end == nil { attempts[last].end = time }
        // After a repetition, the attempts are counted from 1 again. A pause whose event is missing counts as a retry.
        let continuesCounting = attempts.last.map { $0.pause == nil || $0.error != nil } ?? false
        attempts.append(Attempt(number: continuesCounting ? attempts[attempts.count - 1].number + 1 : 1, ready: time))
    }

    private mutating func noteAcquiring(at time: Duration) {
        // The operation may ask again after it had to give back an exclusion, so the last request counts.
        if let last = attempts.indices.last, attempts[last].start == nil { attempts[last].acquiring = time }
    }

    private mutating func noteObstacle(
        _ reason: TracedWait.Reason, _ name: String, _ holder: OperationReference?, at time: Duration
    ) {
        if attempts.last?.start != nil || attempts.isEmpty { attempts.append(Attempt(number: 1)) }
        attempts[attempts.count - 1].endObstacle(at: time)
        // The wait for an exclusion starts with the request; the event comes a little later.
        let start = reason == .exclusion ? attempts[attempts.count - 1].acquiring ?? time : time
        attempts[attempts.count - 1].obstacles.append(
            Obstacle(reason: reason, name: name, holder: holder, start: start))
    }

    private mutating func noteGrant(at time: Duration) {
        guard let last = attempts.indices.last, attempts[last].start == nil else { return }
        if attempts[last].obstacles.last.map({ $0.end == nil }) == true {
            attempts[last].endObstacle(at: time)
        } else if let acquiring = attempts[last].acquiring {
            // The exclusions were granted before an event could tell which one was missing.
            attempts[last].obstacles.append(Obstacle(reason: .exclusion, start: acquiring, end: time))
        }
    }

    private mutating func noteStart(of number: Int, at time: Duration) {
        if attempts.last?.start != nil || attempts.isEmpty { attempts.append(Attempt(number: number)) }
        attempts[attempts.count - 1].endObstacle(at: time)
        attempts[attempts.count - 1].number = number
        attempts[attempts.count - 1].start = time
    }

    private mutating func notePause(
        after number: Int, _ error: OperationError?, _ delay: Duration, at time: Duration
    ) {
        if attempts.isEmpty { attempts.append(Attempt(number: number)) }
        let last = attempts.count - 1
        attempts[last].end = time
        attempts[last].error = error.map { Trace.text(of: $0) }
        attempts[last].pause = delay
    }

    private mutating func noteFinish(_ outcome: OperationOutcome, _ error: OperationError?, at time: Duration) {
        finished = time
        self.outcome = Outcome(outcome)
        self.error = error.map { Trace.text(of: $0) }
        if !attempts.isEmpty { attempts[attempts.count - 1].endObstacle(at: time) }
        guard let last = attempts.indices.last, attempts[last].start != nil, attempts[last].end == nil else { return }
        attempts[last].end = time
    }
}

extension TracedOperation.Attempt {
    /// Ends the current obstacle, if there is one.
    fileprivate mutating func endObstacle(at time: Duration) {
        guard let last = obstacles.indices.last, obstacles[last].end == nil else { return }
        obstacles[last].end = time
    }
}

extension Trace {
    /// The most suspensions that are stored for one wait; the last one absorbs all later ones. Otherwise *n* waits and
    /// *m* suspensions would take O(*n* *m*) memory.
    private static let maxStoredSuspensions = 8

    /// Returns the times in which the queue was suspended while the operation waited for it, in order.
    fileprivate func suspensions(holding operation: TracedOperation) -> [Suspension] {
        // Children of a running body start in a suspended queue as well.
        if operation.parent != nil { return [] }
        return operation.waits(until: end).filter { $0.reason == .queue }.flatMap { suspensions(in: $0, of: operation) }
    }

    private func suspensions(in wait: TracedWait, of operation: TracedOperation) -> [Suspension] {
        let first = suspensions.partitioningIndex { $0.end ?? end > wait.start }
        var next = suspensions.partitioningIndex { $0.start >= wait.end }
        // An operation that starts in spite of a suspension was not held up by it. An operation
        // that is cancelled during a suspension was held up by it until its end.
        if first < next, wait.end < suspensions[next - 1].end ?? end, wait.end != operation.finished { next -= 1 }
        guard first < next else { return [] }
        var overlapping = Array(suspensions[first..<min(next, first + Self.maxStoredSuspensions)])
        overlapping[overlapping.count - 1].end = suspensions[next - 1].end
        return overlapping.map {
            Suspension(start: max($0.start, wait.start), end: min($0.end ?? end, wait.end))
        }
    }
}

extension [Trace.Suspension] {
    /// Returns the first index at which the predicate is true. The predicate must be true for all later elements as
    /// well.
    fileprivate func partitioningIndex(where isReached: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isReached(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

extension TracedOperation.Edge {
    fileprivate init(_ edge: OperationEvent.Edge) {
        let kind: Kind =
            switch edge.kind {
            case .input: .input
            case .order(.always): .order
            case .order(.success): .onSuccess
            case .order(.noFailure): .onNoFailure
            case .order(.failure): .onFailure
            }
        self.init(source: edge.source, kind: kind)
    }
}

extension TracedOperation.Outcome {
    fileprivate init(_ outcome: OperationOutcome) {
        self =
            switch outcome {
            case .success: .success
            case .failure: .failure
            case .cancelled: .cancelled
            case .skipped: .skipped
            }
    }
}

extension Trace {
    /// The number of characters that are kept of an error, a reason or a misuse. Longer texts are cut and end with an
    /// ellipsis.
    public static let textLimit = 500

    /// Returns the text of a value, cut to ``textLimit``. It may call the `description` of the user's error.
    static func text(of value: some Any) -> String {
        let text = "\(value)"
        // `count` would walk through the whole text.
        guard let end = text.index(text.startIndex, offsetBy: textLimit, limitedBy: text.endIndex), end < text.endIndex
        else { return text }
        return text[..<end] + "…"
    }
}
