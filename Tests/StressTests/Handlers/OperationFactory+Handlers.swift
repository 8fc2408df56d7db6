import Baton
import BatonTesting
import Synchronization

/// The handlers of a node's operation. None of them retains the operation.
extension OperationFactory {
    static func addHandlers(to operation: AnyOperation, _ node: Node, at site: Site) {
        // If an operation is cancelled before its add, its handlers run outside the scheduler, and its dependents wait
        // for them.
        let isHarmless = !site.recorder.isSeeded || site.recorder.graph.isExact || !node.isNested
        if isHarmless {
            for step in node.lastSteps { addLastStep(step, to: operation, node.id, isLate: false, at: site) }
        }
        for _ in 0..<node.tellers { addTeller(to: operation, node.id, isLate: false, at: site) }
        if node.steps.contains(where: { if case .produce = $0 { true } else { false } }) {
            addProductHandler(to: operation, node, at: site)
        }
        for _ in 0..<node.handlers { addHandler(to: operation, node.id, isLate: false, at: site) }
    }

    static func addHandler(to operation: AnyOperation, _ id: Int, isLate: Bool, at site: Site) {
        let recorder = site.recorder
        let token = Token(recorder.census)
        recorder.handlerAdded(id)
        operation.whenFinished { outcome in
            if !isLate, recorder.nodes[id].starts.load(ordering: .relaxed) > 0 { recorder.checkMark(id) }
            await recorder.tell(id, .finish, isLate: isLate) { if id % 2 == 0 { await Task.yield() } }
            withExtendedLifetime(token) { recorder.handlerCalled(id, outcome) }
        }
    }

    /// Adds a `didStart` and a `didCancel` handler.
    static func addTeller(to operation: AnyOperation, _ id: Int, isLate: Bool, at site: Site) {
        let recorder = site.recorder
        let token = Token(recorder.census)
        recorder.nodes[id].handlers.tellersAdded.add(1, ordering: .relaxed)
        operation.didStart {
            if !isLate { recorder.checkMark(id) }
            await recorder.tell(id, .start, isLate: isLate) { if id % 3 == 0 { await Task.yield() } }
            withExtendedLifetime(token) { _ = recorder.nodes[id].handlers.startsTold.add(1, ordering: .relaxed) }
        }
        operation.didCancel { reason in
            await recorder.tell(id, .cancel, isLate: isLate) {}
            withExtendedLifetime(token) { _ = recorder.nodes[id].handlers.cancelsTold.add(1, ordering: .relaxed) }
        }
    }

    static func addLastStep(
        _ step: LastStep, to operation: AnyOperation, _ id: Int, isLate: Bool, at site: Site
    ) {
        let recorder = site.recorder
        let token = Token(recorder.census)
        recorder.nodes[id].handlers.lastStepsAdded.add(1, ordering: .relaxed)
        let other = if case .value(let other) = step { site.made.withLock { $0[other] } } else { nil as Site.Weak? }
        operation.beforeFinish { [weak operation] outcome in
            guard let operation else { return recorder.violation("G31: n\(id) is gone before its outcome") }
            await recorder.holdBack(operation, id, outcome, isLate: isLate) {
                switch step {
                case .nothing: break
                case .yield(let times): for _ in 0..<times { await Task.yield() }
                case .gate(let gate): await site.gates[gate].wait()
                case .value: if let other = other?.operation { _ = await other.awaitedOutcome() }
                }
            }
            withExtendedLifetime(token) {}
        }
    }

    private static func addProductHandler(to operation: AnyOperation, _ node: Node, at site: Site) {
        let recorder = site.recorder
        let token = Token(recorder.census)
        operation.didProduce { product in
            await recorder.tell(node.id, .start, isLate: true) {}
            let id = product.reference.node
            let isOwn = node.steps.contains { if case .produce(id) = $0 { true } else { false } }
            recorder.check(isOwn, "n\(node.id) was told of the product n\(id)")
            withExtendedLifetime(token) { _ = recorder.nodes[node.id].handlers.productsTold.add(1, ordering: .relaxed) }
        }
    }
}
