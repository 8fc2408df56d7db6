import Baton
import BatonTesting
import Synchronization

/// The checks at the end of a round.
extension HuntRound {
    /// Checks the state of the operations and queues when all queues are idle.
    func finish() async {
        // Operations that were never added finish outside the queues.
        await poll("an operation has not finished") { [self] in
            operations.withLock { $0 }.allSatisfy { $0?.state == .finished }
        }
        for node in program.nodes {
            guard let operation = operation(node.id) else { continue }
            if operation.state != .finished {
                fault("n\(node.id) has not finished, and its queue is idle: \(operation.state), \(operation.explain())")
                continue
            }
            let record = records[node.id]
            if node.choice % 2 == 0, let typed = operation as? AsyncOperation<Output> {
                addDidFinish(typed, node.id, isLate: true)
            }
            let attempts = max(1, operation.attempts.count)
            let bodies = record.bodies.load(ordering: .relaxed)
            if !node.features.contains(.repeating), bodies > attempts {
                fault("n\(node.id): \(bodies) bodies for \(attempts) attempts")
            }
            checkFormula(node, operation)
            checkLimit(node, operation)
            checkCycle(node, operation)
        }
        checkBreaker()
        checkOrder()
        // An operation that was never added is released on another thread, and its deinit may still add an operation.
        if !program.nodes.contains(where: { $0.features.contains(.deinits) }) {
            for index in program.queues.indices where queue(index).operationCount != 0 {
                fault("q\(index) is idle, and has \(queue(index).operationCount) operations")
            }
        }
        await idle()
        // Handlers of operations that were never added run outside the queues.
        await poll("a handler was not called") { [self] in
            program.nodes.allSatisfy { node in
                let record = records[node.id]
                return record.didFinish.load(ordering: .relaxed) >= record.handlersAdded.load(ordering: .relaxed)
                    && (!node.features.contains(.willFinish) || record.willFinish.load(ordering: .relaxed) == 1)
            }
        }
        for node in program.nodes {
            let record = records[node.id]
            let (called, added) = (
                record.didFinish.load(ordering: .relaxed), record.handlersAdded.load(ordering: .relaxed)
            )
            if called > added { fault("n\(node.id): didFinish was called \(called) times, of \(added)") }
        }
        for observation in observation.withLock({ $0 }) { await observation.delivered() }
        await idle()
        letGo()
        await poll("something is alive: \(remains)") { [self] in living.count == 0 && survivors.isEmpty }
        gate.open()
        await outer.waitUntilIdle()
    }

    /// Releases all operations and companions, whose deinits may add further operations, and ends the observations.
    func letGo() {
        let all = operations.withLock { operations in
            defer { operations = operations.map { _ in nil } }
            return operations
        }
        withExtendedLifetime(all) {}
        let others = (companions.withLock { exchange(&$0, with: [:]) }, cycles.withLock { exchange(&$0, with: [:]) })
        withExtendedLifetime(others) {}
        let taken = observation.withLock { observations in
            defer { observations = [] }
            return observations
        }
        for observation in taken { observation.cancel() }
    }

    var survivors: [AnyOperation] { weak.withLock { $0 }.compactMap(\.operation) }

    var remains: String {
        "\(living.count) tokens, \(survivors.map { "\($0) (\($0.state))" }.joined(separator: ", "))"
    }

    func poll(_ what: @autoclosure () -> String, until isRight: () -> Bool) async {
        let end = ContinuousClock.now + .seconds(10)
        while !isRight() {
            if isGivenUp.load(ordering: .relaxed) || .now > end { return fault(what()) }
            await Task.yield()
        }
    }
}
