import Baton

extension Graph {
    static func name(_ random: inout SeededRandom) -> NameNote {
        NameNote(
            limit: random.isLucky(percent: 50) ? random.number(1...4) : nil,
            scope: random.pick([.ofQueues, .ofQueues, .process, .ofRound]))
    }

    /// Returns up to three names. A name may occur twice.
    func someNames(_ random: inout SeededRandom) -> [ExclusionNote] {
        if names.isEmpty { return [] }
        return (0..<random.pick([1, 1, 2, 3])).map { _ in
            let name = random.number(0...names.count - 1)
            return ExclusionNote(name: name, share: share(of: name, &random))
        }
    }

    func share(of name: Int, _ random: inout SeededRandom) -> ExclusionNote.Share {
        if let limit = names[name].limit, random.isLucky(percent: 70) { return .permits(random.number(1...limit)) }
        return random.pick([.exclusive, .exclusive, .shared])
    }

    /// Adds exclusions to the node. Unless holders may wait, only nodes that wait for no operation hold exclusions.
    func addExclusions(to node: inout Node, _ random: inout SeededRandom, percent: Int) {
        if !random.isLucky(percent: percent) { return }
        if holdersWait || node.waitsForNothing { node.exclusions = someNames(&random) }
    }
}

extension Node {
    /// True if the node waits for no operation while it holds the exclusions of its run.
    var waitsForNothing: Bool {
        group == nil && steps.allSatisfy(\.waitsForNothing) && !lastSteps.contains(where: \.waits)
    }

    /// True if the node also waits for no operation before its run. A node that holds exclusions may wait for such a
    /// node.
    var isLeaf: Bool { waitsForNothing && inputs.isEmpty && order.isEmpty && conditions.isEmpty }
}

extension LastStep {
    /// True if the step waits for an operation.
    var waits: Bool { if case .value = self { true } else { false } }
}

extension Step {
    fileprivate var waitsForNothing: Bool {
        switch self {
        case .yield, .work, .block, .cancelOwnTask, .gate, .checkCancellation, .cancel, .cancelWhenCancelled, .produce,
            .addToGroup:
            true
        case .value, .run, .abandon: false
        }
    }
}
