import Baton

extension Graph {
    /// Makes the node a group of members that have no group, or leaves it unchanged if there are none.
    mutating func makeGroup(of node: inout Node, _ random: inout SeededRandom) {
        var free = nodes.filter { $0.isMember && $0.owner == nil }.map(\.id)
        if free.isEmpty { return }
        free = random.shuffled(Array(free.suffix(6)))
        var members = Array(free.prefix(random.number(1...free.count)))
        var group = GroupNote(children: [])
        group.policy = isExact ? .collectAll : random.pick(GroupPolicy.allCases)
        group.isOrdered = random.isLucky(percent: 30)
        if random.isLucky(percent: 40), !group.isOrdered { group.width = random.pick([1, 1, 2, 3]) }
        if group.isOrdered {
            group.policy = random.pick(GroupPolicy.allCases)
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
        if !group.isOrdered { addLate(from: &members, to: &group, node.id, &random) }
        group.children = members
        for child in members + group.late { nodes[child].owner = node.id }
        if !group.isOrdered, !isExact { group.children += shared(&random) }
        node.group = group
        // The group also holds its exclusions while its `willFinish` handlers run.
        if holdersWait || node.lastSteps.contains(where: \.waits) { return }
        nameFamily(&node, &random)
    }

    /// Lets a body add some members to the group: the body of another member, or, unless the graph is exact, of any
    /// node.
    private mutating func addLate(
        from members: inout [Int], to group: inout GroupNote, _ id: Int, _ random: inout SeededRandom
    ) {
        let late = members.filter { _ in random.isLucky(percent: 25) }
        let first = late.max() ?? nodes.count
        let mayAdd = nodes.filter { node in
            node.id > first && !node.isBodyless && node.attempts == nil && node.limits.attempt == nil
                && (members.contains(node.id) && !late.contains(node.id) || !isExact)
        }
        if late.isEmpty || mayAdd.isEmpty { return }
        let insiders = mayAdd.map(\.id).filter { members.contains($0) }
        let adder = random.pick(insiders.isEmpty || random.isLucky(percent: 15) ? mayAdd.map(\.id) : insiders)
        var place = 0
        for child in late {
            place = random.number(place...nodes[adder].steps.count)
            nodes[adder].steps.insert(.addToGroup(child, group: id), at: place)
            place += 1
        }
        group.late = late
        members.removeAll { late.contains($0) }
    }

    /// Children that other nodes refer to as well.
    private func shared(_ random: inout SeededRandom) -> [Int] {
        // See ``OperationFactory``.
        let all = nodes.filter { $0.isFree && $0.lastSteps.isEmpty }.map(\.id)
        return Array(Set(random.some(random.pick([0, 0, 1, 2]), of: all))).sorted()
    }

    /// Gives exclusions to a group whose members are all leaves, and to its members. The members wait for no operation
    /// outside the group, so no cycle of waits can arise.
    private mutating func nameFamily(_ node: inout Node, _ random: inout SeededRandom) {
        guard let group = node.group else { return }
        let family = group.children + group.late
        let areLeaves = family.allSatisfy { id in
            nodes[id].owner == node.id && nodes[id].isLeaf
        }
        if !areLeaves || names.isEmpty || random.isLucky(percent: 40) { return }
        node.exclusions = someNames(&random)
        var shares: [Int: ExclusionNote.Share] = [:]
        for note in node.exclusions { shares[note.name] = shares[note.name]?.merged(with: note.share) ?? note.share }
        for id in family {
            nodes[id].exclusions = random.some(random.number(0...2), of: shares.keys.sorted()).map { name in
                let own = shares[name]!
                return ExclusionNote(name: name, share: own == .exclusive ? share(of: name, &random) : own)
            }
        }
    }
}
