import Baton

extension Graph {
    /// Generates the graph of a seed. Even seeds give exact graphs.
    init(seed: UInt64, nodeCounts: ClosedRange<Int>) {
        var random = SeededRandom(seed: seed &* 0x9E37_79B9 &+ 1)
        isExact = seed.isMultiple(of: 2)
        keepsWidths = random.isLucky(percent: 50)
        gateCount = random.number(1...4)
        let mostNodes = random.isLucky(percent: 5) ? nodeCounts.upperBound * 3 : nodeCounts.upperBound
        let traits = Traits(&random)
        hasBarriers = random.isLucky(percent: 15)
        hasHooks = random.isLucky(percent: 25)
        names = (0..<random.pick([1, 2, 4, 8])).map { _ in Self.name(&random) }
        if traits.exclusions == 0 { names = [] }
        holdersWait = !isExact && !names.isEmpty && random.isLucky(percent: 50)
        let queueCount = traits.isPlain ? 1 : random.number(1...4)
        for _ in 0..<queueCount { queues.append(Self.queue(&random, isExact: isExact, isPlain: traits.isPlain)) }
        for id in 0..<random.number(nodeCounts.lowerBound...mostNodes) {
            var node = Node(id: id)
            node.isNested = random.isLucky(percent: traits.nested)
            node.isProduct = node.isNested && random.isLucky(percent: 15)
            node.isMember = node.isNested && !node.isProduct && random.isLucky(percent: traits.members)
            node.isBarrier = hasBarriers && !node.isNested && random.isLucky(percent: 15)
            node.queue = random.number(0...queues.count - 1)
            if traits.mixesPriorities { node.priority = random.pick(OperationPriority.allCases) }
            node.handlers = random.pick([0, 0, 0, 1, 2])
            node.throwsAtTheEnd = random.isLucky(percent: traits.failing)
            if let width = traits.layerWidth { addLayer(to: &node, width) } else { addEdges(to: &node, &random) }
            addPolicies(to: &node, &random, percent: traits.policies)
            surround(&node, &random, traits)
            if node.isMember { strip(&node) }
            if random.isLucky(percent: traits.groups) { makeGroup(of: &node, &random) }
            if !node.isBodyless {
                for _ in 0..<random.number(0...traits.steps) { node.steps.append(step(of: node, &random)) }
                produce(&node, &random)
            }
            addTimes(to: &node, &random, retried: traits.retried, limited: traits.limited)
            addConditions(to: &node, &random, percent: traits.conditions)
            if node.exclusions.isEmpty { addExclusions(to: &node, &random, percent: traits.exclusions) }
            nodes.append(node)
        }
        cancelInside(&random)
        block(&random)
        cancelOwnTasks(&random)
        runInChildTasks(&random)
        pace(&random)
        arrange(&random)
    }

    /// Percentages and limits that differ from graph to graph.
    private struct Traits {
        /// True for one narrow queue and bodies that do not suspend, so that a worker runs many of them in a row and
        /// its time slice ends.
        let isPlain: Bool
        let mixesPriorities: Bool
        let nested: Int
        let failing: Int
        let steps: Int
        let handlers: Int
        let policies: Int
        let members: Int
        let groups: Int
        let conditions: Int
        let exclusions: Int
        let retried: Int
        let limited: Int
        /// The number of nodes of a layer. Each node waits for the whole previous layer, so many nodes finish at once
        /// and release many others.
        let layerWidth: Int?

        init(_ random: inout SeededRandom) {
            isPlain = random.isLucky(percent: 20)
            mixesPriorities = random.isLucky(percent: 50)
            nested = isPlain ? 0 : random.pick([0, 15, 40, 70])
            failing = random.pick([0, 3, 12])
            handlers = isPlain ? random.pick([0, 0, 20]) : random.pick([0, 10, 40])
            policies = random.pick([0, 0, 15, 40])
            members = random.pick([0, 0, 30, 60])
            groups = members == 0 ? 0 : random.pick([15, 30])
            conditions = isPlain ? 0 : random.pick([0, 0, 15, 40])
            exclusions = random.pick([0, 0, 20, 60])
            retried = random.pick([0, 0, 15, 60])
            limited = random.pick([0, 0, 0, 20])
            layerWidth = random.isLucky(percent: 10) ? random.number(2...24) : nil
            steps = isPlain ? 0 : layerWidth == nil ? random.pick([1, 3, 5]) : 1
        }
    }

    // MARK: Queues and edges

    private static func queue(_ random: inout SeededRandom, isExact: Bool, isPlain: Bool) -> QueueNote {
        QueueNote(
            width: random.pick(isPlain ? [1, 1, 2] : [1, 1, 1, 2, 2, 3, 4, 8, 64]),
            release: random.isLucky(percent: 75) ? .never : random.pick([.running, isExact ? .running : .suspended]),
            isSuspendedAtFirst: random.isLucky(percent: 20))
    }

    /// Gives each queue a scheduling order, and task-locals to some of them.
    private mutating func arrange(_ random: inout SeededRandom) {
        for index in queues.indices {
            queues[index].order = random.pick([.depthFirst, .depthFirst, .firstInFirstOut, .lastInFirstOut])
            queues[index].carriesMark = random.isLucky(percent: 50)
        }
    }

    /// The nodes that this node may wait for: nodes that are certainly added, or that are added together with this
    /// one.
    private func sources(for node: Node) -> [Int] {
        // The nearest nodes occur several times, so that there are long paths.
        let all = nodes.filter { !$0.isNested || node.isNested && !node.isProduct && $0.isFree }.map(\.id)
        return all + all.suffix(4) + all.suffix(4)
    }

    private func addEdges(to node: inout Node, _ random: inout SeededRandom) {
        let sources = sources(for: node)
        let values = sources.filter { nodes[$0].group == nil }
        node.inputs = random.some(random.pick([0, 0, 0, 0, 1, 1, 2, 3, 4]), of: values)
        node.order = random.some(random.pick([0, 0, 0, 1, 2, 5]), of: sources).map { OrderEdge(source: $0) }
        if let input = node.inputs.first, random.isLucky(percent: 10) { node.order.append(OrderEdge(source: input)) }
        switch node.inputs.count {
        case 0: break
        case 1:
            node.inputUse = random.pick([
                .values, .values, .values, .outcomes, .withDefault, .recovering, .combined, .delayed,
            ])
        case 2, 3: node.inputUse = random.pick([.values, .values, .outcomes, .combined])
        default: node.inputUse = random.pick([.values, .combined])
        }
        if node.inputUse == .combined || node.inputUse == .delayed { node.throwsAtTheEnd = false }
        if node.inputUse == .delayed { node.delay = .ticks(random.number(0...6)) }
    }

    private func addPolicies(to node: inout Node, _ random: inout SeededRandom, percent: Int) {
        for index in node.order.indices where random.isLucky(percent: percent) {
            node.order[index].policy = random.pick([.success, .success, .failure, .noFailure, .always])
        }
    }

    /// Adds handlers to the node, and an executor of its own.
    private func surround(_ node: inout Node, _ random: inout SeededRandom, _ traits: Traits) {
        node.hasExecutor = random.isLucky(percent: traits.handlers / 4)
        if random.isLucky(percent: traits.handlers) { node.tellers = random.number(1...2) }
        if !random.isLucky(percent: traits.handlers) { return }
        let isAdded = nodes.filter { !$0.isNested }.map(\.id)
        for _ in 0..<random.number(1...2) {
            switch random.number(0...4) {
            case 0: node.lastSteps.append(.nothing)
            case 1: node.lastSteps.append(.gate(random.number(0...gateCount - 1)))
            case 2 where !isAdded.isEmpty: node.lastSteps.append(.value(random.pick(isAdded)))
            default: node.lastSteps.append(.yield(random.number(1...3)))
            }
        }
    }

    /// Removes handlers from a node that may be cancelled before it has been added. Its handlers would then run
    /// outside the scheduler; see ``OperationFactory``.
    private func strip(_ node: inout Node) {
        node.lastSteps = []
        if isExact { (node.handlers, node.tellers) = (0, 0) }
    }

    /// Makes the body produce nodes. Each product is produced by one body only.
    private func produce(_ node: inout Node, _ random: inout SeededRandom) {
        let produced = Set(
            nodes.flatMap(\.steps).compactMap { if case .produce(let product) = $0 { product } else { nil } })
        let free = nodes.filter { $0.isProduct && !produced.contains($0.id) }.map(\.id)
        for product in free.prefix(3) where random.isLucky(percent: 60) {
            node.steps.insert(.produce(product), at: random.number(0...node.steps.count))
        }
    }

    private func addLayer(to node: inout Node, _ width: Int) {
        let first = node.id / width * width
        let layer = Set(max(0, first - width)..<first)
        node.order = Set(sources(for: node)).intersection(layer).sorted().map { OrderEdge(source: $0) }
    }

    // MARK: Steps

    private func step(of node: Node, _ random: inout SeededRandom) -> Step {
        let errors: Step.Errors = random.isLucky(percent: 70) ? .caught : .passedOn
        let isAdded = nodes.filter { !$0.isNested }.map(\.id)
        switch random.number(0...9) {
        case 0, 1: return .yield(random.number(1...3))
        case 2: return .work(random.number(1...200))
        case 3: return .gate(random.number(0...gateCount - 1), heedsCancel: random.isLucky(percent: 50))
        case 4: return .checkCancellation
        case 5 where !isAdded.isEmpty: return .value(random.pick(isAdded), errors)
        case 6 where random.isLucky(percent: 40): return child(&random).map { .abandon($0) } ?? .yield(1)
        case 6, 7, 8, 9: return run(of: node, errors, &random)
        default: return .yield(1)
        }
    }

    private func run(of node: Node, _ errors: Step.Errors, _ random: inout SeededRandom) -> Step {
        if nodes.isEmpty { return .yield(1) }
        let children = (0..<random.number(1...4)).compactMap { _ in child(&random) }
        if children.isEmpty { return .yield(1) }
        switch random.number(0...5) {
        case 0: return .run(children, .oneByOne, errors)
        case 1, 2: return .run(children, .taskGroup, errors)
        case 3: return .run(Array((children + children).prefix(2)), .asyncLet, errors)
        case 4 where !isExact: return .run(children, .failingGroup, .passedOn)
        default:
            // A body that waits in a suspended queue whose handle is to be released would retain that handle.
            let isFree = queues[node.queue].release != .suspended
            return .run([children[0]], isFree ? .queueRun : .oneByOne, errors)
        }
    }

    private func child(_ random: inout SeededRandom) -> Int? {
        // A node with `willFinish` handlers must not be cancelled before it has been added; see ``OperationFactory``.
        let all = nodes.filter { $0.isFree && (isExact || $0.lastSteps.isEmpty) }.map(\.id)
        let nested = nodes.filter { $0.isNested && $0.isFree }.map(\.id)
        if nested.isEmpty || random.isLucky(percent: 20) { return all.isEmpty ? nil : random.pick(all) }
        // Most children have no other parent yet. The others are run by several parents.
        let children = Set(nodes.flatMap { $0.steps.flatMap(\.children) })
        let free = nested.filter { !children.contains($0) }
        return free.isEmpty || random.isLucky(percent: 25) ? random.pick(nested) : random.pick(free)
    }

    /// Runs last, so that known seeds keep generating the same graphs.
    private mutating func block(_ random: inout SeededRandom) {
        for index in nodes.indices where nodes[index].hasExecutor && !nodes[index].isBodyless {
            if random.isLucky(percent: 50) { nodes[index].steps.append(.block) }
        }
    }

    /// Adds the step to nodes whose attempts do not stall: only the time limit may end a stalled attempt.
    private mutating func cancelOwnTasks(_ random: inout SeededRandom) {
        for index in nodes.indices where !nodes[index].isBodyless && nodes[index].attempts?.stalls != true {
            if random.isLucky(percent: 5) { nodes[index].steps.append(.cancelOwnTask) }
        }
    }

    private mutating func runInChildTasks(_ random: inout SeededRandom) {
        for index in nodes.indices where queues[nodes[index].queue].release != .suspended {
            for place in nodes[index].steps.indices {
                guard case .run(let children, let way, let errors) = nodes[index].steps[place] else { continue }
                guard way == .asyncLet || way == .taskGroup, random.isLucky(percent: 30) else { continue }
                let other: Step.Way = way == .asyncLet ? .queueRunAsyncLet : .queueRunTaskGroup
                nodes[index].steps[place] = .run(children, other, errors)
            }
        }
    }

    private mutating func cancelInside(_ random: inout SeededRandom) {
        if isExact { return }
        for index in nodes.indices {
            let target = random.isLucky(percent: 30) ? index : random.number(0...index)
            let place = random.number(0...nodes[index].steps.count)
            if nodes[index].group != nil { continue }
            if random.isLucky(percent: 4) { nodes[index].steps.insert(.cancel(target), at: place) }
            if random.isLucky(percent: 4) {
                let gate = random.number(0...gateCount - 1)
                nodes[index].steps.insert(.cancelWhenCancelled(target, gate: gate), at: place)
            }
            if nodes[index].handlers > 0, random.isLucky(percent: 10) { nodes[index].cancelsWhenFinished = target }
        }
    }
}
