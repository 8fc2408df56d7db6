public import Baton

/// A condition that answers when a gate opens: holds an operation back for as long as a test likes.
///
/// ```swift
/// let gate = Gate()
/// operation.addCondition(GatedCondition(gate))
/// queue.add(operation)
/// await gate.waitForWaiters(count: 1)        // it is being evaluated
/// operation.cancel()
/// ```
public struct GatedCondition: OperationCondition {
    /// What errors and explanations call it.
    public let name: String
    private let gate: Gate
    private let answer: ConditionResult

    /// Makes a condition that waits at `gate`, and then answers `answer`. A cancel ends the wait with an error.
    public init(_ gate: Gate, name: String = "gate", answer: ConditionResult = .satisfied) {
        self.gate = gate
        self.name = name
        self.answer = answer
    }

    /// Waits, and answers.
    public func evaluate(for operation: AnyOperation) async throws -> ConditionResult {
        try await gate.waitUnlessCancelled()
        return answer
    }
}
