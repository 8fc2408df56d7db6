import Baton

extension UniquePlan {
    init(seed: UInt64, nodeCounts: ClosedRange<Int>) {
        var dice = SeededRandom(seed: seed &* 0xA076_1D65 &+ 3)
        keyCount = dice.pick([1, 2, 2, 4])
        addsOneByOne = dice.isLucky(percent: 70)
        drivers = Array(repeating: [], count: dice.number(1...3))
        for _ in 0..<dice.number(1...3) {
            queues.append(
                QueueNote(
                    width: dice.pick([1, 1, 2, 64]), release: .never, isSuspendedAtFirst: dice.isLucky(percent: 15)))
        }
        let usual = dice.pick([nil, nil, UniquenessPolicy.join, .replace, .reject])
        let (nested, waiting) = (dice.pick([0, 0, 20]), dice.pick([0, 0, 30]))
        for id in 0..<dice.number(nodeCounts) {
            nodes.append(node(id, &dice, usual, nested: nested, waiting: waiting))
        }
        add(&dice)
        disturb(&dice)
    }

    private func node(
        _ id: Int, _ dice: inout SeededRandom, _ usual: UniquenessPolicy?, nested: Int, waiting: Int
    ) -> UniqueNode {
        var node = UniqueNode(
            id: id, key: dice.isLucky(percent: 85) ? dice.number(0...keyCount - 1) : nil,
            policy: dice.isLucky(percent: 70)
                ? usual ?? dice.pick(UniquenessPolicy.allCases) : dice.pick(UniquenessPolicy.allCases),
            queue: dice.number(0...queues.count - 1), isNested: dice.isLucky(percent: nested),
            hasPrivateSource: dice.isLucky(percent: 10))
        let added = nodes.filter { !$0.isNested }.map(\.id)
        let children = nodes.filter { $0.isNested }.map(\.id)
        if dice.isLucky(percent: 15), !added.isEmpty { node.input = dice.pick(added) }
        if dice.isLucky(percent: 20) { node.order = dice.some(dice.number(1...2), of: added) }
        for _ in 0..<dice.number(0...3) {
            switch dice.number(0...5) {
            case 0: node.steps.append(.gate(dice.number(0...gateCount - 1), heedsCancel: dice.isLucky(percent: 60)))
            case 1 where !children.isEmpty: node.steps.append(.run(dice.pick(children)))
            case 2 where dice.isLucky(percent: 20): node.steps.append(.cancel(dice.number(0...id)))
            default: node.steps.append(.yield(dice.number(1...4)))
            }
        }
        node.throwsAtTheEnd = dice.isLucky(percent: 10)
        if dice.isLucky(percent: 15), !node.steps.contains(where: { if case .run = $0 { true } else { false } }) {
            node.failures = dice.number(1...2)
            node.delay = .ticks(dice.number(0...4))
        }
        if dice.isLucky(percent: waiting) { node.waitingLimit = .ticks(dice.number(0...12)) }
        return node
    }

    private mutating func add(_ dice: inout SeededRandom) {
        let order = dice.isLucky(percent: 50) ? nodes : dice.shuffled(nodes)
        var together: [Int: [Int]] = [:]
        for node in order where !node.isNested {
            let driver = dice.number(0...drivers.count - 1)
            if !addsOneByOne, !node.hasPrivateSource, dice.isLucky(percent: 50) {
                together[node.queue, default: []].append(node.id)
                if together[node.queue]!.count > dice.number(1...8) {
                    drivers[driver].append(.addTogether(together.removeValue(forKey: node.queue)!, queue: node.queue))
                }
                continue
            }
            if node.hasPrivateSource {
                drivers[driver].append(.addWithSources(node.id))
            } else if dice.isLucky(percent: 25) {
                let yields = dice.isLucky(percent: 50) ? dice.number(0...9) : nil
                drivers[driver].append(.run(node.id, cancelledAfter: yields))
            } else {
                drivers[driver].append(.add(node.id))
            }
            if dice.isLucky(percent: 30) { drivers[driver].append(.pause(dice.number(1...6))) }
        }
        for (queue, ids) in together.sorted(by: { $0.key < $1.key }) {
            drivers[0].append(.addTogether(ids, queue: queue))
        }
    }

    private mutating func disturb(_ dice: inout SeededRandom) {
        var all: [UniqueAction] = dice.some(dice.number(0...nodes.count / 3), of: nodes).map { .cancel($0.id) }
        if dice.isLucky(percent: 30) { all.append(.cancelKey(dice.number(0...keyCount - 1))) }
        for gate in 0..<gateCount where dice.isLucky(percent: 60) { all.append(.openGate(gate)) }
        for queue in queues.indices where dice.isLucky(percent: 60) { all.append(.resume(queue)) }
        for _ in 0..<dice.number(0...6) { all.append(.pause(dice.number(1...8))) }
        for _ in 0..<dice.number(0...4) { all.append(.passTime(.ticks(dice.number(1...4)))) }
        for action in all {
            let driver = dice.number(0...drivers.count - 1)
            drivers[driver].insert(action, at: dice.number(0...drivers[driver].count))
        }
    }
}
