/// What to do: a value with one method, and no identity or state of its own. Wrap it in an ``AsyncOperation`` to plan a
/// run.
///
/// A procedure can be run any number of times, by any number of operations at once, and can be called directly in a
/// test: `try await procedure.execute(in: OperationContext())`.
///
/// ``execute(in:)`` is called on a task that belongs to the queue. A type isolated to an actor conforms by writing the
/// isolation before the method: `@MainActor func execute(in context: OperationContext) async throws -> Output`.
public protocol Procedure<Output>: Sendable {
    /// What a run makes.
    associatedtype Output: Sendable

    /// Does the work. What it throws becomes the operation's ``OperationError/failed(_:)``.
    func execute(in context: OperationContext) async throws -> Output
}

/// A ``Procedure`` that takes an input: a literal value, or the output of other operations.
///
/// Several inputs are one tuple, so a procedure with `Input == (Data, Key)` fits `inputs: data, key`.
public protocol InputProcedure<Input, Output>: Sendable {
    /// What a run takes.
    associatedtype Input: Sendable
    /// What a run makes.
    associatedtype Output: Sendable

    /// Does the work on `input`. What it throws becomes the operation's ``OperationError/failed(_:)``.
    func execute(_ input: Input, in context: OperationContext) async throws -> Output
}
