import Baton

extension Graph {
    static func name(_ dice: inout SeededRandom) -> NameNote {
        NameNote(
            limit: dice.isLucky(percent: 50) ? dice.number(1...4) : nil,
            scope: dice.pick([.ofQueues, .ofQueues, .process, .ofRound]))
    }

    /// Up to three names, the same one perhaps twice.
    func someNames(_ dice: inout SeededRandom) -> [ExclusionNote] {
        if names.isEmpty { return [] }
        return (0..<dice.pick([1, 1, 2, 3])).map { _ in
            let name = dice.number(0...names.count - 1)
            return ExclusionNote(name: name, share: share(of: name, &dice))
        }
    }

    func share(of name: Int, _ dice: inout SeededRandom) -> ExclusionNote.Share {
        if let limit = names[name].limit, dice.isLucky(percent: 70) { return .permits(dice.number(1...limit)) }
        return dice.pick([.exclusive, .exclusive, .shared])
    }

    /// Unless holders may wait, only what waits for no operation holds names.
    func addExclusions(to node: inout Node, _ dice: inout SeededRandom, percent: Int) {
        if !dice.isLucky(percent: percent) { return }
        if holdersWait || node.waitsForNothing { node.exclusions = someNames(&dice) }
    }
}

extension Node {
    /// While it holds the names of its run.
    var waitsForNothing: Bool {
        group == nil && steps.allSatisfy(\.waitsForNothing) && !lastSteps.contains(where: \.waits)
    }

    /// Nor before. What holds names may wait for such a one.
    var isLeaf: Bool { waitsForNothing && inputs.isEmpty && order.isEmpty && conditions.isEmpty }
}

extension LastStep {
    /// For an operation.
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
