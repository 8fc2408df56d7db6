import Baton
import Foundation
import Synchronization

/// Makes the operations of a program, with their handlers.
extension HuntRound {
    func make(_ node: HuntProgram.Node) -> AnyOperation {
        let result: AnyOperation
        if node.features.contains(.group), node.choice % 2 == 0 {
            let children = (0..<node.choice / 2 % 4).map { child($0, of: node, depth: 1) }
            let policy = GroupPolicy.allCases[node.choice / 8 % 3]
            let group =
                node.choice / 24 % 3 == 0
                ? GroupOperation("n\(node.id)", .ordered, children, policy: policy)
                : GroupOperation(
                    "n\(node.id)", children, policy: policy,
                    maxConcurrentOperationCount: node.choice / 72 % 2 == 0 ? nil : 1)
            configure(group, node)
            result = group
        } else if node.features.contains(.groupWidth), node.choice % 2 == 0 {
            let group = narrowGroup(node)
            configure(group, node)
            result = group
        } else {
            let operation: AsyncOperation<Output>
            let captured = living.token(meddling(node, 0))
            let input = node.dependencies.last.flatMap { self.operation($0) as? AsyncOperation<Output> }
            if node.features.contains(.edges), node.choice % 3 == 0, let input {
                operation = AsyncOperation<Output>("n\(node.id)", resultOf: input) { [self] _, context in
                    captured.touch()
                    return try await body(node, context)
                }
            } else {
                operation = AsyncOperation<Output>("n\(node.id)") { [self] context in
                    captured.touch()
                    return try await body(node, context)
                }
            }
            if node.features.contains(.repeating) {
                operation.repeat(every: .microseconds(node.choice % 500), count: 1 + node.choice % 3) {
                    [self] _ in
                    if selfCancels(node, 1) { cancelThisTask() }
                    return false
                }
            }
            configure(operation, node)
            result = operation
        }
        return result
    }

    /// Returns the action of a deinit in user code, or nil if the node has none.
    func meddling(_ node: HuntProgram.Node, _ place: Int) -> (@Sendable () -> Void)? {
        guard node.features.contains(.deinits) else { return nil }
        return { [self] in
            let queue = queue(node.queue)
            switch (node.choice + place) % 5 {
            case 0: queue.add("from a deinit") {}
            case 1: queue.add("from a deinit") {}.cancel()
            case 2:
                queue.isSuspended = true
                queue.isSuspended = false
            case 3: _ = queue.snapshot()
            default: operation(node.choice % program.nodes.count)?.cancel()
            }
        }
    }

    func selfCancels(_ node: HuntProgram.Node, _ place: Int) -> Bool {
        node.features.contains(.selfCancel) && node.choice % 6 == place
    }

    func configure<Value>(_ operation: AsyncOperation<Value>, _ node: HuntProgram.Node) {
        let (features, choice, record) = (node.features, node.choice, records[node.id])
        for (place, id) in node.dependencies.enumerated() {
            guard let dependency = self.operation(id) else { continue }
            if features.contains(.edges) {
                operation.addDependency(dependency, on: DependencyPolicy.allCases[(choice + place) % 3])
            } else {
                operation.addDependency(dependency)
            }
        }
        if features.contains(.heldDependency) { operation.addDependency(signal) }
        if features.contains(.retry), !(operation is GroupOperation) {
            let backoff: Backoff = choice % 2 == 0 ? .immediately : .constant(.microseconds(choice % 300))
            operation.retry(backoff, attempts: 3) { [self] _ in
                if selfCancels(node, 2) { cancelThisTask() }
                return true
            }
        }
        configureConditions(operation, node)
        if features.contains(.timeout) { operation.timeout(.microseconds(choice % 5_000)) }
        if features.contains(.waitingLimit) { operation.timeout(waiting: .microseconds(choice % 8_000)) }
        if features.contains(.unique) {
            let policies: [UniquenessPolicy] = [.reject, .join, .replace]
            // A joiner of an operation that waits for its cancellation would prevent the cancellation.
            let isCancelled =
                !features.isDisjoint(with: [.cancel, .heldDependency]) || LimitKind(node) == .waiting
            operation.unique(by: "\(unique) \(isCancelled ? node.id + 2 : choice % 2)", policy: policies[choice % 3])
        }
        if features.contains(.condition) {
            let token = living.token()
            operation.addCondition("of the hunt") { [self] _ in
                token.touch()
                if choice % 4 != 0 { await Task.yield() }
                if selfCancels(node, 3) { cancelThisTask() }
                return choice % 7 == 0 ? .skip("hunt") : .satisfied
            }
            if choice % 3 == 0 { operation.addCondition(NoFailedDependencies()) }
            if choice % 5 == 0 {
                operation.addCondition(BringsAlong(operation: child(9, of: node, depth: 2)))
            }
        }
        if features.contains(.delay) {
            let pause = AsyncOperation<Void>.delay(.microseconds(choice % 2_000))
            operation.addDependency(pause)
            companions.withLock { $0[node.id, default: []].append(pause) }
        }
        switch LimitKind(node) {
        case nil: break
        case .long: operation.timeout(.seconds(600)).timeout(waiting: .seconds(600))
        case .attempt: operation.timeout(.microseconds(choice % 3_000))
        case .waiting: operation.timeout(waiting: .microseconds(choice % 6_000)).addDependency(signal)
        }
        addCycle(to: operation, node)
        if features.contains(.ownExecutor) { operation.executor = Self.threads[choice % 3] }
        if features.contains(.priority) {
            let priorities: [OperationPriority] = [.veryLow, .low, .normal, .high, .veryHigh]
            operation.priority = priorities[choice % 5]
        }
        if features.contains(.willFinish) {
            let token = living.token(meddling(node, 1))
            operation.willFinish { [self] _ in
                token.touch()
                if record.willFinish.add(1, ordering: .relaxed).newValue > 1 {
                    fault("n\(node.id): willFinish came twice")
                }
                if Task.isCancelled { fault("n\(node.id): a willFinish handler sees a cancellation") }
                if record.bodies.load(ordering: .relaxed) > 0 { checkTag(node.id, "a willFinish handler") }
                if selfCancels(node, 4) { cancelThisTask() }
                if choice % 2 == 0 { await Task.yield() }
            }
            operation.willFinish { [self] _ in
                if Task.isCancelled { fault("n\(node.id): the second willFinish handler sees a cancellation") }
            }
        }
        if features.contains(.handlers) {
            operation.didStart { [self] in
                if record.didStart.add(1, ordering: .relaxed).newValue > 1 { fault("n\(node.id): didStart came twice") }
                if Task.isCancelled { fault("n\(node.id): didStart sees a cancellation") }
                checkTag(node.id, "a didStart handler")
                if selfCancels(node, 5) { cancelThisTask() }
            }
            operation.didCancel { [self] _ in
                if record.didCancel.add(1, ordering: .relaxed).newValue > 1 {
                    fault("n\(node.id): didCancel came twice")
                }
            }
        }
        addDidFinish(operation, node.id)
    }

    /// - Parameter isLate: Whether the operation has finished, so that no task-local is bound around the handler.
    func addDidFinish<Value>(_ operation: AsyncOperation<Value>, _ id: Int, isLate: Bool = false) {
        let (record, token) = (records[id], living.token())
        record.handlersAdded.add(1, ordering: .relaxed)
        operation.didFinish { [self, weak operation] result in
            token.touch()
            if Task.isCancelled { fault("n\(id): didFinish sees a cancellation") }
            if !isLate, record.bodies.load(ordering: .relaxed) > 0 { checkTag(id, "a didFinish handler") }
            record.didFinish.add(1, ordering: .relaxed)
            guard let operation else { return }
            if operation.state != .finished { fault("n\(id): didFinish came before the end") }
            let text = operation.result.map { Self.kind(of: $0) }
            if text != Self.kind(of: result) {
                fault("n\(id): two outcomes, \(Self.kind(of: result)) and \(text ?? "none")")
            }
        }
    }

    static func kind<Value>(of result: Result<Value, OperationError>) -> String {
        switch result {
        case .success: "success"
        case .failure(let error): "\(error.stage)"
        }
    }

    struct BringsAlong: OperationCondition {
        let operation: AnyOperation
        func dependency(for _: AnyOperation) -> AnyOperation? { operation }
        func evaluate(for _: AnyOperation) async throws -> ConditionResult { .satisfied }
    }
}
