/// New operations that take the outputs of any number of operations of one type, in the order of these operations.
///
/// If an operation has no output, the new operation fails with ``OperationError/dependencyFailed(source:via:cause:)``,
/// which names the first such operation in this order. The result for no operations at all is that for an empty array.
extension AsyncOperation {
    /// Makes an operation whose output is the array of the outputs of all `operations`.
    ///
    /// ```swift
    /// let pages = AsyncOperation.collect(urls.map { AsyncOperation(Download($0)) })
    /// ```
    ///
    /// The new operation fails if one of `operations` has no output.
    ///
    /// - Parameter operations: The operations, which become dependencies of the new operation.
    /// - Returns: The new operation.
    /// - Complexity: O(n) for n operations.
    public static func collect<Element: Sendable>(
        _ operations: some Sequence<AsyncOperation<Element>>, file: StaticString = #fileID, line: UInt = #line
    ) -> AsyncOperation<[Element]> where Output == [Element] {
        collect(nil, operations).recordOrigin(step: .collect, file, line)
    }

    /// Makes an operation with a name whose output is the array of the outputs of all `operations`.
    ///
    /// The new operation fails if one of `operations` has no output.
    ///
    /// - Parameters:
    ///   - name: The name that errors and explanations use for the operation.
    ///   - operations: The operations, which become dependencies of the new operation.
    /// - Returns: The new operation.
    /// - Complexity: O(n) for n operations.
    @_disfavoredOverload
    public static func collect<Element: Sendable>(
        _ name: String?, _ operations: some Sequence<AsyncOperation<Element>>
    ) -> AsyncOperation<[Element]> where Output == [Element] {
        combine(name, Array(operations)) { outputs in outputs }
    }

    /// Makes an operation whose output is the array of the outcomes of all `operations`.
    ///
    /// The new operation runs when all of `operations` have finished, whatever their outcomes.
    ///
    /// - Parameter operations: The operations, which become dependencies of the new operation.
    /// - Returns: The new operation.
    /// - Complexity: O(n) for n operations.
    public static func collectResults<Element: Sendable>(
        _ operations: some Sequence<AsyncOperation<Element>>, file: StaticString = #fileID, line: UInt = #line
    ) -> AsyncOperation<[Result<Element, OperationError>]> where Output == [Result<Element, OperationError>] {
        collectResults(nil, operations).recordOrigin(step: .collectResults, file, line)
    }

    /// Makes an operation with a name whose output is the array of the outcomes of all `operations`.
    ///
    /// The new operation runs when all of `operations` have finished, whatever their outcomes.
    ///
    /// - Parameters:
    ///   - name: The name that errors and explanations use for the operation.
    ///   - operations: The operations, which become dependencies of the new operation.
    /// - Returns: The new operation.
    /// - Complexity: O(n) for n operations.
    @_disfavoredOverload
    public static func collectResults<Element: Sendable>(
        _ name: String?, _ operations: some Sequence<AsyncOperation<Element>>
    ) -> AsyncOperation<[Result<Element, OperationError>]> where Output == [Result<Element, OperationError>] {
        let operations = Array(operations)
        return AsyncOperation(name, procedure: nil, inputs: operations, requiresInputOutputs: false) { execution in
            execution.succeed(with: operations.map(\.finishedResult))
        }
    }

    /// Makes an operation whose output is the array of those outputs of `operations` that satisfy a predicate.
    ///
    /// The new operation fails if one of `operations` has no output.
    ///
    /// - Parameters:
    ///   - operations: The operations, which become dependencies of the new operation.
    ///   - isIncluded: Called with each output, on a task of the queue. An error that it throws fails the new
    ///     operation.
    /// - Returns: The new operation.
    /// - Complexity: O(n) for n operations.
    public static func filter<Element: Sendable>(
        _ operations: some Sequence<AsyncOperation<Element>>,
        _ isIncluded: @escaping @Sendable (Element) throws -> Bool,
        file: StaticString = #fileID, line: UInt = #line
    ) -> AsyncOperation<[Element]> where Output == [Element] {
        filter(nil, operations, isIncluded).recordOrigin(step: .filter, file, line)
    }

    /// Makes an operation with a name whose output is the array of those outputs of `operations` that satisfy a
    /// predicate.
    ///
    /// The new operation fails if one of `operations` has no output.
    ///
    /// - Parameters:
    ///   - name: The name that errors and explanations use for the operation.
    ///   - operations: The operations, which become dependencies of the new operation.
    ///   - isIncluded: Called with each output, on a task of the queue. An error that it throws fails the new
    ///     operation.
    /// - Returns: The new operation.
    /// - Complexity: O(n) for n operations.
    @_disfavoredOverload
    public static func filter<Element: Sendable>(
        _ name: String?, _ operations: some Sequence<AsyncOperation<Element>>,
        _ isIncluded: @escaping @Sendable (Element) throws -> Bool
    ) -> AsyncOperation<[Element]> where Output == [Element] {
        combine(name, Array(operations)) { outputs in try outputs.filter(isIncluded) }
    }

    /// Makes an operation that combines the outputs of `operations` from the first to the last, beginning with
    /// `initial`.
    ///
    /// The new operation fails if one of `operations` has no output.
    ///
    /// - Parameters:
    ///   - operations: The operations, which become dependencies of the new operation.
    ///   - initial: The value that is combined with the first output; the result if there are no operations.
    ///   - next: Called with each output, on a task of the queue. An error that it throws fails the new operation.
    /// - Returns: The new operation.
    /// - Complexity: O(n) for n operations.
    public static func reduce<Element: Sendable>(
        _ operations: some Sequence<AsyncOperation<Element>>, _ initial: Output,
        _ next: @escaping @Sendable (Output, Element) throws -> Output,
        file: StaticString = #fileID, line: UInt = #line
    ) -> AsyncOperation<Output> {
        reduce(nil, operations, initial, next).recordOrigin(step: .reduce, file, line)
    }

    /// Makes an operation with a name that combines the outputs of `operations` in their order, beginning with
    /// `initial`.
    ///
    /// The new operation fails if one of `operations` has no output.
    ///
    /// - Parameters:
    ///   - name: The name that errors and explanations use for the operation.
    ///   - operations: The operations, which become dependencies of the new operation.
    ///   - initial: The value that is combined with the first output; the result if there are no operations.
    ///   - next: Called with each output, on a task of the queue. An error that it throws fails the new operation.
    /// - Returns: The new operation.
    /// - Complexity: O(n) for n operations.
    @_disfavoredOverload
    public static func reduce<Element: Sendable>(
        _ name: String?, _ operations: some Sequence<AsyncOperation<Element>>, _ initial: Output,
        _ next: @escaping @Sendable (Output, Element) throws -> Output
    ) -> AsyncOperation<Output> {
        combine(name, Array(operations)) { outputs in try outputs.reduce(initial, next) }
    }

    private static func combine<Element>(
        _ name: String?, _ operations: [AsyncOperation<Element>],
        _ body: @escaping @Sendable ([Element]) throws -> Output
    ) -> AsyncOperation<Output> {
        AsyncOperation(name, procedure: nil, inputs: operations) { execution in
            guard execution.checkInputs() else { return }
            do {
                execution.succeed(with: try body(operations.map(\.storedOutput)))
            } catch { execution.bodyThrew(error) }
        }
    }
}
