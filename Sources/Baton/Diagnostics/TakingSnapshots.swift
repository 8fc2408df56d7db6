extension AsyncOperationQueue {
    /// What is in the queue at this moment, what each operation waits for, and why it has not finished.
    ///
    /// ```swift
    /// let json = try JSONEncoder().encode(queue.snapshot())
    /// ```
    ///
    /// Nothing is stopped for it: the operations are looked at one after another, while they go on. What finishes meanwhile
    /// is left out, and nothing is said to wait for it. Takes as long as there are operations and dependencies in the queue.
    public func snapshot() -> QueueSnapshot { core.snapshot() }
}

extension QueueCore {
    fileprivate func snapshot() -> QueueSnapshot {
        let now = time.now
        let (members, width, isSuspended, running) = state.withLock { state in
            (state.roster.members(), state.scheduler.width, state.scheduler.isSuspended, state.scheduler.running)
        }
        var inspection = Inspection()
        let looks = members.map { SnapshotLook(at: $0, &inspection) }
        // A look that came later may have found finished what an earlier one has seen waited for.
        let finished = Set(looks.filter { $0.state == .finished }.map(\.reference))
        let unfinished = looks.filter { $0.state != .finished }
        var parents: [UInt64: OperationReference] = [:]
        for look in unfinished {
            for wait in look.waits where wait.kind == .child { parents[wait.source.id] = look.reference }
        }
        return QueueSnapshot(
            name: name, number: number, width: width, isSuspended: isSuspended, running: running, time: now,
            operations: unfinished.map { $0.told(without: finished, parent: parents[$0.reference.id]) })
    }
}

/// What is seen of one operation.
private struct SnapshotLook {
    let reference: OperationReference
    let priority: OperationPriority
    let attempt: Int
    let waits: [OperationWait]
    /// Of one that waits for no other one.
    let cause: Explanation.Cause?
    /// Looked at last: who is unfinished here was so all the time.
    let state: OperationState

    init(at operation: AnyOperation, _ inspection: inout Inspection) {
        reference = operation.reference
        let found = inspection.waits(of: operation)
        waits = found.map(\.told)
        if let exclusion = waits.first?.exclusion {
            cause = .excluded(by: waits[0].source, exclusion: exclusion)
        } else {
            cause = found.isEmpty ? inspection.cause(of: operation) : nil
        }
        (priority, attempt) = operation.life.withLock { life in
            (operation.level, life.hasBegun ? Int(life.details?.timing?.attempt ?? 1) : 0)
        }
        state = operation.state
    }

    func told(without finished: Set<OperationReference>, parent: OperationReference?) -> QueueSnapshot.Operation {
        let waits = finished.isEmpty ? waits : waits.filter { !finished.contains($0.source) }
        return QueueSnapshot.Operation(
            id: reference.id, name: reference.name, state: state, priority: priority, attempt: attempt, parent: parent,
            waitsFor: waits, cause: sentence(waits))
    }

    private func sentence(_ waits: [OperationWait]) -> String {
        if let cause { return Wording.sentence(for: cause, of: reference) }
        // All that it waited for has finished in between.
        if waits.isEmpty { return Wording.sentence(for: .starting, of: reference) }
        return Wording.sentences(for: waits, of: reference).joined(separator: " ")
    }
}
