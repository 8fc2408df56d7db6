/// The outputs of any number of operations of one type, in the order of the operations. If one has no output, the new
/// operation fails with ``OperationError/dependencyFailed(source:via:cause:)``, naming the first such in this order; of
/// none at all the result is that of an empty array.
extension AsyncOperation {
    /// A new operation with all their outputs.
    public static func collect<Element: Sendable>(
        _ operations: some Sequence<AsyncOperation<Element>>, file: StaticString = #fileID, line: UInt = #line
    ) -> AsyncOperation<[Element]> where Output == [Element] {
        collect(nil, operations).made(by: .collect, file, line)
    }

    /// A new operation with a name and all their outputs.
    @_disfavoredOverload
    public static func collect<Element: Sendable>(
        _ name: String?, _ operations: some Sequence<AsyncOperation<Element>>
    ) -> AsyncOperation<[Element]> where Output == [Element] {
        combine(name, Array(operations)) { outputs in outputs }
    }

    /// A new operation with all their outcomes. It runs when all have finished, whatever became of them.
    public static func collectResults<Element: Sendable>(
        _ operations: some Sequence<AsyncOperation<Element>>, file: StaticString = #fileID, line: UInt = #line
    ) -> AsyncOperation<[Result<Element, OperationError>]> where Output == [Result<Element, OperationError>] {
        collectResults(nil, operations).made(by: .collect, file, line)
    }

    /// A new operation with a name and all their outcomes. It runs when all have finished, whatever became of them.
    @_disfavoredOverload
    public static func collectResults<Element: Sendable>(
        _ name: String?, _ operations: some Sequence<AsyncOperation<Element>>
    ) -> AsyncOperation<[Result<Element, OperationError>]> where Output == [Result<Element, OperationError>] {
        let operations = Array(operations)
        return AsyncOperation(name, procedure: nil, inputs: operations, needed: false) { execution in
            execution.succeed(with: operations.map(\.finishedResult))
        }
    }

    /// A new operation with those of their outputs that `isIncluded` says yes to.
    public static func filter<Element: Sendable>(
        _ operations: some Sequence<AsyncOperation<Element>>,
        _ isIncluded: @escaping @Sendable (Element) throws -> Bool,
        file: StaticString = #fileID, line: UInt = #line
    ) -> AsyncOperation<[Element]> where Output == [Element] {
        filter(nil, operations, isIncluded).made(by: .collect, file, line)
    }

    /// A new operation with a name and those of their outputs that `isIncluded` says yes to.
    @_disfavoredOverload
    public static func filter<Element: Sendable>(
        _ name: String?, _ operations: some Sequence<AsyncOperation<Element>>,
        _ isIncluded: @escaping @Sendable (Element) throws -> Bool
    ) -> AsyncOperation<[Element]> where Output == [Element] {
        combine(name, Array(operations)) { outputs in try outputs.filter(isIncluded) }
    }

    /// A new operation that combines their outputs from the first to the last, beginning with `initial`.
    public static func reduce<Element: Sendable>(
        _ operations: some Sequence<AsyncOperation<Element>>, _ initial: Output,
        _ next: @escaping @Sendable (Output, Element) throws -> Output,
        file: StaticString = #fileID, line: UInt = #line
    ) -> AsyncOperation<Output> {
        reduce(nil, operations, initial, next).made(by: .collect, file, line)
    }

    /// A new operation with a name that combines their outputs from the first to the last, beginning with `initial`.
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
            guard execution.inputsAreThere() else { return }
            do {
                execution.succeed(with: try body(operations.map(\.storedOutput)))
            } catch { execution.bodyThrew(error) }
        }
    }
}
