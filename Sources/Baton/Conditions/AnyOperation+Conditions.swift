extension AnyOperation {
    /// Makes the operation run only if `condition` lets it; see ``OperationCondition``.
    ///
    /// ```swift
    /// image.addCondition(.mutuallyExclusive("gpu")).addCondition(EnoughSpace())
    /// ```
    ///
    /// An operation whose dependencies keep it from running (a policy that is not met, an input without an output) does
    /// not ask its conditions. After the add this is ``Misuse`` and changes nothing.
    @discardableResult
    public final func addCondition<Condition: OperationCondition>(
        _ condition: Condition, file: StaticString = #fileID, line: UInt = #line
    ) -> Self {
        // Asked for before locking: it is the user's.
        let exclusions = condition.exclusions
        let rates = condition.wantedRates
        change("a condition", CallSite(file: file, line: line)) { life in
            let optionalState = life.madeOptionalState()
            optionalState.preconditions.add(rates)
            // One that is nothing but a name is held, and not asked; and nothing but a rate is not evaluated.
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

    /// Makes the operation run only if `evaluate` lets it.
    ///
    /// ```swift
    /// upload.addCondition("is signed in") { _ in session.isOpen ? .satisfied : .skip("nobody is signed in") }
    /// ```
    ///
    /// - Parameters:
    ///   - name: What errors and explanations call it.
    ///   - evaluate: Called once, as ``OperationCondition/evaluate(for:)`` is, with this operation. What it throws
    ///     becomes ``OperationError/conditionFailed(condition:cause:)``.
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

    /// Apart, so that returning `self` costs nothing where nobody wants it.
    @usableFromInline
    final func addCondition(
        called name: String, _ file: StaticString, _ line: UInt,
        _ evaluate: nonisolated(nonsending) @escaping @Sendable (AnyOperation) async throws -> ConditionResult
    ) {
        change("a condition", CallSite(file: file, line: line)) { life in
            life.inMadeOptionalState {
                $0.preconditions.add(.closure(ClosureCondition(name: name, body: evaluate)), [])
            }
        }
    }
}
