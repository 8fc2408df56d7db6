/// Evaluates the conditions of an operation: on the task of its worker, which holds no permit for it meanwhile.
extension QueueCore {
    /// Nil: the operation may run. After a cancel the answer does not matter.
    @inline(__always)
    nonisolated(nonsending) func evaluate(
        conditionsIn optionalState: Unmanaged<OptionalState>, of operation: AnyOperation, on worker: Worker
    ) async -> OperationError? {
        if let closure = optionalState._withUnsafeGuaranteedRef({ $0.preconditions.onlyClosure }) {
            do {
                return try await closure.body(operation).error
            } catch {
                return .conditionFailed(condition: closure.name, cause: error)
            }
        }
        return await evaluateAll(conditionsIn: optionalState, of: operation, on: worker)
    }

    @inline(never)
    private nonisolated(nonsending) func evaluateAll(
        conditionsIn optionalState: Unmanaged<OptionalState>, of operation: AnyOperation, on worker: Worker
    ) async -> OperationError? {
        if let condition = optionalState._withUnsafeGuaranteedRef({ $0.preconditions.onlyCondition }) {
            let dependency = await dependency(of: condition, for: operation, on: worker)
            if dependency == nil, !Task.isCancelled {
                return await Verdict.of(condition, on: operation, after: nil).error
            }
            return await evaluate([condition], [dependency], of: operation, on: worker)
        }
        let conditions = optionalState._withUnsafeGuaranteedRef { $0.preconditions.conditions.all }.map(\.condition)
        var dependencies: [AnyOperation?] = []
        for condition in conditions {
            dependencies.append(await dependency(of: condition, for: operation, on: worker))
        }
        return await evaluate(conditions, dependencies, of: operation, on: worker)
    }

    /// The operation that the condition brings along. A condition that cancels its task does not affect the next one.
    private nonisolated(nonsending) func dependency(
        of condition: any OperationCondition, for operation: AnyOperation, on worker: Worker
    ) async -> AnyOperation? {
        if let wrapping = condition as? any WrappingCondition {
            return await wrapping.dependency { await self.dependency(of: $0, for: operation, on: worker) }
        }
        if !Task.isCancelled { return condition.dependency(for: operation) }
        return await onAnotherTask(of: operation, on: worker) { condition.dependency(for: operation) }
    }

    /// The conditions have been asked for their operations, on this task. If one of them has cancelled it, the rest
    /// goes on elsewhere.
    private nonisolated(nonsending) func evaluate(
        _ conditions: [any OperationCondition], _ dependencies: [AnyOperation?], of operation: AnyOperation,
        on worker: Worker
    ) async -> OperationError? {
        if !Task.isCancelled { return await evaluate(conditions, dependencies, of: operation) }
        return await onAnotherTask(of: operation, on: worker) {
            await self.evaluate(conditions, dependencies, of: operation)
        }
    }

    private nonisolated(nonsending) func evaluate(
        _ conditions: [any OperationCondition], _ dependencies: [AnyOperation?], of operation: AnyOperation
    ) async -> OperationError? {
        if dependencies.contains(where: { $0 != nil }) {
            let failures = await runDependencies(zip(dependencies, conditions), of: operation)
            if let cycle = failures.lazy.map(\.error).first(where: { $0.isCycle(through: operation) }) {
                return cycle
            }
            if operation.isCancelled { return .cancelled(reason: .requested) }
        }
        let exclusions = ExclusionSet(conditions.flatMap(\.exclusions))
        if exclusions.isEmpty { return await verdict(of: conditions, dependencies, on: operation) }
        let error = await ExclusionManager.hold(exclusions, whileEvaluating: operation)
        defer { ExclusionManager.giveBack(by: operation) }
        if let error { return error }
        if operation.isCancelled { return .cancelled(reason: .requested) }
        return await verdict(of: conditions, dependencies, on: operation)
    }

    /// All at once, as children, each under the names of its condition. Returns what failed.
    private nonisolated(nonsending) func runDependencies(
        _ dependencies: some Sequence<(AnyOperation?, any OperationCondition)>, of operation: AnyOperation
    ) async -> [OperationFailure] {
        let children = ChildGroup(of: operation)
        for (dependency, condition) in dependencies {
            guard let dependency else { continue }
            dependency.holdNames(condition.exclusions)
            _ = children.insert(dependency)
        }
        defer { operation.endGroupWait(for: children) }
        await children.run(on: self)
        return children.outcome ?? []
    }

    private nonisolated(nonsending) func verdict(
        of conditions: [any OperationCondition], _ dependencies: [AnyOperation?], on operation: AnyOperation
    ) async -> OperationError? {
        if conditions.count == 1 {
            return await Verdict.of(conditions[0], on: operation, after: dependencies[0]).error
        }
        let verdicts = await withTaskGroup(of: (Int, Verdict).self) { group in
            for index in conditions.indices {
                group.addTask {
                    var verdict = Verdict.answered(.satisfied)
                    // What it awaits is known as a wait of the operation, so that no cycle is missed.
                    await WorkerTaskContext.run(of: self) { task in
                        task.running = operation
                        verdict = await Verdict.of(conditions[index], on: operation, after: dependencies[index])
                        task.running = nil
                    }
                    return (index, verdict)
                }
            }
            var verdicts: [(index: Int, verdict: Verdict)] = []
            for await (index, verdict) in group {
                // What is thrown because of the cancel says nothing about the condition.
                if group.isCancelled, verdict.isCancellation { continue }
                verdicts.append((index, verdict))
                if !verdict.isSatisfied { group.cancelAll() }
            }
            return verdicts
        }
        return verdicts.min { ($0.verdict.rank, $0.index) < ($1.verdict.rank, $1.index) }?.verdict.error
    }
}

/// What a condition has come to.
private enum Verdict: Sendable {
    case answered(ConditionResult)
    case threw(any Error, condition: String)

    @inline(__always)
    nonisolated(nonsending) static func of(
        _ condition: any OperationCondition, on operation: AnyOperation, after dependency: AnyOperation?
    ) async -> Verdict {
        do {
            return .answered(try await condition.evaluate(for: operation, after: dependency))
        } catch { return .threw(error, condition: condition.name) }
    }

    /// A failure comes before a skip.
    var rank: Int {
        switch self {
        case .threw: 0
        case .answered(.skip): 1
        case .answered(.satisfied): 2
        }
    }

    var isSatisfied: Bool { rank == 2 }

    var isCancellation: Bool {
        if case .threw(let error, _) = self { error is CancellationError } else { false }
    }

    var error: OperationError? {
        switch self {
        case .answered(let answer): answer.error
        case .threw(let error, let condition): .conditionFailed(condition: condition, cause: error)
        }
    }
}

extension ConditionResult {
    fileprivate var error: OperationError? {
        switch self {
        case .satisfied: nil
        case .skip(let text): .skipped(.condition(text))
        }
    }
}

extension AnyOperation {
    /// Under what names a child runs besides its own. Nothing happens if it was added before.
    final func holdNames(_ exclusions: [Exclusion]) {
        if exclusions.isEmpty { return }
        withLife { life in
            if life.phase == .created { life.madeOptionalState().preconditions.add(exclusions) }
        }
    }
}

extension OperationError {
    fileprivate func isCycle(through operation: AnyOperation) -> Bool {
        if case .dependencyCycle(let path) = self { path.contains(operation.reference) } else { false }
    }
}
