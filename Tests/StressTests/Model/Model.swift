/// Computes the right outcomes. The model knows the graph, but no queues, tasks or time.
struct Model {
    let graph: Graph

    /// Returns the one right outcome of each node that runs, for a graph in which nothing is cancelled.
    func predictions() -> [Outcome] {
        var outcomes: [Outcome] = []
        for node in graph.nodes {
            let known = outcomes
            let isAccepted = { (late: Int) in isAcceptedForCertain(late, known) }
            let refusal = refusal(node) { known[$0] }
            outcomes.append(refusal ?? expected(node, { known[$0] }, refusals: [], isAccepted)[0])
            if refusal != nil { recordMembersAsCancelled(of: node.id, in: &outcomes) }
        }
        return outcomes
    }

    /// Returns the outcomes that a node can end with if it is not cancelled, given the outcomes of the other nodes.
    /// There is more than one only if several children may be the first to fail.
    ///
    /// - Parameters:
    ///
    ///   - refusals: The errors of the node's conditions.
    ///
    ///   - isAccepted: Tells whether a group has accepted this late child.
    func expected(
        _ node: Node, _ known: (Int) -> Outcome, refusals: [Outcome], _ isAccepted: (Int) -> Bool
    ) -> [Outcome] {
        if let obstacle = obstacle(node, known) { return [obstacle] }
        if !refusals.isEmpty { return refusals }
        if let group = node.group { return [outcome(of: group, node.id, known, isAccepted)] }
        if let note = node.attempts { return course(of: node, note, known).outcomes }
        return outcomes(of: node, known)
    }

    /// Returns the possible outcomes of the last run of the node's body.
    func outcomes(of node: Node, _ known: (Int) -> Outcome) -> [Outcome] {
        if node.inputUse == .delayed { return [known(node.inputs[0])] }
        if node.inputUse == .recovering, known(node.inputs[0]).number != nil { return [known(node.inputs[0])] }
        var hash = Hash(node.id)
        for number in inputNumbers(of: node, known) { hash.mix(number) }
        for step in node.steps {
            switch step {
            case .yield, .work, .block, .cancelOwnTask, .gate, .checkCancellation, .abandon, .cancel, .produce,
                .addToGroup,
                .cancelWhenCancelled:
                break
            case .value(let other, let errors):
                if errors == .passedOn, known(other).number == nil { return [known(other).passedOnByBody] }
                hash.mix(known(other).number)
            case .run(let children, let way, let errors):
                let failures = children.map(known).filter { $0.number == nil }.map(\.passedOnByBody)
                if errors == .passedOn, let first = failures.first { return way == .failingGroup ? failures : [first] }
                for child in children { hash.mix(known(child).number) }
            }
        }
        return node.throwsAtTheEnd ? [.threw(node.id)] : [.value(hash.value)]
    }

    /// Returns the nodes that are certainly added, for a graph in which nothing is cancelled.
    func certainlyAdded(_ outcomes: [Outcome]) -> Set<Int> {
        var added: Set<Int> = []
        for node in graph.nodes.reversed() {
            if !node.isNested { added.insert(node.id) }
            guard added.contains(node.id) else { continue }
            if node.isNested { added.formUnion(node.sources) }
            for child in stepsReached(node, outcomes) { added.insert(child) }
            if let group = node.group, refusal(node, { outcomes[$0] }) == nil { added.formUnion(group.children) }
        }
        return added
    }

    /// Returns the outcome of a node that does not run, for a graph in which nothing is cancelled, or nil if the node
    /// runs.
    private func refusal(_ node: Node, _ known: (Int) -> Outcome) -> Outcome? {
        obstacle(node, known) ?? refusals(node, known) { prediction($1, of: $0) }.first
    }

    /// Returns true if the body that adds the child reaches that step. The child runs if the group does.
    private func isAcceptedForCertain(_ late: Int, _ outcomes: [Outcome]) -> Bool {
        outcomes.indices.contains {
            let steps = graph.nodes[$0].steps
            let adds = steps.contains { if case .addToGroup(late, _) = $0 { true } else { false } }
            return adds && stepsReached(graph.nodes[$0], outcomes).contains(late)
        }
    }

    /// Returns the children that a node's body runs before it throws.
    private func stepsReached(_ node: Node, _ outcomes: [Outcome]) -> [Int] {
        if refusal(node, { outcomes[$0] }) != nil { return [] }
        var reached: [Int] = []
        let isCutShort = alwaysFailsEarly(node) { outcomes[$0] }
        for step in node.steps.prefix(isCutShort ? node.attempts?.stepsBeforeFailing ?? 0 : .max) {
            switch step {
            case .yield, .work, .block, .cancelOwnTask, .gate, .checkCancellation, .abandon, .cancel,
                .cancelWhenCancelled:
                break
            case .produce(let product), .addToGroup(let product, _): reached.append(product)
            case .value(let other, let errors):
                if errors == .passedOn, outcomes[other].number == nil { return reached }
            case .run(let children, let way, let errors):
                let failed = errors == .passedOn ? children.firstIndex { outcomes[$0].number == nil } : nil
                if let failed { return reached + (way.stopsAtAnError ? Array(children[...failed]) : children) }
                reached += children
            }
        }
        return reached
    }

    /// Returns the node and everything that it needs through edges. A cancelled `run` may cancel any of them.
    func upstream(of id: Int) -> Set<Int> {
        var all: Set<Int> = [id]
        var frontier = [id]
        while let next = frontier.popLast() {
            for source in graph.nodes[next].sources where all.insert(source).inserted { frontier.append(source) }
        }
        return all
    }
}

/// The hash that bodies compute from their inputs.
struct Hash {
    private(set) var value: UInt64

    init(_ id: Int) { value = UInt64(id) &+ 0x9E37_79B9 }

    init(goingOnFrom value: UInt64) { self.value = value }

    mutating func mix(_ number: UInt64?) {
        value = (value ^ (number ?? 0xDEAD)) &* 0x100_0000_01B3
        value ^= value >> 29
    }
}
