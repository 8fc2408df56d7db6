/// The evaluation of an operation's conditions. It runs on the task of the worker, which holds no permit meanwhile.
extension QueueCore {
    /// Returns the error that keeps the operation from running, or nil if it may run. After a cancellation the caller
    /// ignores the result.
    @inline(__always)
    nonisolated(nonsending) func evaluate(
        conditionsIn optionalState: Unretained<OptionalState>, of operation: AnyOperation, on worker: Worker
    ) async -> OperationError? {
        if let closure = optionalState.use({ $0.preconditions.onlyClosure }) {
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
        conditionsIn optionalState: Unretained<OptionalState>, of operation: AnyOperation, on worker: Worker
    ) async -> OperationError? {
        if let condition = optionalState.use({ $0.preconditions.onlyCondition }) {
            let dependency = await dependency(of: condition, for: operation, on: worker)
            if dependency == nil, !Task.isCancelled {
                return await EvaluationResult.of(condition, on: operation, after: nil).error
            }
            return await evaluate([condition], [dependency], of: operation, on: worker)
        }
        let conditions = optionalState.use { $0.preconditions.conditions.all }.map(\.condition)
        var dependencies: [AnyOperation?] = []
        for condition in conditions {
            dependencies.append(await dependency(of: condition, for: operation, on: worker))
        }
        return await evaluate(conditions, dependencies, of: operation, on: worker)
    }

    /// Returns the dependency of a condition. A condition that cancels its task does not affect the next one.
    private nonisolated(nonsending) func dependency(
        of condition: any OperationCondition, for operation: AnyOperation, on worker: Worker
    ) async -> AnyOperation? {
        if let wrapping = condition as? any WrappingCondition {
            return await wrapping.dependency { await self.dependency(of: $0, for: operation, on: worker) }
        }
        if !Task.isCancelled { return condition.dependency(for: operation) }
        return await onAnotherTask(of: operation, on: worker) { condition.dependency(for: operation) }
    }

    /// Evaluates the conditions with the dependencies that they have returned on this task. If a condition has
    /// cancelled the task, the evaluation moves to another task.
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
            if let cycle = failures.firstCycle(through: operation) { return cycle }
            if operation.isCancelled { return .cancelled(reason: .requested) }
        }
        let exclusions = ExclusionSet(conditions.flatMap(\.exclusions))
        if exclusions.isEmpty { return await result(of: conditions, dependencies, on: operation) }
        let error = await ExclusionManager.hold(exclusions, whileEvaluating: operation)
        defer { ExclusionManager.release(by: operation) }
        if let error { return error }
        if operation.isCancelled { return .cancelled(reason: .requested) }
        return await result(of: conditions, dependencies, on: operation)
    }

    /// Runs the dependencies side by side as children, each under the exclusions of its condition. Returns their
    /// failures.
    private nonisolated(nonsending) func runDependencies(
        _ dependencies: some Sequence<(AnyOperation?, any OperationCondition)>, of operation: AnyOperation
    ) async -> [OperationFailure] {
        let children = ChildGroup(of: operation)
        for (dependency, condition) in dependencies {
            guard let dependency else { continue }
            dependency.requireExclusions(condition.exclusions)
            _ = children.insert(dependency)
        }
        defer { operation.endGroupWait(for: children) }
        await children.run(on: self)
        return children.outcome ?? []
    }

    private nonisolated(nonsending) func result(
        of conditions: [any OperationCondition], _ dependencies: [AnyOperation?], on operation: AnyOperation
    ) async -> OperationError? {
        if conditions.count == 1 {
            return await EvaluationResult.of(conditions[0], on: operation, after: dependencies[0]).error
        }
        return await withTaskGroup(of: (Int, EvaluationResult).self) { group in
            for index in conditions.indices {
                group.addTask {
                    var result: EvaluationResult?
                    // Registers the task as a task of the operation. If the condition awaits another operation, this
                    // counts as a wait of the operation, and cycles through it are found.
                    await WorkerTaskContext.run(of: self) { task in
                        task.running = operation
                        result = await EvaluationResult.of(conditions[index], on: operation, after: dependencies[index])
                        task.running = nil
                    }
                    guard let result else {
                        preconditionFailure("Internal inconsistency: a condition was not evaluated")
                    }
                    return (index, result)
                }
            }
            var answers = OrderedAnswers(count: conditions.count)
            for await (index, result) in group {
                // If the task of the evaluation was cancelled, a `CancellationError` says nothing about the condition.
                let isUnknown = group.isCancelled && result.isCancellation
                answers.note(isUnknown ? nil : result.error, at: index)
                // The conditions that are still being evaluated were added later, so their answers do not count.
                if answers.areDecided { group.cancelAll() }
            }
            return answers.refusal
        }
    }
}

/// The answers of conditions that are evaluated side by side. The first condition that refuses, in the order in which
/// they were added, decides, so the order in which they answer has no effect.
struct OrderedAnswers {
    private enum Answer {
        case open
        case satisfied
        case refused(OperationError)
    }

    private var answers: [Answer]
    /// The number of conditions at the front that are known to be satisfied.
    private var satisfiedCount = 0

    init(count: Int) { answers = Array(repeating: .open, count: count) }

    /// Notes the answer of a condition, which is nil if it is satisfied.
    mutating func note(_ refusal: OperationError?, at index: Int) {
        answers[index] = refusal.map { .refused($0) } ?? .satisfied
        while satisfiedCount < answers.count, case .satisfied = answers[satisfiedCount] { satisfiedCount += 1 }
    }

    /// True if no answer that is still open can change the result.
    var areDecided: Bool {
        if satisfiedCount == answers.count { return true }
        return if case .refused = answers[satisfiedCount] { true } else { false }
    }

    /// The error of the first condition that refuses; nil if all are satisfied. Read it when the answers are decided.
    var refusal: OperationError? {
        assert(areDecided, "the first condition that refuses is known only when those before it have answered")
        return if satisfiedCount < answers.count, case .refused(let error) = answers[satisfiedCount] { error } else {
            nil
        }
    }
}

/// The result of a condition, or the error that it threw.
private enum EvaluationResult: Sendable {
    case answered(ConditionResult)
    case threw(any Error, condition: String)

    @inline(__always)
    nonisolated(nonsending) static func of(
        _ condition: any OperationCondition, on operation: AnyOperation, after dependency: AnyOperation?
    ) async -> EvaluationResult {
        do {
            return .answered(try await condition.evaluate(for: operation, after: dependency))
        } catch { return .threw(error, condition: condition.name) }
    }

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
    /// Adds exclusions under which a child runs, in addition to its own. Does nothing if the child was added before.
    final func requireExclusions(_ exclusions: [Exclusion]) {
        if exclusions.isEmpty { return }
        withLifecycle { life in
            if life.phase == .created { life.ensureOptionalState().preconditions.add(exclusions) }
        }
    }
}

extension [OperationFailure] {
    /// Returns the error of a cycle that the operation is on, even if it is one of the failures of a group: conditions
    /// that are joined by `and` or `or` have their dependencies in a group.
    fileprivate func firstCycle(through operation: AnyOperation) -> OperationError? {
        var left = Array(reversed())
        while let failure = left.popLast() {
            switch failure.error {
            case .dependencyCycle(let path) where path.contains(operation.reference): return failure.error
            case .groupFailed(let failures): left += failures.reversed()
            default: break
            }
        }
        return nil
    }
}
