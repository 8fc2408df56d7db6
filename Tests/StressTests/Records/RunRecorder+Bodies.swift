import Baton
import Synchronization

/// Records what bodies do, and checks it against the guarantees. The codes are those of `Documentation/Guarantees.md`.
extension RunRecorder {
    func bodyBegan(_ id: Int, _ operation: AnyOperation, attempt: Int, after sources: [AnyOperation]) {
        attemptBegan(id, attempt)
        for source in sources {
            let state = source.state
            if state == .finished { continue }
            // An operation that was cancelled before its add never entered the queue, so a barrier does not wait for
            // its `willFinish` handlers.
            let isApart = !graph.nodes[id].sources.contains(source.reference.node)
            if isApart, !isSeeded, source.isCancelled, state == .finishing { continue }
            violation("G3: n\(id) began while its source \(source.reference) was \(state)")
        }
        nodes[id].hasCancelledItself.store(false, ordering: .relaxed)
        checkConditions(id)
        checkMark(id)
        if !namesFollowEvents(of: id) { holdsNames(Holdings.Key(owner: id), graph.nodes[id].namesOfTheRun) }
        tookPermit(id, isStart: true)
        checkpoint(id, operation)
    }

    func bodyEnded(_ id: Int, _ operation: AnyOperation) {
        checkpoint(id, operation)
        attemptEnded(id, operation)
        if nodes[id].waits.add(NodeRecord.ended, ordering: .relaxed).oldValue == 0 { gavePermit(id) }
        nodes[id].ends.add(1, ordering: .relaxed)
        if !namesFollowEvents(of: id) { holdings.end(Holdings.Key(owner: id)) }
    }

    /// Checks the state of the operation and of its task. Call this on the body's own task.
    func checkpoint(_ id: Int, _ operation: AnyOperation) {
        check(operation.state == .executing, "G1, G2: n\(id) is \(operation.state) while its body runs")
        let (sees, isRequested) = (Task.isCancelled, operation.isCancelled)
        check(
            isRequested || !sees || graph.nodes[id].mayBeCut
                || nodes[id].hasCancelledItself.load(ordering: .relaxed),
            "G16: the body of n\(id) sees a cancellation that nobody asked for")
        check(sees || !isRequested || !isSeeded, "G16: the body of n\(id) does not see that it was cancelled")
    }

    // MARK: Permits

    /// Records that a wait begins. The body calls this before it waits, so the permit is counted as released a little
    /// too early, never too late.
    ///
    /// Each wait subtracts the permit from `holding` first, and adds it again if another wait of the body has already
    /// released it. If the wait were counted in `waits` first, a second wait could release the permit to other bodies
    /// before the first wait has subtracted it.
    func waitBegan(_ id: Int, child: AnyOperation?) {
        if isSeeded, let child { nodes[id].children.withLock { $0.append(child) } }
        let record = queue(of: id).map { queues[$0] }
        record?.holding.subtract(1, ordering: .relaxed)
        let isFirst = nodes[id].waits.add(1, ordering: .acquiringAndReleasing).oldValue == 0
        if !isFirst { record?.holding.add(1, ordering: .relaxed) }
    }

    func waitEnded(_ id: Int, child: AnyOperation?) {
        if isSeeded {
            nodes[id].children.withLock { children in
                if let place = children.firstIndex(where: { $0 === child }) { children.remove(at: place) }
            }
        }
        if nodes[id].waits.subtract(1, ordering: .relaxed).newValue == 0 { tookPermit(id, isStart: false) }
    }

    private func gavePermit(_ id: Int) {
        if let queue = queue(of: id) { queues[queue].holding.subtract(1, ordering: .relaxed) }
    }

    /// Checks the number of permits after a body has taken one. After the width was reduced, running bodies may exceed
    /// it. So only a start under a seed is checked against the current width, and everything else against the greatest
    /// width.
    private func tookPermit(_ id: Int, isStart: Bool) {
        guard let queue = queue(of: id) else { return }
        let record = queues[queue]
        let holding = record.holding.add(1, ordering: .relaxed).newValue
        let width =
            isSeeded && isStart
            ? record.width.load(ordering: .relaxed) : record.greatestWidth.load(ordering: .relaxed)
        check(
            holding <= width, "G22: \(holding) bodies hold permits of queue \(queue), which has \(width), with n\(id)")
    }

    // MARK: Handlers

    func handlerAdded(_ id: Int) { nodes[id].handlersAdded.add(1, ordering: .relaxed) }

    func handlerCalled(_ id: Int, _ outcome: Outcome) {
        check(!Task.isCancelled, "G16: a handler of n\(id) is cancelled")
        saw(id, outcome)
        nodes[id].handlerCalls.add(1, ordering: .relaxed)
    }
}
