import Baton

extension UniquePlan {
    init(seed: UInt64, nodeCounts: ClosedRange<Int>) {
        var random = SeededRandom(seed: seed &* 0xA076_1D65 &+ 3)
        keyCount = random.pick([1, 2, 2, 4])
        addsOneByOne = random.isLucky(percent: 70)
        drivers = Array(repeating: [], count: random.number(1...3))
        for _ in 0..<random.number(1...3) {
            queues.append(
                QueueNote(
                    width: random.pick([1, 1, 2, 64]), release: .never, isSuspendedAtFirst: random.isLucky(percent: 15))
            )
        }
        let usual = random.pick([nil, nil, UniquenessPolicy.join, .replace, .reject])
        let (nested, waiting) = (random.pick([0, 0, 20]), random.pick([0, 0, 30]))
        for id in 0..<random.number(nodeCounts) {
            nodes.append(node(id, &random, usual, nested: nested, waiting: waiting))
        }
        add(&random)
        disturb(&random)
    }

    private func node(
        _ id: Int, _ random: inout SeededRandom, _ usual: UniquenessPolicy?, nested: Int, waiting: Int
    ) -> UniqueNode {
        var node = UniqueNode(
            id: id, key: random.isLucky(percent: 85) ? random.number(0...keyCount - 1) : nil,
            policy: random.isLucky(percent: 70)
                ? usual ?? random.pick(UniquenessPolicy.allCases) : random.pick(UniquenessPolicy.allCases),
            queue: random.number(0...queues.count - 1), isNested: random.isLucky(percent: nested),
            hasPrivateSource: random.isLucky(percent: 10))
        let added = nodes.filter { !$0.isNested }.map(\.id)
        let children = nodes.filter { $0.isNested }.map(\.id)
        if random.isLucky(percent: 15), !added.isEmpty { node.input = random.pick(added) }
        if random.isLucky(percent: 20) { node.order = random.some(random.number(1...2), of: added) }
        for _ in 0..<random.number(0...3) {
            switch random.number(0...5) {
            case 0: node.steps.append(.gate(random.number(0...gateCount - 1), heedsCancel: random.isLucky(percent: 60)))
            case 1 where !children.isEmpty: node.steps.append(.run(random.pick(children)))
            case 2 where random.isLucky(percent: 20): node.steps.append(.cancel(random.number(0...id)))
            default: node.steps.append(.yield(random.number(1...4)))
            }
        }
        node.throwsAtTheEnd = random.isLucky(percent: 10)
        if random.isLucky(percent: 15), !node.steps.contains(where: { if case .run = $0 { true } else { false } }) {
            node.failures = random.number(1...2)
            node.delay = .ticks(random.number(0...4))
        }
        if random.isLucky(percent: waiting) { node.waitingLimit = .ticks(random.number(0...12)) }
        return node
    }

    private mutating func add(_ random: inout SeededRandom) {
        let order = random.isLucky(percent: 50) ? nodes : random.shuffled(nodes)
        var together: [Int: [Int]] = [:]
        for node in order where !node.isNested {
            let driver = random.number(0...drivers.count - 1)
            if !addsOneByOne, !node.hasPrivateSource, random.isLucky(percent: 50) {
                together[node.queue, default: []].append(node.id)
                if together[node.queue]!.count > random.number(1...8) {
                    drivers[driver].append(.addTogether(together.removeValue(forKey: node.queue)!, queue: node.queue))
                }
                continue
            }
            if node.hasPrivateSource {
                drivers[driver].append(.addWithSources(node.id))
            } else if random.isLucky(percent: 25) {
                let yields = random.isLucky(percent: 50) ? random.number(0...9) : nil
                drivers[driver].append(.run(node.id, cancelledAfter: yields))
            } else {
                drivers[driver].append(.add(node.id))
            }
            if random.isLucky(percent: 30) { drivers[driver].append(.pause(random.number(1...6))) }
        }
        for (queue, ids) in together.sorted(by: { $0.key < $1.key }) {
            drivers[0].append(.addTogether(ids, queue: queue))
        }
    }

    private mutating func disturb(_ random: inout SeededRandom) {
        var all: [UniqueAction] = random.some(random.number(0...nodes.count / 3), of: nodes).map { .cancel($0.id) }
        if random.isLucky(percent: 30) { all.append(.cancelKey(random.number(0...keyCount - 1))) }
        for gate in 0..<gateCount where random.isLucky(percent: 60) { all.append(.openGate(gate)) }
        for queue in queues.indices where random.isLucky(percent: 60) { all.append(.resume(queue)) }
        for _ in 0..<random.number(0...6) { all.append(.pause(random.number(1...8))) }
        for _ in 0..<random.number(0...4) { all.append(.passTime(.ticks(random.number(1...4)))) }
        for action in all {
            let driver = random.number(0...drivers.count - 1)
            drivers[driver].insert(action, at: random.number(0...drivers[driver].count))
        }
    }
}
