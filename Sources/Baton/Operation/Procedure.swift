/// A unit of work: a value with one method, and no identity or state of its own.
///
/// A procedure can be run any number of times, by any number of operations at once. Wrap it in an ``AsyncOperation`` to
/// plan one run. A test can call it directly: `try await procedure.execute(in: OperationContext())`.
///
/// ```swift
/// struct Download: Procedure {
///     let url: URL
///
///     func execute(in context: OperationContext) async throws -> Data { try await client.data(from: url) }
/// }
///
/// let data = try await queue.run(AsyncOperation(Download(url: url)))
/// ```
///
/// ``execute(in:)`` is called on a task that belongs to the queue. A type isolated to an actor conforms by writing the
/// isolation before the method: `@MainActor func execute(in context: OperationContext) async throws -> Output`.
public protocol Procedure<Output>: Sendable {
    /// The type of the value that a run returns.
    associatedtype Output: Sendable

    /// Does the work, on a task of the queue.
    ///
    /// - Parameter context: The run that calls the procedure, and the means to run further operations.
    /// - Returns: The output of the operation.
    /// - Throws: Any error; it becomes the operation's ``OperationError/failed(_:)``.
    func execute(in context: OperationContext) async throws -> Output
}

/// A ``Procedure`` that takes an input: a literal value, or the outputs of other operations.
///
/// Several inputs are passed as one tuple, so a procedure whose `Input` is `(Data, Key)` fits `inputs: data, key`.
public protocol InputProcedure<Input, Output>: Sendable {
    /// The type of the value that a run takes.
    associatedtype Input: Sendable
    /// The type of the value that a run returns.
    associatedtype Output: Sendable

    /// Does the work on `input`, on a task of the queue.
    ///
    /// - Parameters:
    ///   - input: The literal value, or the outputs of the operations that the input comes from.
    ///   - context: The run that calls the procedure, and the means to run further operations.
    /// - Returns: The output of the operation.
    /// - Throws: Any error; it becomes the operation's ``OperationError/failed(_:)``.
    func execute(_ input: Input, in context: OperationContext) async throws -> Output
}
