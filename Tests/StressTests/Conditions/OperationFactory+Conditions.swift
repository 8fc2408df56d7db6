import Baton
import BatonTesting

extension OperationFactory {
    static func addPreconditions(to operation: AnyOperation, _ node: Node, _ made: [AnyOperation], at site: Site) {
        // The exclusions may be added before or after the conditions, without a difference.
        let isFirst = node.id.isMultiple(of: 2)
        if isFirst { addExclusions(to: operation, node, at: site) }
        for (place, note) in node.conditions.enumerated() {
            let noted = NotedCondition(
                base: condition(note.shape, of: note, node, made, at: site), note: note, place: place, node: node,
                site: site)
            operation.addCondition(noted)
        }
        if !isFirst { addExclusions(to: operation, node, at: site) }
    }

    private static func addExclusions(to operation: AnyOperation, _ node: Node, at site: Site) {
        for exclusion in node.exclusions { operation.addCondition(exclusion.made(at: site)) }
        for rate in node.rates { operation.addCondition(site.recorder.graph.rates[rate].made(rate, at: site)) }
    }

    private static func condition(
        _ shape: Shape, of note: ConditionNote, _ node: Node, _ made: [AnyOperation], at site: Site
    ) -> any OperationCondition {
        func inner(_ shape: Shape) -> any OperationCondition { condition(shape, of: note, node, made, at: site) }
        switch shape {
        case .leaf(let leaf):
            var awaited: [Int: AnyOperation] = [:]
            for case .value(let id) in leaf.steps { awaited[id] = made[id] }
            return LeafCondition(
                leaf: leaf, node: node, owner: note.owner(in: site.recorder.graph),
                names: note.shape.leaves.flatMap(\.exclusions), site: site,
                brought: leaf.broughtNode.map { made[$0] }, awaited: awaited,
                token: Token(site.recorder.census))
        case .negated(let base): return negated(inner(base))
        case .silent(let base): return silent(inner(base))
        case .and(let one, let other): return both(inner(one), inner(other))
        case .or(let one, let other): return either(inner(one), inner(other))
        }
    }

    private static func negated(_ base: some OperationCondition) -> any OperationCondition { base.negated }

    private static func silent(_ base: some OperationCondition) -> any OperationCondition { base.silent }

    private static func both(_ one: some OperationCondition, _ other: some OperationCondition) -> any OperationCondition
    {
        one.and(other)
    }

    private static func either(
        _ one: some OperationCondition, _ other: some OperationCondition
    ) -> any OperationCondition {
        one.or(other)
    }
}

/// A condition that wraps another one, and records when that one is asked and what it answers.
private struct NotedCondition: OperationCondition {
    let base: any OperationCondition
    let note: ConditionNote
    let place: Int
    let node: Node
    let site: Site

    var name: String { base.name }
    var exclusions: [Exclusion] { base.exclusions }

    func dependency(for operation: AnyOperation) -> AnyOperation? {
        site.recorder.conditionWasAsked(node.id, operation)
        return base.dependency(for: operation)
    }

    func evaluate(for operation: AnyOperation, after dependency: AnyOperation?) async throws -> ConditionResult {
        let recorder = site.recorder
        let key = Holdings.Key(owner: node.id, condition: place)
        recorder.evaluationBegan(node, place, operation, after: dependency)
        recorder.holdsNames(key, node.namesOfTheEvaluation)
        defer {
            recorder.holdings.end(key)
            recorder.evaluationEnded(node, place)
        }
        let result = try await base.evaluate(for: operation, after: dependency)
        if case .satisfied = result { recorder.wasSatisfied(node.id, place) }
        return result
    }

    func evaluate(for operation: AnyOperation) async throws -> ConditionResult {
        try await evaluate(for: operation, after: nil)
    }
}

private struct LeafCondition: OperationCondition {
    let leaf: Leaf
    let node: Node
    let owner: Int
    /// The exclusions that the operation holds that this condition brings along.
    let names: [ExclusionNote]
    let site: Site
    let brought: AnyOperation?
    let awaited: [Int: AnyOperation]
    let token: Token

    var name: String { leaf.name }
    var exclusions: [Exclusion] { leaf.exclusions.map { $0.made(at: site) } }

    func dependency(for operation: AnyOperation) -> AnyOperation? {
        switch leaf.brought {
        case .nothing: nil
        case .node: brought
        case .fresh(let note): fresh(note, holding: names)
        }
    }

    /// Creates the operation that the condition brings along. Its sources are added with it. Only the operation itself
    /// holds exclusions.
    private func fresh(_ note: FreshNote, holding names: [ExclusionNote]) -> AsyncOperation<Void> {
        let (site, leaf, node, owner) = (site, leaf, node, owner)
        let token = Token(site.recorder.census)
        let sources = note.sources.map { fresh($0, holding: []) }
        let made = AsyncOperation<Void>("fresh for \(leaf.name)") {
            let recorder = site.recorder
            let key = Holdings.Key(owner: owner, condition: leaf.id)
            recorder.check(
                recorder.nodes[node.id].conditions.evaluating == 0, "G11: n\(node.id) is evaluated too early")
            recorder.holdsNames(key, names)
            defer { recorder.holdings.end(key) }
            for _ in 0..<note.yields { await Task.yield() }
            withExtendedLifetime(token) {}
            if note.end == .error { throw ConditionThrown(by: leaf.name, token: Token(recorder.census)) }
        }
        for source in sources { made.addDependency(source, on: .success) }
        if note.end == .skip { made.addCondition("never") { _ in .skip("fresh for \(leaf.name)") } }
        return made
    }

    func evaluate(for operation: AnyOperation, after dependency: AnyOperation?) async throws -> ConditionResult {
        let recorder = site.recorder
        if let dependency {
            recorder.check(dependency.state == .finished, "G11: \(leaf.name) is evaluated before what it brought along")
            if case .fresh = leaf.brought {
                let outcome = dependency.error.map { Outcome($0) } ?? .value(0)
                recorder.nodes[node.id].conditions.fresh.withLock { $0[leaf.id] = outcome }
            }
            if let error = dependency.error { throw error }
        }
        for step in leaf.steps {
            switch step {
            case .yield(let times): for _ in 0..<times { await Task.yield() }
            case .gate(let gate, let heedsCancel):
                if heedsCancel {
                    try await site.gates[gate].waitUnlessCancelled()
                } else {
                    await site.gates[gate].wait()
                }
            case .value(let id): _ = await awaited[id]!.awaitedOutcome()
            case .cancel: site.cancel(operation, node.id, because: "e\(node.id)", isNested: true)
            }
        }
        switch leaf.answer {
        case .satisfied: return .satisfied
        case .skip: return .skip(leaf.name)
        case .error: throw ConditionThrown(by: leaf.name, token: Token(recorder.census))
        }
    }

    func evaluate(for operation: AnyOperation) async throws -> ConditionResult {
        try await evaluate(for: operation, after: nil)
    }
}
