// Written by scripts/generate-inputs.

/// Operations that take the outputs of two to eight other operations as their inputs.
extension AsyncOperation {
    /// Plans one run of a procedure on the outputs of two operations, which become dependencies.
    ///
    /// If one of them has no output, the procedure does not run, and the new operation fails with
    /// ``OperationError/dependencyFailed(source:via:cause:)``. The error names the first such operation in the order of
    /// the parameters.
    ///
    /// - Parameters:
    ///   - procedure: Its `execute(_:in:)` is called at most once, on a task of the queue.
    ///   - first: The operation whose output is the first value of the procedure's input.
    ///   - second: The operation whose output is the second value of the procedure's input.
    public convenience init<P: InputProcedure, First, Second>(
        _ procedure: P, inputs first: AsyncOperation<First>, _ second: AsyncOperation<Second>
    ) where P.Input == (First, Second), P.Output == Output {
        self.init(nil, procedure, inputs: first, second)
    }

    /// Plans one run of a procedure, with a name, on the outputs of two operations, which become dependencies.
    ///
    /// If one of them has no output, the procedure does not run, and the new operation fails with
    /// ``OperationError/dependencyFailed(source:via:cause:)``. The error names the first such operation in the order of
    /// the parameters.
    ///
    /// - Parameters:
    ///   - name: The name that errors and explanations use; nil for the procedure's type.
    ///   - procedure: Its `execute(_:in:)` is called at most once, on a task of the queue.
    ///   - first: The operation whose output is the first value of the procedure's input.
    ///   - second: The operation whose output is the second value of the procedure's input.
    @_disfavoredOverload
    public convenience init<P: InputProcedure, First, Second>(
        _ name: String?, _ procedure: P, inputs first: AsyncOperation<First>, _ second: AsyncOperation<Second>
    ) where P.Input == (First, Second), P.Output == Output {
        self.init(name, procedure: P.self, inputs: [first, second]) { execution in
            guard execution.checkInputs() else { return }
            do {
                let input = (first.storedOutput, second.storedOutput)
                execution.succeed(with: try await procedure.execute(input, in: OperationContext(execution)))
            } catch { execution.bodyThrew(error) }
        }
    }

    /// Plans one run of a procedure on the outputs of three operations, which become dependencies.
    ///
    /// If one of them has no output, the procedure does not run, and the new operation fails with
    /// ``OperationError/dependencyFailed(source:via:cause:)``. The error names the first such operation in the order of
    /// the parameters.
    ///
    /// - Parameters:
    ///   - procedure: Its `execute(_:in:)` is called at most once, on a task of the queue.
    ///   - first: The operation whose output is the first value of the procedure's input.
    ///   - second: The operation whose output is the second value of the procedure's input.
    ///   - third: The operation whose output is the third value of the procedure's input.
    public convenience init<P: InputProcedure, First, Second, Third>(
        _ procedure: P, inputs first: AsyncOperation<First>, _ second: AsyncOperation<Second>,
        _ third: AsyncOperation<Third>
    ) where P.Input == (First, Second, Third), P.Output == Output {
        self.init(nil, procedure, inputs: first, second, third)
    }

    /// Plans one run of a procedure, with a name, on the outputs of three operations, which become dependencies.
    ///
    /// If one of them has no output, the procedure does not run, and the new operation fails with
    /// ``OperationError/dependencyFailed(source:via:cause:)``. The error names the first such operation in the order of
    /// the parameters.
    ///
    /// - Parameters:
    ///   - name: The name that errors and explanations use; nil for the procedure's type.
    ///   - procedure: Its `execute(_:in:)` is called at most once, on a task of the queue.
    ///   - first: The operation whose output is the first value of the procedure's input.
    ///   - second: The operation whose output is the second value of the procedure's input.
    ///   - third: The operation whose output is the third value of the procedure's input.
    @_disfavoredOverload
    public convenience init<P: InputProcedure, First, Second, Third>(
        _ name: String?, _ procedure: P, inputs first: AsyncOperation<First>, _ second: AsyncOperation<Second>,
        _ third: AsyncOperation<Third>
    ) where P.Input == (First, Second, Third), P.Output == Output {
        self.init(name, procedure: P.self, inputs: [first, second, third]) { execution in
            guard execution.checkInputs() else { return }
            do {
                let input = (first.storedOutput, second.storedOutput, third.storedOutput)
                execution.succeed(with: try await procedure.execute(input, in: OperationContext(execution)))
            } catch { execution.bodyThrew(error) }
        }
    }

    /// Plans one run of a procedure on the outputs of four operations, which become dependencies.
    ///
    /// If one of them has no output, the procedure does not run, and the new operation fails with
    /// ``OperationError/dependencyFailed(source:via:cause:)``. The error names the first such operation in the order of
    /// the parameters.
    ///
    /// - Parameters:
    ///   - procedure: Its `execute(_:in:)` is called at most once, on a task of the queue.
    ///   - first: The operation whose output is the first value of the procedure's input.
    ///   - second: The operation whose output is the second value of the procedure's input.
    ///   - third: The operation whose output is the third value of the procedure's input.
    ///   - fourth: The operation whose output is the fourth value of the procedure's input.
    public convenience init<P: InputProcedure, First, Second, Third, Fourth>(
        _ procedure: P, inputs first: AsyncOperation<First>, _ second: AsyncOperation<Second>,
        _ third: AsyncOperation<Third>, _ fourth: AsyncOperation<Fourth>
    ) where P.Input == (First, Second, Third, Fourth), P.Output == Output {
        self.init(nil, procedure, inputs: first, second, third, fourth)
    }

    /// Plans one run of a procedure, with a name, on the outputs of four operations, which become dependencies.
    ///
    /// If one of them has no output, the procedure does not run, and the new operation fails with
    /// ``OperationError/dependencyFailed(source:via:cause:)``. The error names the first such operation in the order of
    /// the parameters.
    ///
    /// - Parameters:
    ///   - name: The name that errors and explanations use; nil for the procedure's type.
    ///   - procedure: Its `execute(_:in:)` is called at most once, on a task of the queue.
    ///   - first: The operation whose output is the first value of the procedure's input.
    ///   - second: The operation whose output is the second value of the procedure's input.
    ///   - third: The operation whose output is the third value of the procedure's input.
    ///   - fourth: The operation whose output is the fourth value of the procedure's input.
    @_disfavoredOverload
    public convenience init<P: InputProcedure, First, Second, Third, Fourth>(
        _ name: String?, _ procedure: P, inputs first: AsyncOperation<First>, _ second: AsyncOperation<Second>,
        _ third: AsyncOperation<Third>, _ fourth: AsyncOperation<Fourth>
    ) where P.Input == (First, Second, Third, Fourth), P.Output == Output {
        self.init(name, procedure: P.self, inputs: [first, second, third, fourth]) { execution in
            guard execution.checkInputs() else { return }
            do {
                let input = (first.storedOutput, second.storedOutput, third.storedOutput, fourth.storedOutput)
                execution.succeed(with: try await procedure.execute(input, in: OperationContext(execution)))
            } catch { execution.bodyThrew(error) }
        }
    }

    /// Plans one run of a procedure on the outputs of five operations, which become dependencies.
    ///
    /// If one of them has no output, the procedure does not run, and the new operation fails with
    /// ``OperationError/dependencyFailed(source:via:cause:)``. The error names the first such operation in the order of
    /// the parameters.
    ///
    /// - Parameters:
    ///   - procedure: Its `execute(_:in:)` is called at most once, on a task of the queue.
    ///   - first: The operation whose output is the first value of the procedure's input.
    ///   - second: The operation whose output is the second value of the procedure's input.
    ///   - third: The operation whose output is the third value of the procedure's input.
    ///   - fourth: The operation whose output is the fourth value of the procedure's input.
    ///   - fifth: The operation whose output is the fifth value of the procedure's input.
    public convenience init<P: InputProcedure, First, Second, Third, Fourth, Fifth>(
        _ procedure: P, inputs first: AsyncOperation<First>, _ second: AsyncOperation<Second>,
        _ third: AsyncOperation<Third>, _ fourth: AsyncOperation<Fourth>, _ fifth: AsyncOperation<Fifth>
    ) where P.Input == (First, Second, Third, Fourth, Fifth), P.Output == Output {
        self.init(nil, procedure, inputs: first, second, third, fourth, fifth)
    }

    /// Plans one run of a procedure, with a name, on the outputs of five operations, which become dependencies.
    ///
    /// If one of them has no output, the procedure does not run, and the new operation fails with
    /// ``OperationError/dependencyFailed(source:via:cause:)``. The error names the first such operation in the order of
    /// the parameters.
    ///
    /// - Parameters:
    ///   - name: The name that errors and explanations use; nil for the procedure's type.
    ///   - procedure: Its `execute(_:in:)` is called at most once, on a task of the queue.
    ///   - first: The operation whose output is the first value of the procedure's input.
    ///   - second: The operation whose output is the second value of the procedure's input.
    ///   - third: The operation whose output is the third value of the procedure's input.
    ///   - fourth: The operation whose output is the fourth value of the procedure's input.
    ///   - fifth: The operation whose output is the fifth value of the procedure's input.
    @_disfavoredOverload
    public convenience init<P: InputProcedure, First, Second, Third, Fourth, Fifth>(
        _ name: String?, _ procedure: P, inputs first: AsyncOperation<First>, _ second: AsyncOperation<Second>,
        _ third: AsyncOperation<Third>, _ fourth: AsyncOperation<Fourth>, _ fifth: AsyncOperation<Fifth>
    ) where P.Input == (First, Second, Third, Fourth, Fifth), P.Output == Output {
        self.init(name, procedure: P.self, inputs: [first, second, third, fourth, fifth]) { execution in
            guard execution.checkInputs() else { return }
            do {
                let input = (
                    first.storedOutput, second.storedOutput, third.storedOutput, fourth.storedOutput, fifth.storedOutput
                )
                execution.succeed(with: try await procedure.execute(input, in: OperationContext(execution)))
            } catch { execution.bodyThrew(error) }
        }
    }

    /// Plans one run of a procedure on the outputs of six operations, which become dependencies.
    ///
    /// If one of them has no output, the procedure does not run, and the new operation fails with
    /// ``OperationError/dependencyFailed(source:via:cause:)``. The error names the first such operation in the order of
    /// the parameters.
    ///
    /// - Parameters:
    ///   - procedure: Its `execute(_:in:)` is called at most once, on a task of the queue.
    ///   - first: The operation whose output is the first value of the procedure's input.
    ///   - second: The operation whose output is the second value of the procedure's input.
    ///   - third: The operation whose output is the third value of the procedure's input.
    ///   - fourth: The operation whose output is the fourth value of the procedure's input.
    ///   - fifth: The operation whose output is the fifth value of the procedure's input.
    ///   - sixth: The operation whose output is the sixth value of the procedure's input.
    public convenience init<P: InputProcedure, First, Second, Third, Fourth, Fifth, Sixth>(
        _ procedure: P, inputs first: AsyncOperation<First>, _ second: AsyncOperation<Second>,
        _ third: AsyncOperation<Third>, _ fourth: AsyncOperation<Fourth>, _ fifth: AsyncOperation<Fifth>,
        _ sixth: AsyncOperation<Sixth>
    ) where P.Input == (First, Second, Third, Fourth, Fifth, Sixth), P.Output == Output {
        self.init(nil, procedure, inputs: first, second, third, fourth, fifth, sixth)
    }

    /// Plans one run of a procedure, with a name, on the outputs of six operations, which become dependencies.
    ///
    /// If one of them has no output, the procedure does not run, and the new operation fails with
    /// ``OperationError/dependencyFailed(source:via:cause:)``. The error names the first such operation in the order of
    /// the parameters.
    ///
    /// - Parameters:
    ///   - name: The name that errors and explanations use; nil for the procedure's type.
    ///   - procedure: Its `execute(_:in:)` is called at most once, on a task of the queue.
    ///   - first: The operation whose output is the first value of the procedure's input.
    ///   - second: The operation whose output is the second value of the procedure's input.
    ///   - third: The operation whose output is the third value of the procedure's input.
    ///   - fourth: The operation whose output is the fourth value of the procedure's input.
    ///   - fifth: The operation whose output is the fifth value of the procedure's input.
    ///   - sixth: The operation whose output is the sixth value of the procedure's input.
    @_disfavoredOverload
    public convenience init<P: InputProcedure, First, Second, Third, Fourth, Fifth, Sixth>(
        _ name: String?, _ procedure: P, inputs first: AsyncOperation<First>, _ second: AsyncOperation<Second>,
        _ third: AsyncOperation<Third>, _ fourth: AsyncOperation<Fourth>, _ fifth: AsyncOperation<Fifth>,
        _ sixth: AsyncOperation<Sixth>
    ) where P.Input == (First, Second, Third, Fourth, Fifth, Sixth), P.Output == Output {
        self.init(name, procedure: P.self, inputs: [first, second, third, fourth, fifth, sixth]) { execution in
            guard execution.checkInputs() else { return }
            do {
                let input = (
                    first.storedOutput, second.storedOutput, third.storedOutput, fourth.storedOutput,
                    fifth.storedOutput, sixth.storedOutput
                )
                execution.succeed(with: try await procedure.execute(input, in: OperationContext(execution)))
            } catch { execution.bodyThrew(error) }
        }
    }

    /// Plans one run of a procedure on the outputs of seven operations, which become dependencies.
    ///
    /// If one of them has no output, the procedure does not run, and the new operation fails with
    /// ``OperationError/dependencyFailed(source:via:cause:)``. The error names the first such operation in the order of
    /// the parameters.
    ///
    /// - Parameters:
    ///   - procedure: Its `execute(_:in:)` is called at most once, on a task of the queue.
    ///   - first: The operation whose output is the first value of the procedure's input.
    ///   - second: The operation whose output is the second value of the procedure's input.
    ///   - third: The operation whose output is the third value of the procedure's input.
    ///   - fourth: The operation whose output is the fourth value of the procedure's input.
    ///   - fifth: The operation whose output is the fifth value of the procedure's input.
    ///   - sixth: The operation whose output is the sixth value of the procedure's input.
    ///   - seventh: The operation whose output is the seventh value of the procedure's input.
    public convenience init<P: InputProcedure, First, Second, Third, Fourth, Fifth, Sixth, Seventh>(
        _ procedure: P, inputs first: AsyncOperation<First>, _ second: AsyncOperation<Second>,
        _ third: AsyncOperation<Third>, _ fourth: AsyncOperation<Fourth>, _ fifth: AsyncOperation<Fifth>,
        _ sixth: AsyncOperation<Sixth>, _ seventh: AsyncOperation<Seventh>
    ) where P.Input == (First, Second, Third, Fourth, Fifth, Sixth, Seventh), P.Output == Output {
        self.init(nil, procedure, inputs: first, second, third, fourth, fifth, sixth, seventh)
    }

    /// Plans one run of a procedure, with a name, on the outputs of seven operations, which become dependencies.
    ///
    /// If one of them has no output, the procedure does not run, and the new operation fails with
    /// ``OperationError/dependencyFailed(source:via:cause:)``. The error names the first such operation in the order of
    /// the parameters.
    ///
    /// - Parameters:
    ///   - name: The name that errors and explanations use; nil for the procedure's type.
    ///   - procedure: Its `execute(_:in:)` is called at most once, on a task of the queue.
    ///   - first: The operation whose output is the first value of the procedure's input.
    ///   - second: The operation whose output is the second value of the procedure's input.
    ///   - third: The operation whose output is the third value of the procedure's input.
    ///   - fourth: The operation whose output is the fourth value of the procedure's input.
    ///   - fifth: The operation whose output is the fifth value of the procedure's input.
    ///   - sixth: The operation whose output is the sixth value of the procedure's input.
    ///   - seventh: The operation whose output is the seventh value of the procedure's input.
    @_disfavoredOverload
    public convenience init<P: InputProcedure, First, Second, Third, Fourth, Fifth, Sixth, Seventh>(
        _ name: String?, _ procedure: P, inputs first: AsyncOperation<First>, _ second: AsyncOperation<Second>,
        _ third: AsyncOperation<Third>, _ fourth: AsyncOperation<Fourth>, _ fifth: AsyncOperation<Fifth>,
        _ sixth: AsyncOperation<Sixth>, _ seventh: AsyncOperation<Seventh>
    ) where P.Input == (First, Second, Third, Fourth, Fifth, Sixth, Seventh), P.Output == Output {
        self.init(name, procedure: P.self, inputs: [first, second, third, fourth, fifth, sixth, seventh]) { execution in
            guard execution.checkInputs() else { return }
            do {
                let input = (
                    first.storedOutput, second.storedOutput, third.storedOutput, fourth.storedOutput,
                    fifth.storedOutput, sixth.storedOutput, seventh.storedOutput
                )
                execution.succeed(with: try await procedure.execute(input, in: OperationContext(execution)))
            } catch { execution.bodyThrew(error) }
        }
    }

    /// Plans one run of a procedure on the outputs of eight operations, which become dependencies.
    ///
    /// If one of them has no output, the procedure does not run, and the new operation fails with
    /// ``OperationError/dependencyFailed(source:via:cause:)``. The error names the first such operation in the order of
    /// the parameters.
    ///
    /// - Parameters:
    ///   - procedure: Its `execute(_:in:)` is called at most once, on a task of the queue.
    ///   - first: The operation whose output is the first value of the procedure's input.
    ///   - second: The operation whose output is the second value of the procedure's input.
    ///   - third: The operation whose output is the third value of the procedure's input.
    ///   - fourth: The operation whose output is the fourth value of the procedure's input.
    ///   - fifth: The operation whose output is the fifth value of the procedure's input.
    ///   - sixth: The operation whose output is the sixth value of the procedure's input.
    ///   - seventh: The operation whose output is the seventh value of the procedure's input.
    ///   - eighth: The operation whose output is the eighth value of the procedure's input.
    public convenience init<P: InputProcedure, First, Second, Third, Fourth, Fifth, Sixth, Seventh, Eighth>(
        _ procedure: P, inputs first: AsyncOperation<First>, _ second: AsyncOperation<Second>,
        _ third: AsyncOperation<Third>, _ fourth: AsyncOperation<Fourth>, _ fifth: AsyncOperation<Fifth>,
        _ sixth: AsyncOperation<Sixth>, _ seventh: AsyncOperation<Seventh>, _ eighth: AsyncOperation<Eighth>
    ) where P.Input == (First, Second, Third, Fourth, Fifth, Sixth, Seventh, Eighth), P.Output == Output {
        self.init(nil, procedure, inputs: first, second, third, fourth, fifth, sixth, seventh, eighth)
    }

    /// Plans one run of a procedure, with a name, on the outputs of eight operations, which become dependencies.
    ///
    /// If one of them has no output, the procedure does not run, and the new operation fails with
    /// ``OperationError/dependencyFailed(source:via:cause:)``. The error names the first such operation in the order of
    /// the parameters.
    ///
    /// - Parameters:
    ///   - name: The name that errors and explanations use; nil for the procedure's type.
    ///   - procedure: Its `execute(_:in:)` is called at most once, on a task of the queue.
    ///   - first: The operation whose output is the first value of the procedure's input.
    ///   - second: The operation whose output is the second value of the procedure's input.
    ///   - third: The operation whose output is the third value of the procedure's input.
    ///   - fourth: The operation whose output is the fourth value of the procedure's input.
    ///   - fifth: The operation whose output is the fifth value of the procedure's input.
    ///   - sixth: The operation whose output is the sixth value of the procedure's input.
    ///   - seventh: The operation whose output is the seventh value of the procedure's input.
    ///   - eighth: The operation whose output is the eighth value of the procedure's input.
    @_disfavoredOverload
    public convenience init<P: InputProcedure, First, Second, Third, Fourth, Fifth, Sixth, Seventh, Eighth>(
        _ name: String?, _ procedure: P, inputs first: AsyncOperation<First>, _ second: AsyncOperation<Second>,
        _ third: AsyncOperation<Third>, _ fourth: AsyncOperation<Fourth>, _ fifth: AsyncOperation<Fifth>,
        _ sixth: AsyncOperation<Sixth>, _ seventh: AsyncOperation<Seventh>, _ eighth: AsyncOperation<Eighth>
    ) where P.Input == (First, Second, Third, Fourth, Fifth, Sixth, Seventh, Eighth), P.Output == Output {
        self.init(name, procedure: P.self, inputs: [first, second, third, fourth, fifth, sixth, seventh, eighth]) {
            execution in
            guard execution.checkInputs() else { return }
            do {
                let input = (
                    first.storedOutput, second.storedOutput, third.storedOutput, fourth.storedOutput,
                    fifth.storedOutput, sixth.storedOutput, seventh.storedOutput, eighth.storedOutput
                )
                execution.succeed(with: try await procedure.execute(input, in: OperationContext(execution)))
            } catch { execution.bodyThrew(error) }
        }
    }

    /// Makes an operation from a closure that takes the outputs of two operations.
    ///
    /// The operations become dependencies. If one of them has no output, the closure is not called, and the new
    /// operation fails with ``OperationError/dependencyFailed(source:via:cause:)``. The error names the first such
    /// operation in the order of the parameters.
    ///
    /// - Parameters:
    ///   - first: The operation whose output is the first argument of the closure.
    ///   - second: The operation whose output is the second argument of the closure.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    @_disfavoredOverload
    public convenience init<First: Sendable, Second: Sendable>(
        _ first: AsyncOperation<First>, _ second: AsyncOperation<Second>,
        _ body: nonisolated(nonsending) @escaping @Sendable (First, Second) async throws -> Output,
        file: StaticString = #fileID, line: UInt = #line
    ) {
        self.init(nil, first, second, body)
        recordOrigin(file, line)
    }

    /// Makes an operation with a name from a closure that takes the outputs of two operations.
    ///
    /// The operations become dependencies. If one of them has no output, the closure is not called, and the new
    /// operation fails with ``OperationError/dependencyFailed(source:via:cause:)``. The error names the first such
    /// operation in the order of the parameters.
    ///
    /// - Parameters:
    ///   - name: The name that errors and explanations use for the operation.
    ///   - first: The operation whose output is the first argument of the closure.
    ///   - second: The operation whose output is the second argument of the closure.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    public convenience init<First: Sendable, Second: Sendable>(
        _ name: String?, _ first: AsyncOperation<First>, _ second: AsyncOperation<Second>,
        _ body: nonisolated(nonsending) @escaping @Sendable (First, Second) async throws -> Output
    ) {
        self.init(name, procedure: nil, inputs: [first, second]) { execution in
            guard execution.checkInputs() else { return }
            do {
                execution.succeed(with: try await body(first.storedOutput, second.storedOutput))
            } catch { execution.bodyThrew(error) }
        }
    }

    /// Makes an operation from a closure that takes the outputs of two operations, and its own context.
    ///
    /// The operations become dependencies. If one of them has no output, the closure is not called, and the new
    /// operation fails with ``OperationError/dependencyFailed(source:via:cause:)``. The error names the first such
    /// operation in the order of the parameters.
    ///
    /// - Parameters:
    ///   - first: The operation whose output is the first argument of the closure.
    ///   - second: The operation whose output is the second argument of the closure.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    @_disfavoredOverload
    public convenience init<First: Sendable, Second: Sendable>(
        _ first: AsyncOperation<First>, _ second: AsyncOperation<Second>,
        _ body: nonisolated(nonsending) @escaping @Sendable (First, Second, OperationContext) async throws -> Output,
        file: StaticString = #fileID, line: UInt = #line
    ) {
        self.init(nil, first, second, body)
        recordOrigin(file, line)
    }

    /// Makes an operation with a name from a closure that takes the outputs of two operations, and its own context.
    ///
    /// The operations become dependencies. If one of them has no output, the closure is not called, and the new
    /// operation fails with ``OperationError/dependencyFailed(source:via:cause:)``. The error names the first such
    /// operation in the order of the parameters.
    ///
    /// - Parameters:
    ///   - name: The name that errors and explanations use for the operation.
    ///   - first: The operation whose output is the first argument of the closure.
    ///   - second: The operation whose output is the second argument of the closure.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    public convenience init<First: Sendable, Second: Sendable>(
        _ name: String?, _ first: AsyncOperation<First>, _ second: AsyncOperation<Second>,
        _ body: nonisolated(nonsending) @escaping @Sendable (First, Second, OperationContext) async throws -> Output
    ) {
        self.init(name, procedure: nil, inputs: [first, second]) { execution in
            guard execution.checkInputs() else { return }
            do {
                execution.succeed(
                    with: try await body(first.storedOutput, second.storedOutput, OperationContext(execution)))
            } catch { execution.bodyThrew(error) }
        }
    }

    /// Makes an operation from a closure that takes the outputs of three operations.
    ///
    /// The operations become dependencies. If one of them has no output, the closure is not called, and the new
    /// operation fails with ``OperationError/dependencyFailed(source:via:cause:)``. The error names the first such
    /// operation in the order of the parameters.
    ///
    /// - Parameters:
    ///   - first: The operation whose output is the first argument of the closure.
    ///   - second: The operation whose output is the second argument of the closure.
    ///   - third: The operation whose output is the third argument of the closure.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    @_disfavoredOverload
    public convenience init<First: Sendable, Second: Sendable, Third: Sendable>(
        _ first: AsyncOperation<First>, _ second: AsyncOperation<Second>, _ third: AsyncOperation<Third>,
        _ body: nonisolated(nonsending) @escaping @Sendable (First, Second, Third) async throws -> Output,
        file: StaticString = #fileID, line: UInt = #line
    ) {
        self.init(nil, first, second, third, body)
        recordOrigin(file, line)
    }

    /// Makes an operation with a name from a closure that takes the outputs of three operations.
    ///
    /// The operations become dependencies. If one of them has no output, the closure is not called, and the new
    /// operation fails with ``OperationError/dependencyFailed(source:via:cause:)``. The error names the first such
    /// operation in the order of the parameters.
    ///
    /// - Parameters:
    ///   - name: The name that errors and explanations use for the operation.
    ///   - first: The operation whose output is the first argument of the closure.
    ///   - second: The operation whose output is the second argument of the closure.
    ///   - third: The operation whose output is the third argument of the closure.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    public convenience init<First: Sendable, Second: Sendable, Third: Sendable>(
        _ name: String?, _ first: AsyncOperation<First>, _ second: AsyncOperation<Second>,
        _ third: AsyncOperation<Third>,
        _ body: nonisolated(nonsending) @escaping @Sendable (First, Second, Third) async throws -> Output
    ) {
        self.init(name, procedure: nil, inputs: [first, second, third]) { execution in
            guard execution.checkInputs() else { return }
            do {
                execution.succeed(with: try await body(first.storedOutput, second.storedOutput, third.storedOutput))
            } catch { execution.bodyThrew(error) }
        }
    }

    /// Makes an operation from a closure that takes the outputs of three operations, and its own context.
    ///
    /// The operations become dependencies. If one of them has no output, the closure is not called, and the new
    /// operation fails with ``OperationError/dependencyFailed(source:via:cause:)``. The error names the first such
    /// operation in the order of the parameters.
    ///
    /// - Parameters:
    ///   - first: The operation whose output is the first argument of the closure.
    ///   - second: The operation whose output is the second argument of the closure.
    ///   - third: The operation whose output is the third argument of the closure.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    @_disfavoredOverload
    public convenience init<First: Sendable, Second: Sendable, Third: Sendable>(
        _ first: AsyncOperation<First>, _ second: AsyncOperation<Second>, _ third: AsyncOperation<Third>,
        _ body:
            nonisolated(nonsending) @escaping @Sendable (First, Second, Third, OperationContext) async throws -> Output,
        file: StaticString = #fileID, line: UInt = #line
    ) {
        self.init(nil, first, second, third, body)
        recordOrigin(file, line)
    }

    /// Makes an operation with a name from a closure that takes the outputs of three operations, and its own context.
    ///
    /// The operations become dependencies. If one of them has no output, the closure is not called, and the new
    /// operation fails with ``OperationError/dependencyFailed(source:via:cause:)``. The error names the first such
    /// operation in the order of the parameters.
    ///
    /// - Parameters:
    ///   - name: The name that errors and explanations use for the operation.
    ///   - first: The operation whose output is the first argument of the closure.
    ///   - second: The operation whose output is the second argument of the closure.
    ///   - third: The operation whose output is the third argument of the closure.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    public convenience init<First: Sendable, Second: Sendable, Third: Sendable>(
        _ name: String?, _ first: AsyncOperation<First>, _ second: AsyncOperation<Second>,
        _ third: AsyncOperation<Third>,
        _ body:
            nonisolated(nonsending) @escaping @Sendable (First, Second, Third, OperationContext) async throws -> Output
    ) {
        self.init(name, procedure: nil, inputs: [first, second, third]) { execution in
            guard execution.checkInputs() else { return }
            do {
                execution.succeed(
                    with: try await body(
                        first.storedOutput, second.storedOutput, third.storedOutput, OperationContext(execution)))
            } catch { execution.bodyThrew(error) }
        }
    }

    /// Makes an operation from a closure that takes the outputs of four operations.
    ///
    /// The operations become dependencies. If one of them has no output, the closure is not called, and the new
    /// operation fails with ``OperationError/dependencyFailed(source:via:cause:)``. The error names the first such
    /// operation in the order of the parameters.
    ///
    /// - Parameters:
    ///   - first: The operation whose output is the first argument of the closure.
    ///   - second: The operation whose output is the second argument of the closure.
    ///   - third: The operation whose output is the third argument of the closure.
    ///   - fourth: The operation whose output is the fourth argument of the closure.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    @_disfavoredOverload
    public convenience init<First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable>(
        _ first: AsyncOperation<First>, _ second: AsyncOperation<Second>, _ third: AsyncOperation<Third>,
        _ fourth: AsyncOperation<Fourth>,
        _ body: nonisolated(nonsending) @escaping @Sendable (First, Second, Third, Fourth) async throws -> Output,
        file: StaticString = #fileID, line: UInt = #line
    ) {
        self.init(nil, first, second, third, fourth, body)
        recordOrigin(file, line)
    }

    /// Makes an operation with a name from a closure that takes the outputs of four operations.
    ///
    /// The operations become dependencies. If one of them has no output, the closure is not called, and the new
    /// operation fails with ``OperationError/dependencyFailed(source:via:cause:)``. The error names the first such
    /// operation in the order of the parameters.
    ///
    /// - Parameters:
    ///   - name: The name that errors and explanations use for the operation.
    ///   - first: The operation whose output is the first argument of the closure.
    ///   - second: The operation whose output is the second argument of the closure.
    ///   - third: The operation whose output is the third argument of the closure.
    ///   - fourth: The operation whose output is the fourth argument of the closure.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    public convenience init<First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable>(
        _ name: String?, _ first: AsyncOperation<First>, _ second: AsyncOperation<Second>,
        _ third: AsyncOperation<Third>, _ fourth: AsyncOperation<Fourth>,
        _ body: nonisolated(nonsending) @escaping @Sendable (First, Second, Third, Fourth) async throws -> Output
    ) {
        self.init(name, procedure: nil, inputs: [first, second, third, fourth]) { execution in
            guard execution.checkInputs() else { return }
            do {
                execution.succeed(
                    with: try await body(
                        first.storedOutput, second.storedOutput, third.storedOutput, fourth.storedOutput))
            } catch { execution.bodyThrew(error) }
        }
    }

    /// Makes an operation from a closure that takes the outputs of four operations, and its own context.
    ///
    /// The operations become dependencies. If one of them has no output, the closure is not called, and the new
    /// operation fails with ``OperationError/dependencyFailed(source:via:cause:)``. The error names the first such
    /// operation in the order of the parameters.
    ///
    /// - Parameters:
    ///   - first: The operation whose output is the first argument of the closure.
    ///   - second: The operation whose output is the second argument of the closure.
    ///   - third: The operation whose output is the third argument of the closure.
    ///   - fourth: The operation whose output is the fourth argument of the closure.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    @_disfavoredOverload
    public convenience init<First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable>(
        _ first: AsyncOperation<First>, _ second: AsyncOperation<Second>, _ third: AsyncOperation<Third>,
        _ fourth: AsyncOperation<Fourth>,
        _ body:
            nonisolated(nonsending) @escaping @Sendable (First, Second, Third, Fourth, OperationContext) async throws ->
            Output,
        file: StaticString = #fileID, line: UInt = #line
    ) {
        self.init(nil, first, second, third, fourth, body)
        recordOrigin(file, line)
    }

    /// Makes an operation with a name from a closure that takes the outputs of four operations, and its own context.
    ///
    /// The operations become dependencies. If one of them has no output, the closure is not called, and the new
    /// operation fails with ``OperationError/dependencyFailed(source:via:cause:)``. The error names the first such
    /// operation in the order of the parameters.
    ///
    /// - Parameters:
    ///   - name: The name that errors and explanations use for the operation.
    ///   - first: The operation whose output is the first argument of the closure.
    ///   - second: The operation whose output is the second argument of the closure.
    ///   - third: The operation whose output is the third argument of the closure.
    ///   - fourth: The operation whose output is the fourth argument of the closure.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    public convenience init<First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable>(
        _ name: String?, _ first: AsyncOperation<First>, _ second: AsyncOperation<Second>,
        _ third: AsyncOperation<Third>, _ fourth: AsyncOperation<Fourth>,
        _ body:
            nonisolated(nonsending) @escaping @Sendable (First, Second, Third, Fourth, OperationContext) async throws ->
            Output
    ) {
        self.init(name, procedure: nil, inputs: [first, second, third, fourth]) { execution in
            guard execution.checkInputs() else { return }
            do {
                execution.succeed(
                    with: try await body(
                        first.storedOutput, second.storedOutput, third.storedOutput, fourth.storedOutput,
                        OperationContext(execution)))
            } catch { execution.bodyThrew(error) }
        }
    }

    /// Makes an operation from a closure that takes the outputs of five operations.
    ///
    /// The operations become dependencies. If one of them has no output, the closure is not called, and the new
    /// operation fails with ``OperationError/dependencyFailed(source:via:cause:)``. The error names the first such
    /// operation in the order of the parameters.
    ///
    /// - Parameters:
    ///   - first: The operation whose output is the first argument of the closure.
    ///   - second: The operation whose output is the second argument of the closure.
    ///   - third: The operation whose output is the third argument of the closure.
    ///   - fourth: The operation whose output is the fourth argument of the closure.
    ///   - fifth: The operation whose output is the fifth argument of the closure.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    @_disfavoredOverload
    public convenience init<First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable, Fifth: Sendable>(
        _ first: AsyncOperation<First>, _ second: AsyncOperation<Second>, _ third: AsyncOperation<Third>,
        _ fourth: AsyncOperation<Fourth>, _ fifth: AsyncOperation<Fifth>,
        _ body:
            nonisolated(nonsending) @escaping @Sendable (First, Second, Third, Fourth, Fifth) async throws -> Output,
        file: StaticString = #fileID, line: UInt = #line
    ) {
        self.init(nil, first, second, third, fourth, fifth, body)
        recordOrigin(file, line)
    }

    /// Makes an operation with a name from a closure that takes the outputs of five operations.
    ///
    /// The operations become dependencies. If one of them has no output, the closure is not called, and the new
    /// operation fails with ``OperationError/dependencyFailed(source:via:cause:)``. The error names the first such
    /// operation in the order of the parameters.
    ///
    /// - Parameters:
    ///   - name: The name that errors and explanations use for the operation.
    ///   - first: The operation whose output is the first argument of the closure.
    ///   - second: The operation whose output is the second argument of the closure.
    ///   - third: The operation whose output is the third argument of the closure.
    ///   - fourth: The operation whose output is the fourth argument of the closure.
    ///   - fifth: The operation whose output is the fifth argument of the closure.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    public convenience init<First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable, Fifth: Sendable>(
        _ name: String?, _ first: AsyncOperation<First>, _ second: AsyncOperation<Second>,
        _ third: AsyncOperation<Third>, _ fourth: AsyncOperation<Fourth>, _ fifth: AsyncOperation<Fifth>,
        _ body: nonisolated(nonsending) @escaping @Sendable (First, Second, Third, Fourth, Fifth) async throws -> Output
    ) {
        self.init(name, procedure: nil, inputs: [first, second, third, fourth, fifth]) { execution in
            guard execution.checkInputs() else { return }
            do {
                execution.succeed(
                    with: try await body(
                        first.storedOutput, second.storedOutput, third.storedOutput, fourth.storedOutput,
                        fifth.storedOutput))
            } catch { execution.bodyThrew(error) }
        }
    }

    /// Makes an operation from a closure that takes the outputs of five operations, and its own context.
    ///
    /// The operations become dependencies. If one of them has no output, the closure is not called, and the new
    /// operation fails with ``OperationError/dependencyFailed(source:via:cause:)``. The error names the first such
    /// operation in the order of the parameters.
    ///
    /// - Parameters:
    ///   - first: The operation whose output is the first argument of the closure.
    ///   - second: The operation whose output is the second argument of the closure.
    ///   - third: The operation whose output is the third argument of the closure.
    ///   - fourth: The operation whose output is the fourth argument of the closure.
    ///   - fifth: The operation whose output is the fifth argument of the closure.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    @_disfavoredOverload
    public convenience init<First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable, Fifth: Sendable>(
        _ first: AsyncOperation<First>, _ second: AsyncOperation<Second>, _ third: AsyncOperation<Third>,
        _ fourth: AsyncOperation<Fourth>, _ fifth: AsyncOperation<Fifth>,
        _ body:
            nonisolated(nonsending) @escaping @Sendable (First, Second, Third, Fourth, Fifth, OperationContext)
            async throws -> Output,
        file: StaticString = #fileID, line: UInt = #line
    ) {
        self.init(nil, first, second, third, fourth, fifth, body)
        recordOrigin(file, line)
    }

    /// Makes an operation with a name from a closure that takes the outputs of five operations, and its own context.
    ///
    /// The operations become dependencies. If one of them has no output, the closure is not called, and the new
    /// operation fails with ``OperationError/dependencyFailed(source:via:cause:)``. The error names the first such
    /// operation in the order of the parameters.
    ///
    /// - Parameters:
    ///   - name: The name that errors and explanations use for the operation.
    ///   - first: The operation whose output is the first argument of the closure.
    ///   - second: The operation whose output is the second argument of the closure.
    ///   - third: The operation whose output is the third argument of the closure.
    ///   - fourth: The operation whose output is the fourth argument of the closure.
    ///   - fifth: The operation whose output is the fifth argument of the closure.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    public convenience init<First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable, Fifth: Sendable>(
        _ name: String?, _ first: AsyncOperation<First>, _ second: AsyncOperation<Second>,
        _ third: AsyncOperation<Third>, _ fourth: AsyncOperation<Fourth>, _ fifth: AsyncOperation<Fifth>,
        _ body:
            nonisolated(nonsending) @escaping @Sendable (First, Second, Third, Fourth, Fifth, OperationContext)
            async throws -> Output
    ) {
        self.init(name, procedure: nil, inputs: [first, second, third, fourth, fifth]) { execution in
            guard execution.checkInputs() else { return }
            do {
                execution.succeed(
                    with: try await body(
                        first.storedOutput, second.storedOutput, third.storedOutput, fourth.storedOutput,
                        fifth.storedOutput, OperationContext(execution)))
            } catch { execution.bodyThrew(error) }
        }
    }

    /// Makes an operation from a closure that takes the outputs of six operations.
    ///
    /// The operations become dependencies. If one of them has no output, the closure is not called, and the new
    /// operation fails with ``OperationError/dependencyFailed(source:via:cause:)``. The error names the first such
    /// operation in the order of the parameters.
    ///
    /// - Parameters:
    ///   - first: The operation whose output is the first argument of the closure.
    ///   - second: The operation whose output is the second argument of the closure.
    ///   - third: The operation whose output is the third argument of the closure.
    ///   - fourth: The operation whose output is the fourth argument of the closure.
    ///   - fifth: The operation whose output is the fifth argument of the closure.
    ///   - sixth: The operation whose output is the sixth argument of the closure.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    @_disfavoredOverload
    public convenience init<
        First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable, Fifth: Sendable, Sixth: Sendable
    >(
        _ first: AsyncOperation<First>, _ second: AsyncOperation<Second>, _ third: AsyncOperation<Third>,
        _ fourth: AsyncOperation<Fourth>, _ fifth: AsyncOperation<Fifth>, _ sixth: AsyncOperation<Sixth>,
        _ body:
            nonisolated(nonsending) @escaping @Sendable (First, Second, Third, Fourth, Fifth, Sixth) async throws ->
            Output,
        file: StaticString = #fileID, line: UInt = #line
    ) {
        self.init(nil, first, second, third, fourth, fifth, sixth, body)
        recordOrigin(file, line)
    }

    /// Makes an operation with a name from a closure that takes the outputs of six operations.
    ///
    /// The operations become dependencies. If one of them has no output, the closure is not called, and the new
    /// operation fails with ``OperationError/dependencyFailed(source:via:cause:)``. The error names the first such
    /// operation in the order of the parameters.
    ///
    /// - Parameters:
    ///   - name: The name that errors and explanations use for the operation.
    ///   - first: The operation whose output is the first argument of the closure.
    ///   - second: The operation whose output is the second argument of the closure.
    ///   - third: The operation whose output is the third argument of the closure.
    ///   - fourth: The operation whose output is the fourth argument of the closure.
    ///   - fifth: The operation whose output is the fifth argument of the closure.
    ///   - sixth: The operation whose output is the sixth argument of the closure.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    public convenience init<
        First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable, Fifth: Sendable, Sixth: Sendable
    >(
        _ name: String?, _ first: AsyncOperation<First>, _ second: AsyncOperation<Second>,
        _ third: AsyncOperation<Third>, _ fourth: AsyncOperation<Fourth>, _ fifth: AsyncOperation<Fifth>,
        _ sixth: AsyncOperation<Sixth>,
        _ body:
            nonisolated(nonsending) @escaping @Sendable (First, Second, Third, Fourth, Fifth, Sixth) async throws ->
            Output
    ) {
        self.init(name, procedure: nil, inputs: [first, second, third, fourth, fifth, sixth]) { execution in
            guard execution.checkInputs() else { return }
            do {
                execution.succeed(
                    with: try await body(
                        first.storedOutput, second.storedOutput, third.storedOutput, fourth.storedOutput,
                        fifth.storedOutput, sixth.storedOutput))
            } catch { execution.bodyThrew(error) }
        }
    }

    /// Makes an operation from a closure that takes the outputs of six operations, and its own context.
    ///
    /// The operations become dependencies. If one of them has no output, the closure is not called, and the new
    /// operation fails with ``OperationError/dependencyFailed(source:via:cause:)``. The error names the first such
    /// operation in the order of the parameters.
    ///
    /// - Parameters:
    ///   - first: The operation whose output is the first argument of the closure.
    ///   - second: The operation whose output is the second argument of the closure.
    ///   - third: The operation whose output is the third argument of the closure.
    ///   - fourth: The operation whose output is the fourth argument of the closure.
    ///   - fifth: The operation whose output is the fifth argument of the closure.
    ///   - sixth: The operation whose output is the sixth argument of the closure.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    @_disfavoredOverload
    public convenience init<
        First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable, Fifth: Sendable, Sixth: Sendable
    >(
        _ first: AsyncOperation<First>, _ second: AsyncOperation<Second>, _ third: AsyncOperation<Third>,
        _ fourth: AsyncOperation<Fourth>, _ fifth: AsyncOperation<Fifth>, _ sixth: AsyncOperation<Sixth>,
        _ body:
            nonisolated(nonsending) @escaping @Sendable (First, Second, Third, Fourth, Fifth, Sixth, OperationContext)
            async throws -> Output,
        file: StaticString = #fileID, line: UInt = #line
    ) {
        self.init(nil, first, second, third, fourth, fifth, sixth, body)
        recordOrigin(file, line)
    }

    /// Makes an operation with a name from a closure that takes the outputs of six operations, and its own context.
    ///
    /// The operations become dependencies. If one of them has no output, the closure is not called, and the new
    /// operation fails with ``OperationError/dependencyFailed(source:via:cause:)``. The error names the first such
    /// operation in the order of the parameters.
    ///
    /// - Parameters:
    ///   - name: The name that errors and explanations use for the operation.
    ///   - first: The operation whose output is the first argument of the closure.
    ///   - second: The operation whose output is the second argument of the closure.
    ///   - third: The operation whose output is the third argument of the closure.
    ///   - fourth: The operation whose output is the fourth argument of the closure.
    ///   - fifth: The operation whose output is the fifth argument of the closure.
    ///   - sixth: The operation whose output is the sixth argument of the closure.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    public convenience init<
        First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable, Fifth: Sendable, Sixth: Sendable
    >(
        _ name: String?, _ first: AsyncOperation<First>, _ second: AsyncOperation<Second>,
        _ third: AsyncOperation<Third>, _ fourth: AsyncOperation<Fourth>, _ fifth: AsyncOperation<Fifth>,
        _ sixth: AsyncOperation<Sixth>,
        _ body:
            nonisolated(nonsending) @escaping @Sendable (First, Second, Third, Fourth, Fifth, Sixth, OperationContext)
            async throws -> Output
    ) {
        self.init(name, procedure: nil, inputs: [first, second, third, fourth, fifth, sixth]) { execution in
            guard execution.checkInputs() else { return }
            do {
                execution.succeed(
                    with: try await body(
                        first.storedOutput, second.storedOutput, third.storedOutput, fourth.storedOutput,
                        fifth.storedOutput, sixth.storedOutput, OperationContext(execution)))
            } catch { execution.bodyThrew(error) }
        }
    }

    /// Makes an operation from a closure that takes the outputs of seven operations.
    ///
    /// The operations become dependencies. If one of them has no output, the closure is not called, and the new
    /// operation fails with ``OperationError/dependencyFailed(source:via:cause:)``. The error names the first such
    /// operation in the order of the parameters.
    ///
    /// - Parameters:
    ///   - first: The operation whose output is the first argument of the closure.
    ///   - second: The operation whose output is the second argument of the closure.
    ///   - third: The operation whose output is the third argument of the closure.
    ///   - fourth: The operation whose output is the fourth argument of the closure.
    ///   - fifth: The operation whose output is the fifth argument of the closure.
    ///   - sixth: The operation whose output is the sixth argument of the closure.
    ///   - seventh: The operation whose output is the seventh argument of the closure.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    @_disfavoredOverload
    public convenience init<
        First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable, Fifth: Sendable, Sixth: Sendable,
        Seventh: Sendable
    >(
        _ first: AsyncOperation<First>, _ second: AsyncOperation<Second>, _ third: AsyncOperation<Third>,
        _ fourth: AsyncOperation<Fourth>, _ fifth: AsyncOperation<Fifth>, _ sixth: AsyncOperation<Sixth>,
        _ seventh: AsyncOperation<Seventh>,
        _ body:
            nonisolated(nonsending) @escaping @Sendable (First, Second, Third, Fourth, Fifth, Sixth, Seventh)
            async throws -> Output,
        file: StaticString = #fileID, line: UInt = #line
    ) {
        self.init(nil, first, second, third, fourth, fifth, sixth, seventh, body)
        recordOrigin(file, line)
    }

    /// Makes an operation with a name from a closure that takes the outputs of seven operations.
    ///
    /// The operations become dependencies. If one of them has no output, the closure is not called, and the new
    /// operation fails with ``OperationError/dependencyFailed(source:via:cause:)``. The error names the first such
    /// operation in the order of the parameters.
    ///
    /// - Parameters:
    ///   - name: The name that errors and explanations use for the operation.
    ///   - first: The operation whose output is the first argument of the closure.
    ///   - second: The operation whose output is the second argument of the closure.
    ///   - third: The operation whose output is the third argument of the closure.
    ///   - fourth: The operation whose output is the fourth argument of the closure.
    ///   - fifth: The operation whose output is the fifth argument of the closure.
    ///   - sixth: The operation whose output is the sixth argument of the closure.
    ///   - seventh: The operation whose output is the seventh argument of the closure.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    public convenience init<
        First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable, Fifth: Sendable, Sixth: Sendable,
        Seventh: Sendable
    >(
        _ name: String?, _ first: AsyncOperation<First>, _ second: AsyncOperation<Second>,
        _ third: AsyncOperation<Third>, _ fourth: AsyncOperation<Fourth>, _ fifth: AsyncOperation<Fifth>,
        _ sixth: AsyncOperation<Sixth>, _ seventh: AsyncOperation<Seventh>,
        _ body:
            nonisolated(nonsending) @escaping @Sendable (First, Second, Third, Fourth, Fifth, Sixth, Seventh)
            async throws -> Output
    ) {
        self.init(name, procedure: nil, inputs: [first, second, third, fourth, fifth, sixth, seventh]) { execution in
            guard execution.checkInputs() else { return }
            do {
                execution.succeed(
                    with: try await body(
                        first.storedOutput, second.storedOutput, third.storedOutput, fourth.storedOutput,
                        fifth.storedOutput, sixth.storedOutput, seventh.storedOutput))
            } catch { execution.bodyThrew(error) }
        }
    }

    /// Makes an operation from a closure that takes the outputs of seven operations, and its own context.
    ///
    /// The operations become dependencies. If one of them has no output, the closure is not called, and the new
    /// operation fails with ``OperationError/dependencyFailed(source:via:cause:)``. The error names the first such
    /// operation in the order of the parameters.
    ///
    /// - Parameters:
    ///   - first: The operation whose output is the first argument of the closure.
    ///   - second: The operation whose output is the second argument of the closure.
    ///   - third: The operation whose output is the third argument of the closure.
    ///   - fourth: The operation whose output is the fourth argument of the closure.
    ///   - fifth: The operation whose output is the fifth argument of the closure.
    ///   - sixth: The operation whose output is the sixth argument of the closure.
    ///   - seventh: The operation whose output is the seventh argument of the closure.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    @_disfavoredOverload
    public convenience init<
        First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable, Fifth: Sendable, Sixth: Sendable,
        Seventh: Sendable
    >(
        _ first: AsyncOperation<First>, _ second: AsyncOperation<Second>, _ third: AsyncOperation<Third>,
        _ fourth: AsyncOperation<Fourth>, _ fifth: AsyncOperation<Fifth>, _ sixth: AsyncOperation<Sixth>,
        _ seventh: AsyncOperation<Seventh>,
        _ body:
            nonisolated(nonsending) @escaping @Sendable (
                First, Second, Third, Fourth, Fifth, Sixth, Seventh, OperationContext
            ) async throws -> Output,
        file: StaticString = #fileID, line: UInt = #line
    ) {
        self.init(nil, first, second, third, fourth, fifth, sixth, seventh, body)
        recordOrigin(file, line)
    }

    /// Makes an operation with a name from a closure that takes the outputs of seven operations, and its own context.
    ///
    /// The operations become dependencies. If one of them has no output, the closure is not called, and the new
    /// operation fails with ``OperationError/dependencyFailed(source:via:cause:)``. The error names the first such
    /// operation in the order of the parameters.
    ///
    /// - Parameters:
    ///   - name: The name that errors and explanations use for the operation.
    ///   - first: The operation whose output is the first argument of the closure.
    ///   - second: The operation whose output is the second argument of the closure.
    ///   - third: The operation whose output is the third argument of the closure.
    ///   - fourth: The operation whose output is the fourth argument of the closure.
    ///   - fifth: The operation whose output is the fifth argument of the closure.
    ///   - sixth: The operation whose output is the sixth argument of the closure.
    ///   - seventh: The operation whose output is the seventh argument of the closure.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    public convenience init<
        First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable, Fifth: Sendable, Sixth: Sendable,
        Seventh: Sendable
    >(
        _ name: String?, _ first: AsyncOperation<First>, _ second: AsyncOperation<Second>,
        _ third: AsyncOperation<Third>, _ fourth: AsyncOperation<Fourth>, _ fifth: AsyncOperation<Fifth>,
        _ sixth: AsyncOperation<Sixth>, _ seventh: AsyncOperation<Seventh>,
        _ body:
            nonisolated(nonsending) @escaping @Sendable (
                First, Second, Third, Fourth, Fifth, Sixth, Seventh, OperationContext
            ) async throws -> Output
    ) {
        self.init(name, procedure: nil, inputs: [first, second, third, fourth, fifth, sixth, seventh]) { execution in
            guard execution.checkInputs() else { return }
            do {
                execution.succeed(
                    with: try await body(
                        first.storedOutput, second.storedOutput, third.storedOutput, fourth.storedOutput,
                        fifth.storedOutput, sixth.storedOutput, seventh.storedOutput, OperationContext(execution)))
            } catch { execution.bodyThrew(error) }
        }
    }

    /// Makes an operation from a closure that takes the outputs of eight operations.
    ///
    /// The operations become dependencies. If one of them has no output, the closure is not called, and the new
    /// operation fails with ``OperationError/dependencyFailed(source:via:cause:)``. The error names the first such
    /// operation in the order of the parameters.
    ///
    /// - Parameters:
    ///   - first: The operation whose output is the first argument of the closure.
    ///   - second: The operation whose output is the second argument of the closure.
    ///   - third: The operation whose output is the third argument of the closure.
    ///   - fourth: The operation whose output is the fourth argument of the closure.
    ///   - fifth: The operation whose output is the fifth argument of the closure.
    ///   - sixth: The operation whose output is the sixth argument of the closure.
    ///   - seventh: The operation whose output is the seventh argument of the closure.
    ///   - eighth: The operation whose output is the eighth argument of the closure.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    @_disfavoredOverload
    public convenience init<
        First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable, Fifth: Sendable, Sixth: Sendable,
        Seventh: Sendable, Eighth: Sendable
    >(
        _ first: AsyncOperation<First>, _ second: AsyncOperation<Second>, _ third: AsyncOperation<Third>,
        _ fourth: AsyncOperation<Fourth>, _ fifth: AsyncOperation<Fifth>, _ sixth: AsyncOperation<Sixth>,
        _ seventh: AsyncOperation<Seventh>, _ eighth: AsyncOperation<Eighth>,
        _ body:
            nonisolated(nonsending) @escaping @Sendable (First, Second, Third, Fourth, Fifth, Sixth, Seventh, Eighth)
            async throws -> Output,
        file: StaticString = #fileID, line: UInt = #line
    ) {
        self.init(nil, first, second, third, fourth, fifth, sixth, seventh, eighth, body)
        recordOrigin(file, line)
    }

    /// Makes an operation with a name from a closure that takes the outputs of eight operations.
    ///
    /// The operations become dependencies. If one of them has no output, the closure is not called, and the new
    /// operation fails with ``OperationError/dependencyFailed(source:via:cause:)``. The error names the first such
    /// operation in the order of the parameters.
    ///
    /// - Parameters:
    ///   - name: The name that errors and explanations use for the operation.
    ///   - first: The operation whose output is the first argument of the closure.
    ///   - second: The operation whose output is the second argument of the closure.
    ///   - third: The operation whose output is the third argument of the closure.
    ///   - fourth: The operation whose output is the fourth argument of the closure.
    ///   - fifth: The operation whose output is the fifth argument of the closure.
    ///   - sixth: The operation whose output is the sixth argument of the closure.
    ///   - seventh: The operation whose output is the seventh argument of the closure.
    ///   - eighth: The operation whose output is the eighth argument of the closure.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    public convenience init<
        First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable, Fifth: Sendable, Sixth: Sendable,
        Seventh: Sendable, Eighth: Sendable
    >(
        _ name: String?, _ first: AsyncOperation<First>, _ second: AsyncOperation<Second>,
        _ third: AsyncOperation<Third>, _ fourth: AsyncOperation<Fourth>, _ fifth: AsyncOperation<Fifth>,
        _ sixth: AsyncOperation<Sixth>, _ seventh: AsyncOperation<Seventh>, _ eighth: AsyncOperation<Eighth>,
        _ body:
            nonisolated(nonsending) @escaping @Sendable (First, Second, Third, Fourth, Fifth, Sixth, Seventh, Eighth)
            async throws -> Output
    ) {
        self.init(name, procedure: nil, inputs: [first, second, third, fourth, fifth, sixth, seventh, eighth]) {
            execution in
            guard execution.checkInputs() else { return }
            do {
                execution.succeed(
                    with: try await body(
                        first.storedOutput, second.storedOutput, third.storedOutput, fourth.storedOutput,
                        fifth.storedOutput, sixth.storedOutput, seventh.storedOutput, eighth.storedOutput))
            } catch { execution.bodyThrew(error) }
        }
    }

    /// Makes an operation from a closure that takes the outputs of eight operations, and its own context.
    ///
    /// The operations become dependencies. If one of them has no output, the closure is not called, and the new
    /// operation fails with ``OperationError/dependencyFailed(source:via:cause:)``. The error names the first such
    /// operation in the order of the parameters.
    ///
    /// - Parameters:
    ///   - first: The operation whose output is the first argument of the closure.
    ///   - second: The operation whose output is the second argument of the closure.
    ///   - third: The operation whose output is the third argument of the closure.
    ///   - fourth: The operation whose output is the fourth argument of the closure.
    ///   - fifth: The operation whose output is the fifth argument of the closure.
    ///   - sixth: The operation whose output is the sixth argument of the closure.
    ///   - seventh: The operation whose output is the seventh argument of the closure.
    ///   - eighth: The operation whose output is the eighth argument of the closure.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    @_disfavoredOverload
    public convenience init<
        First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable, Fifth: Sendable, Sixth: Sendable,
        Seventh: Sendable, Eighth: Sendable
    >(
        _ first: AsyncOperation<First>, _ second: AsyncOperation<Second>, _ third: AsyncOperation<Third>,
        _ fourth: AsyncOperation<Fourth>, _ fifth: AsyncOperation<Fifth>, _ sixth: AsyncOperation<Sixth>,
        _ seventh: AsyncOperation<Seventh>, _ eighth: AsyncOperation<Eighth>,
        _ body:
            nonisolated(nonsending) @escaping @Sendable (
                First, Second, Third, Fourth, Fifth, Sixth, Seventh, Eighth, OperationContext
            ) async throws -> Output,
        file: StaticString = #fileID, line: UInt = #line
    ) {
        self.init(nil, first, second, third, fourth, fifth, sixth, seventh, eighth, body)
        recordOrigin(file, line)
    }

    /// Makes an operation with a name from a closure that takes the outputs of eight operations, and its own context.
    ///
    /// The operations become dependencies. If one of them has no output, the closure is not called, and the new
    /// operation fails with ``OperationError/dependencyFailed(source:via:cause:)``. The error names the first such
    /// operation in the order of the parameters.
    ///
    /// - Parameters:
    ///   - name: The name that errors and explanations use for the operation.
    ///   - first: The operation whose output is the first argument of the closure.
    ///   - second: The operation whose output is the second argument of the closure.
    ///   - third: The operation whose output is the third argument of the closure.
    ///   - fourth: The operation whose output is the fourth argument of the closure.
    ///   - fifth: The operation whose output is the fifth argument of the closure.
    ///   - sixth: The operation whose output is the sixth argument of the closure.
    ///   - seventh: The operation whose output is the seventh argument of the closure.
    ///   - eighth: The operation whose output is the eighth argument of the closure.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    public convenience init<
        First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable, Fifth: Sendable, Sixth: Sendable,
        Seventh: Sendable, Eighth: Sendable
    >(
        _ name: String?, _ first: AsyncOperation<First>, _ second: AsyncOperation<Second>,
        _ third: AsyncOperation<Third>, _ fourth: AsyncOperation<Fourth>, _ fifth: AsyncOperation<Fifth>,
        _ sixth: AsyncOperation<Sixth>, _ seventh: AsyncOperation<Seventh>, _ eighth: AsyncOperation<Eighth>,
        _ body:
            nonisolated(nonsending) @escaping @Sendable (
                First, Second, Third, Fourth, Fifth, Sixth, Seventh, Eighth, OperationContext
            ) async throws -> Output
    ) {
        self.init(name, procedure: nil, inputs: [first, second, third, fourth, fifth, sixth, seventh, eighth]) {
            execution in
            guard execution.checkInputs() else { return }
            do {
                execution.succeed(
                    with: try await body(
                        first.storedOutput, second.storedOutput, third.storedOutput, fourth.storedOutput,
                        fifth.storedOutput, sixth.storedOutput, seventh.storedOutput, eighth.storedOutput,
                        OperationContext(execution)))
            } catch { execution.bodyThrew(error) }
        }
    }
}
