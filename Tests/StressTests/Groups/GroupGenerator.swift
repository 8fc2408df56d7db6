import Baton

extension Graph {
    /// Makes the node a group of members that have no group, or leaves it unchanged if there are none.
    mutating func makeGroup(of node: inout Node, _ dice: inout SeededRandom) {
        var free = nodes.filter { $0.isMember && $0.owner == nil }.map(\.id)
        if free.isEmpty { return }
        free = dice.shuffled(Array(free.suffix(6)))
        var members = Array(free.prefix(dice.number(1...free.count)))
        var group = GroupNote(children: [])
        group.policy = isExact ? .collectAll : dice.pick(GroupPolicy.allCases)
        group.isOrdered = dice.isLucky(percent: 30)
        if dice.isLucky(percent: 40), !group.isOrdered { group.width = dice.pick([1, 1, 2, 3]) }
        if group.isOrdered {
            group.policy = dice.pick(GroupPolicy.allCases)
            members.sort()
            for (child, previous) in zip(members.dropFirst(), members) {
                nodes[child].after = OrderEdge(source: previous, policy: DependencyPolicy(inOrder: group.policy))
            }
        }
        node.steps = []
        node.inputs = []
        node.inputUse = .values
        node.delay = nil
        node.throwsAtTheEnd = false
        if !group.isOrdered { addLate(from: &members, to: &group, node.id, &dice) }
        group.children = members
        for child in members + group.late { nodes[child].owner = node.id }
        if !group.isOrdered, !isExact { group.children += shared(&dice) }
        node.group = group
        // The group also holds its exclusions while its `willFinish` handlers run.
        if holdersWait || node.lastSteps.contains(where: \.waits) { return }
        nameFamily(&node, &dice)
    }

    /// Lets a body add some members to the group: the body of another member, or, unless the graph is exact, of any
    /// node.
    private mutating func addLate(
        from members: inout [Int], to group: inout GroupNote, _ id: Int, _ dice: inout SeededRandom
    ) {
        let late = members.filter { _ in dice.isLucky(percent: 25) }
        let first = late.max() ?? nodes.count
        let mayAdd = nodes.filter { node in
            node.id > first && !node.isBodyless && node.attempts == nil && node.limits.attempt == nil
                && (members.contains(node.id) && !late.contains(node.id) || !isExact)
        }
        if late.isEmpty || mayAdd.isEmpty { return }
        let insiders = mayAdd.map(\.id).filter { members.contains($0) }
        let adder = dice.pick(insiders.isEmpty || dice.isLucky(percent: 15) ? mayAdd.map(\.id) : insiders)
        var place = 0
        for child in late {
            place = dice.number(place...nodes[adder].steps.count)
            nodes[adder].steps.insert(.addToGroup(child, group: id), at: place)
            place += 1
        }
        group.late = late
        members.removeAll { late.contains($0) }
    }

    /// Children that other nodes refer to as well.
    private func shared(_ dice: inout SeededRandom) -> [Int] {
        // See ``OperationFactory``.
        let all = nodes.filter { $0.isFree && $0.lastSteps.isEmpty }.map(\.id)
        return Array(Set(dice.some(dice.pick([0, 0, 1, 2]), of: all))).sorted()
    }

    /// Gives exclusions to a group whose members are all leaves, and to its members. The members wait for no operation
    /// outside the group, so no cycle of waits can arise.
    private mutating func nameFamily(_ node: inout Node, _ dice: inout SeededRandom) {
        guard let group = node.group else { return }
        let family = group.children + group.late
        let areLeaves = family.allSatisfy { id in
            nodes[id].owner == node.id && nodes[id].isLeaf
        }
        if !areLeaves || names.isEmpty || dice.isLucky(percent: 40) { return }
        node.exclusions = someNames(&dice)
        var shares: [Int: ExclusionNote.Share] = [:]
        for note in node.exclusions { shares[note.name] = shares[note.name]?.merged(with: note.share) ?? note.share }
        for id in family {
            nodes[id].exclusions = dice.some(dice.number(0...2), of: shares.keys.sorted()).map { name in
                let own = shares[name]!
                return ExclusionNote(name: name, share: own == .exclusive ? share(of: name, &dice) : own)
            }
        }
    }
}
