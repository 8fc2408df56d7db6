import Baton

/// Creates the operations of a graph, with every initializer that Baton has.
///
/// The handlers of an operation that ends before it was added run outside the scheduler, where a seed does not order
/// them.
enum OperationFactory {
    static func operations(of graph: Graph, at site: Site) -> [AnyOperation] {
        var made: [AnyOperation] = []
        for node in graph.nodes {
            made.append(operation(node, made, at: site))
            site.made.withLock { $0.append(Site.Weak(operation: made.last!)) }
        }
        return made
    }

    private static func operation(
        _ node: Node, _ made: [AnyOperation], at site: Site
    ) -> AnyOperation {
        let operation = node.group.map { group($0, made) } ?? withBody(node, made, at: site)
        operation.name = node.name
        operation.priority = node.priority
        for edge in node.order {
            if edge.policy == .always, edge.source.isMultiple(of: 2) {
                operation.addDependency(made[edge.source])
            } else {
                operation.addDependency(made[edge.source], on: edge.policy)
            }
        }
        if node.hasExecutor {
            operation.executor = site.scheduler ?? (node.id.isMultiple(of: 2) ? ThreadPool.racing : ThreadPool.small)
        }
        removeOneAgain(operation, node, made)
        addPreconditions(to: operation, node, made, at: site)
        addTimes(to: operation, node, at: site)
        addHandlers(to: operation, node, at: site)
        if let target = node.cancelsWhenFinished, target != node.id {
            let (id, target) = (target, made[target])
            operation.whenFinished { _ in
                // The handlers of an operation that ended before it was added run outside the scheduler.
                let isForeign = site.scheduler.map { scheduler in
                    withUnsafeCurrentTask { $0?.unownedTaskExecutor != scheduler.asUnownedTaskExecutor() }
                }
                if isForeign != true { site.cancel(target, id, because: "h\(node.id)") }
            }
        }
        return operation
    }

    private static func group(_ note: GroupNote, _ made: [AnyOperation]) -> AnyOperation {
        let children = note.children.map { made[$0] }
        if note.isOrdered { return GroupOperation(.ordered, children, policy: note.policy) }
        // The other half of the children is added after the initializer.
        let group = GroupOperation(
            Array(children.prefix(children.count / 2)), policy: note.policy, maxConcurrentOperationCount: note.width)
        for child in children.suffix(from: children.count / 2) { try! group.add(child) }
        return group
    }

    private static func withBody(_ node: Node, _ made: [AnyOperation], at site: Site) -> AnyOperation {
        let body = Body(
            node: node, site: site,
            sources: (node.sources + site.recorder.graph.separated(from: node)).map { made[$0] },
            targets: targets(of: node, made), token: Token(site.recorder.census))
        return operation(node, body, inputs: node.inputs.map { made[$0] as! AsyncOperation<Value> })
    }

    private static func targets(of node: Node, _ made: [AnyOperation]) -> [Int: AnyOperation] {
        let ids = Set(node.steps.flatMap(\.targets).filter { $0 < made.count })
        return Dictionary(uniqueKeysWithValues: ids.map { ($0, made[$0]) })
    }

    private static func operation(
        _ node: Node, _ body: Body, inputs: [AsyncOperation<Value>]
    ) -> AsyncOperation<Value> {
        let isProcedure = node.id % 3 == 0
        switch node.inputUse {
        case .values: break
        case .outcomes, .withDefault, .recovering, .combined, .delayed: return reader(node, body, inputs)
        }
        switch inputs.count {
        case 0 where isProcedure: return AsyncOperation(Plain(body: body))
        case 0: return AsyncOperation { context in try await body.run([], context) }
        case 1 where isProcedure: return inputs[0].then(ReadingOne(body: body))
        case 1: return AsyncOperation(inputs[0]) { value, context in try await body.run([value], context) }
        case 2 where isProcedure: return AsyncOperation(ReadingTwo(body: body), inputs: inputs[0], inputs[1])
        case 2:
            return AsyncOperation(inputs[0], inputs[1]) { a, b, context in try await body.run([a, b], context) }
        case 3:
            return AsyncOperation(inputs[0], inputs[1], inputs[2]) { a, b, c, context in
                try await body.run([a, b, c], context)
            }
        default:
            return AsyncOperation(inputs[0], inputs[1], inputs[2], inputs[3]) { a, b, c, d, context in
                try await body.run([a, b, c, d], context)
            }
        }
    }

    /// Adds a dependency and removes it again before the add, which must have no effect.
    private static func removeOneAgain(
        _ operation: AnyOperation, _ node: Node, _ made: [AnyOperation]
    ) {
        guard node.id % 5 == 1, let last = made.last, !node.sources.contains(node.id - 1) else { return }
        operation.addDependency(last)
        operation.removeDependency(last)
    }

}

private struct Plain: Procedure {
    let body: Body
    func execute(in context: OperationContext) async throws -> Value { try await body.run([], context) }
}

struct ReadingOne: InputProcedure {
    let body: Body
    func execute(_ input: Value, in context: OperationContext) async throws -> Value {
        try await body.run([input], context)
    }
}

private struct ReadingTwo: InputProcedure {
    let body: Body
    func execute(_ input: (Value, Value), in context: OperationContext) async throws -> Value {
        try await body.run([input.0, input.1], context)
    }
}
