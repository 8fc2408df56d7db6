import Baton

extension Plan {
    /// Generates the plan of a seed for a graph.
    init(for graph: Graph, seed: UInt64, isThreaded: Bool) {
        var random = SeededRandom(seed: seed &* 0xC2B2_AE35 &+ 7)
        let mayDrop = graph.isExact && !graph.queues.contains { $0.release != .never }
        keepsOperations = !mayDrop || random.isLucky(percent: 60)
        // Some rounds have no probe, because the engine takes shorter paths for operations that nobody observes.
        hasProbe = isThreaded ? random.isLucky(percent: 50) : !seed.isMultiple(of: 4)
        end = random.isLucky(percent: 75) ? .idle : random.pick([.drain, .shutdown, graph.isExact ? .drain : .cutOff])
        // Nobody can wait until a queue that has been released is idle.
        let releases = graph.queues.contains { $0.release != .never }
        if graph.isExact, graph.runsInOtherQueues, releases { end = .idle }
        drivers = Array(repeating: [], count: random.number(1...4))
        if graph.hasBarriers {
            drivers[0] = Self.addingInOrder(graph, &random)
        } else {
            let adding = Self.adding(graph, &random, end, isThreaded: isThreaded)
            for action in adding { drivers[random.number(0...drivers.count - 1)].append(action) }
        }
        let disturbances = Self.disturbing(graph, &random, isThreaded: isThreaded)
        for action in disturbances { insert(action, &random) }
        for _ in 0..<random.number(0...12) { insert([.pause(random.number(1...6))], &random) }
        observers = Self.observers(of: graph, &random)
        if observers.contains(where: { !$0.isAddedBeforeStart }) { insert([.beginObserving], &random) }
    }

    /// Inserts actions that belong together at random places of one driver, in their order.
    private mutating func insert(_ actions: [Action], _ random: inout SeededRandom) {
        let driver = random.number(0...drivers.count - 1)
        var place = 0
        for action in actions {
            place = random.number(place...drivers[driver].count)
            drivers[driver].insert(action, at: place)
            place += 1
        }
    }

    /// Adds every node after the nodes that it waits for.
    private static func addingInOrder(_ graph: Graph, _ random: inout SeededRandom) -> [Action] {
        var actions: [Action] = []
        for node in graph.nodes where !node.isNested {
            if node.isBarrier {
                actions.append(.addBarrier(node.id, queue: node.queue))
            } else if case .add(let ids, node.queue) = actions.last, random.isLucky(percent: 50) {
                actions[actions.count - 1] = .add(ids + [node.id], queue: node.queue)
            } else {
                actions.append(random.pick([.add([node.id], queue: node.queue), .addTo(node.id, queue: node.queue)]))
            }
        }
        return actions
    }

    private static func adding(
        _ graph: Graph, _ random: inout SeededRandom, _ end: PlanEnd, isThreaded: Bool
    ) -> [Action] {
        let nodes = graph.nodes.filter { !$0.isNested }
        let order = random.pick([nodes, nodes.reversed(), random.shuffled(nodes)])
        let inBulk = random.pick([0, 50, 100])
        var actions: [Action] = []
        var bulks: [Int: [Int]] = [:]
        for node in order {
            // In an exact graph a queue must have received all of its operations before it is shut down.
            // ``OperationFactory`` explains the rule for `willFinish` handlers.
            let mayWait = graph.isExact ? end == .idle : isThreaded || node.lastSteps.isEmpty
            switch random.number(0...9) {
            case 0: actions.append(.addTo(node.id, queue: node.queue))
            case 2 where mayWait && graph.queues[node.queue].release == .never:
                let isCancelled = !graph.isExact && random.isLucky(percent: 40)
                let yields = isCancelled ? random.number(0...9) : nil
                actions.append(.submit(node.id, queue: node.queue, cancelledAfter: yields))
            case 1 where mayWait && graph.queues[node.queue].release != .suspended:
                let isCancelled = !graph.isExact && random.isLucky(percent: 50)
                actions.append(
                    .run(node.id, queue: node.queue, cancelledAfter: isCancelled ? random.number(0...9) : nil))
            case 2...9 where random.isLucky(percent: inBulk):
                bulks[node.queue, default: []].append(node.id)
                if bulks[node.queue]!.count >= random.number(2...100) {
                    actions.append(.add(bulks.removeValue(forKey: node.queue)!, queue: node.queue))
                }
            default: actions.append(.add([node.id], queue: node.queue))
            }
            // Adding an operation a second time is misuse and has no effect.
            if random.isLucky(percent: 2) { actions.append(.add([node.id], queue: node.queue)) }
        }
        return actions + bulks.sorted { $0.key < $1.key }.map { .add($0.value, queue: $0.key) }
    }

    private static func disturbing(_ graph: Graph, _ random: inout SeededRandom, isThreaded: Bool) -> [[Action]] {
        var all: [[Action]] = []
        for gate in 0..<graph.gateCount where random.isLucky(percent: 50) { all.append([.openGate(gate)]) }
        for (queue, note) in graph.queues.enumerated() {
            if random.isLucky(percent: 40) || note.isSuspendedAtFirst { all.append([.suspend(queue), .resume(queue)]) }
            if !graph.keepsWidths {
                for _ in 0..<random.number(0...3) {
                    all.append([.changeWidth(queue, to: random.pick([1, 1, 2, 5, 64]))])
                }
            }
            if !graph.isExact, random.isLucky(percent: 8) { all.append([.cancelAll(queue)]) }
            if !graph.hasBarriers, note.release == .never {
                for _ in 0..<random.number(0...2) { all.append([.limitWaiting(queue, to: random.pick([1, 1, 2, 5]))]) }
            }
        }
        let ids = graph.nodes.map(\.id)
        let added = graph.nodes.filter { !$0.isNested }.map(\.id)
        if !graph.isExact {
            for id in random.some(random.number(0...ids.count / 8 + 1), of: ids) {
                all.append([.cancel(id, because: random.pick([nil, "r\(random.number(1...3))"]))])
            }
        }
        if !graph.isExact, isThreaded, random.isLucky(percent: 15) {
            // Another task than the one that adds the operations cancels them in the order of the add, often while the
            // add is running.
            all += added.map { [.cancel($0, because: nil)] }
        }
        if !graph.isExact, random.isLucky(percent: 70) {
            for _ in 0..<random.number(1...6) {
                all.append([.pause(random.number(1...4)), .cancelRunning(random.number(0...99))])
            }
        }
        if graph.nodes.contains(where: { $0.attempts != nil }) {
            for _ in 0..<random.number(0...4) { all.append([.passTime(.ticks(random.number(1...5)))]) }
            if !graph.isExact {
                for _ in 0..<random.number(0...3) {
                    all.append([.pause(random.number(1...6)), .cancelPaused(random.number(0...99))])
                }
            }
        }
        let observers = random.number(0...(isThreaded ? added.count / 2 : 4))
        for id in random.some(observers, of: added) { all.append([.observe(id)]) }
        for id in random.some(random.number(0...4), of: ids) { all.append([.addHandlers(id)]) }
        for id in random.some(random.number(0...2), of: ids) { all.append([.explain(id)]) }
        for id in random.some(random.number(0...4), of: ids) {
            all.append([.setPriority(id, random.pick(OperationPriority.allCases))])
        }
        return all
    }
}
