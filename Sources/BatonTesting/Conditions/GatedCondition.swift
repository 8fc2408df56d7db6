public import Baton

/// A condition that waits for a gate to open, so that a test can hold an operation back.
///
/// ```swift
/// let gate = Gate()
/// operation.addCondition(GatedCondition(gate))
/// queue.add(operation)
/// await gate.waitForWaiters(count: 1)        // the condition is being evaluated
/// operation.cancel()
/// ```
public struct GatedCondition: OperationCondition {
    /// The name of the condition in errors and explanations.
    public let name: String
    private let gate: Gate
    private let answer: ConditionResult

    /// Makes a condition that waits at a gate. If the operation is cancelled, the wait ends with an error.
    ///
    /// - Parameters:
    ///   - gate: The gate that the condition waits for.
    ///   - name: The name of the condition in errors and explanations.
    ///   - answer: The result of the condition when the gate is open.
    public init(_ gate: Gate, name: String = "gate", answer: ConditionResult = .satisfied) {
        self.gate = gate
        self.name = name
        self.answer = answer
    }

    /// Waits for the gate to open, and returns the result that was passed to the initializer.
    ///
    /// - Parameter operation: The operation that the condition decides about. It is not used.
    /// - Throws: `CancellationError` if the task is cancelled while it waits.
    public func evaluate(for operation: AnyOperation) async throws -> ConditionResult {
        try await gate.waitUnlessCancelled()
        return answer
    }
}
