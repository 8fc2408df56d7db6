extension AnyOperation {
    /// Makes the operation run only if `condition` is satisfied.
    ///
    /// ```swift
    /// image.addCondition(.mutuallyExclusive("gpu")).addCondition(EnoughSpace())
    /// ```
    ///
    /// If the dependencies of an operation keep it from running (a policy is not met, or an input has no output), its
    /// conditions are not evaluated. A call after the add is ``Misuse`` and changes nothing.
    ///
    /// - Parameter condition: The condition to add. See ``OperationCondition`` for when and where it is evaluated.
    /// - Returns: This operation.
    @discardableResult
    public final func addCondition<Condition: OperationCondition>(
        _ condition: Condition, file: StaticString = #fileID, line: UInt = #line
    ) -> Self {
        // The condition is the user's code, so it is asked before locking.
        let exclusions = condition.exclusions
        let rates = condition.wantedRates
        change("a condition", CallSite(file: file, line: line)) { life in
            let optionalState = life.ensureOptionalState()
            optionalState.preconditions.add(rates)
            // An `Exclusion` is acquired and a `Rate` is counted. Neither is evaluated.
            if Condition.self == Exclusion.self {
                optionalState.preconditions.add(exclusions)
            } else if Condition.self == Rate.self {
                return
            } else if exclusions.isEmpty {
                optionalState.preconditions.add(.object(BoxedCondition(base: condition)), [])
            } else {
                let boxed = BoxedExclusiveCondition(base: condition, exclusions: exclusions)
                optionalState.preconditions.add(.object(boxed), exclusions)
            }
        }
        return self
    }

    /// Makes the operation run only if `evaluate` returns ``ConditionResult/satisfied``.
    ///
    /// ```swift
    /// upload.addCondition("is signed in") { _ in session.isOpen ? .satisfied : .skip("nobody is signed in") }
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name of the condition in errors and explanations.
    ///   - evaluate: Called once, on the same task as ``OperationCondition/evaluate(for:)`` would be, with this
    ///     operation. An error that it throws becomes ``OperationError/conditionFailed(condition:cause:)``.
    /// - Returns: This operation.
    @discardableResult
    @inlinable
    public final func addCondition(
        _ name: String, file: StaticString = #fileID, line: UInt = #line,
        _ evaluate:
            nonisolated(nonsending) @escaping @Sendable (_ operation: AnyOperation) async throws -> ConditionResult
    ) -> Self {
        addCondition(called: name, file, line, evaluate)
        return self
    }

    /// Adds the condition. The inlinable function that calls this returns the operation, so that a caller which
    /// discards the result does not retain it.
    @usableFromInline
    final func addCondition(
        called name: String, _ file: StaticString, _ line: UInt,
        _ evaluate: nonisolated(nonsending) @escaping @Sendable (AnyOperation) async throws -> ConditionResult
    ) {
        change("a condition", CallSite(file: file, line: line)) { life in
            life.withEnsuredOptionalState {
                $0.preconditions.add(.closure(ClosureCondition(name: name, body: evaluate)), [])
            }
        }
    }
}
