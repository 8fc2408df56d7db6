// Written by scripts/generate-inputs.

/// Operations that take the outcomes of two to eight other operations as `Result`s.
extension AsyncOperation {
    /// Makes an operation from a closure that takes the outcomes of two operations.
    ///
    /// The operations become dependencies. The closure is called when they have finished, even if they have failed or
    /// were cancelled, and decides what to do.
    ///
    /// - Parameters:
    ///   - first: The operation whose outcome is the first argument of the closure.
    ///   - second: The operation whose outcome is the second argument of the closure.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    public convenience init<First: Sendable, Second: Sendable>(
        resultOf first: AsyncOperation<First>, _ second: AsyncOperation<Second>,
        _ body:
            nonisolated(nonsending) @escaping @Sendable (Result<First, OperationError>, Result<Second, OperationError>)
            async throws -> Output,
        file: StaticString = #fileID, line: UInt = #line
    ) {
        self.init(nil, resultOf: first, second, body)
        recordOrigin(file, line)
    }

    /// Makes an operation with a name from a closure that takes the outcomes of two operations.
    ///
    /// The operations become dependencies. The closure is called when they have finished, even if they have failed or
    /// were cancelled, and decides what to do.
    ///
    /// - Parameters:
    ///   - name: The name that errors and explanations use for the operation.
    ///   - first: The operation whose outcome is the first argument of the closure.
    ///   - second: The operation whose outcome is the second argument of the closure.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    public convenience init<First: Sendable, Second: Sendable>(
        _ name: String?, resultOf first: AsyncOperation<First>, _ second: AsyncOperation<Second>,
        _ body:
            nonisolated(nonsending) @escaping @Sendable (Result<First, OperationError>, Result<Second, OperationError>)
            async throws -> Output
    ) {
        self.init(name, procedure: nil, inputs: [first, second], requiresInputOutputs: false) { execution in
            do {
                execution.succeed(with: try await body(first.finishedResult, second.finishedResult))
            } catch { execution.bodyThrew(error) }
        }
    }

    /// Makes an operation from a closure that takes the outcomes of two operations, and its own context.
    ///
    /// The operations become dependencies. The closure is called when they have finished, even if they have failed or
    /// were cancelled, and decides what to do.
    ///
    /// - Parameters:
    ///   - first: The operation whose outcome is the first argument of the closure.
    ///   - second: The operation whose outcome is the second argument of the closure.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    public convenience init<First: Sendable, Second: Sendable>(
        resultOf first: AsyncOperation<First>, _ second: AsyncOperation<Second>,
        _ body:
            nonisolated(nonsending) @escaping @Sendable (
                Result<First, OperationError>, Result<Second, OperationError>, OperationContext
            ) async throws -> Output,
        file: StaticString = #fileID, line: UInt = #line
    ) {
        self.init(nil, resultOf: first, second, body)
        recordOrigin(file, line)
    }

    /// Makes an operation with a name from a closure that takes the outcomes of two operations, and its own context.
    ///
    /// The operations become dependencies. The closure is called when they have finished, even if they have failed or
    /// were cancelled, and decides what to do.
    ///
    /// - Parameters:
    ///   - name: The name that errors and explanations use for the operation.
    ///   - first: The operation whose outcome is the first argument of the closure.
    ///   - second: The operation whose outcome is the second argument of the closure.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    public convenience init<First: Sendable, Second: Sendable>(
        _ name: String?, resultOf first: AsyncOperation<First>, _ second: AsyncOperation<Second>,
        _ body:
            nonisolated(nonsending) @escaping @Sendable (
                Result<First, OperationError>, Result<Second, OperationError>, OperationContext
            ) async throws -> Output
    ) {
        self.init(name, procedure: nil, inputs: [first, second], requiresInputOutputs: false) { execution in
            do {
                execution.succeed(
                    with: try await body(first.finishedResult, second.finishedResult, OperationContext(execution)))
            } catch { execution.bodyThrew(error) }
        }
    }

    /// Makes an operation from a closure that takes the outcomes of three operations.
    ///
    /// The operations become dependencies. The closure is called when they have finished, even if they have failed or
    /// were cancelled, and decides what to do.
    ///
    /// - Parameters:
    ///   - first: The operation whose outcome is the first argument of the closure.
    ///   - second: The operation whose outcome is the second argument of the closure.
    ///   - third: The operation whose outcome is the third argument of the closure.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    public convenience init<First: Sendable, Second: Sendable, Third: Sendable>(
        resultOf first: AsyncOperation<First>, _ second: AsyncOperation<Second>, _ third: AsyncOperation<Third>,
        _ body:
            nonisolated(nonsending) @escaping @Sendable (
                Result<First, OperationError>, Result<Second, OperationError>, Result<Third, OperationError>
            ) async throws -> Output,
        file: StaticString = #fileID, line: UInt = #line
    ) {
        self.init(nil, resultOf: first, second, third, body)
        recordOrigin(file, line)
    }

    /// Makes an operation with a name from a closure that takes the outcomes of three operations.
    ///
    /// The operations become dependencies. The closure is called when they have finished, even if they have failed or
    /// were cancelled, and decides what to do.
    ///
    /// - Parameters:
    ///   - name: The name that errors and explanations use for the operation.
    ///   - first: The operation whose outcome is the first argument of the closure.
    ///   - second: The operation whose outcome is the second argument of the closure.
    ///   - third: The operation whose outcome is the third argument of the closure.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    public convenience init<First: Sendable, Second: Sendable, Third: Sendable>(
        _ name: String?, resultOf first: AsyncOperation<First>, _ second: AsyncOperation<Second>,
        _ third: AsyncOperation<Third>,
        _ body:
            nonisolated(nonsending) @escaping @Sendable (
                Result<First, OperationError>, Result<Second, OperationError>, Result<Third, OperationError>
            ) async throws -> Output
    ) {
        self.init(name, procedure: nil, inputs: [first, second, third], requiresInputOutputs: false) { execution in
            do {
                execution.succeed(
                    with: try await body(first.finishedResult, second.finishedResult, third.finishedResult))
            } catch { execution.bodyThrew(error) }
        }
    }

    /// Makes an operation from a closure that takes the outcomes of three operations, and its own context.
    ///
    /// The operations become dependencies. The closure is called when they have finished, even if they have failed or
    /// were cancelled, and decides what to do.
    ///
    /// - Parameters:
    ///   - first: The operation whose outcome is the first argument of the closure.
    ///   - second: The operation whose outcome is the second argument of the closure.
    ///   - third: The operation whose outcome is the third argument of the closure.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    public convenience init<First: Sendable, Second: Sendable, Third: Sendable>(
        resultOf first: AsyncOperation<First>, _ second: AsyncOperation<Second>, _ third: AsyncOperation<Third>,
        _ body:
            nonisolated(nonsending) @escaping @Sendable (
                Result<First, OperationError>, Result<Second, OperationError>, Result<Third, OperationError>,
                OperationContext
            ) async throws -> Output,
        file: StaticString = #fileID, line: UInt = #line
    ) {
        self.init(nil, resultOf: first, second, third, body)
        recordOrigin(file, line)
    }

    /// Makes an operation with a name from a closure that takes the outcomes of three operations, and its own context.
    ///
    /// The operations become dependencies. The closure is called when they have finished, even if they have failed or
    /// were cancelled, and decides what to do.
    ///
    /// - Parameters:
    ///   - name: The name that errors and explanations use for the operation.
    ///   - first: The operation whose outcome is the first argument of the closure.
    ///   - second: The operation whose outcome is the second argument of the closure.
    ///   - third: The operation whose outcome is the third argument of the closure.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    public convenience init<First: Sendable, Second: Sendable, Third: Sendable>(
        _ name: String?, resultOf first: AsyncOperation<First>, _ second: AsyncOperation<Second>,
        _ third: AsyncOperation<Third>,
        _ body:
            nonisolated(nonsending) @escaping @Sendable (
                Result<First, OperationError>, Result<Second, OperationError>, Result<Third, OperationError>,
                OperationContext
            ) async throws -> Output
    ) {
        self.init(name, procedure: nil, inputs: [first, second, third], requiresInputOutputs: false) { execution in
            do {
                execution.succeed(
                    with: try await body(
                        first.finishedResult, second.finishedResult, third.finishedResult, OperationContext(execution)))
            } catch { execution.bodyThrew(error) }
        }
    }

    /// Makes an operation from a closure that takes the outcomes of four operations.
    ///
    /// The operations become dependencies. The closure is called when they have finished, even if they have failed or
    /// were cancelled, and decides what to do.
    ///
    /// - Parameters:
    ///   - first: The operation whose outcome is the first argument of the closure.
    ///   - second: The operation whose outcome is the second argument of the closure.
    ///   - third: The operation whose outcome is the third argument of the closure.
    ///   - fourth: The operation whose outcome is the fourth argument of the closure.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    public convenience init<First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable>(
        resultOf first: AsyncOperation<First>, _ second: AsyncOperation<Second>, _ third: AsyncOperation<Third>,
        _ fourth: AsyncOperation<Fourth>,
        _ body:
            nonisolated(nonsending) @escaping @Sendable (
                Result<First, OperationError>, Result<Second, OperationError>, Result<Third, OperationError>,
                Result<Fourth, OperationError>
            ) async throws -> Output,
        file: StaticString = #fileID, line: UInt = #line
    ) {
        self.init(nil, resultOf: first, second, third, fourth, body)
        recordOrigin(file, line)
    }

    /// Makes an operation with a name from a closure that takes the outcomes of four operations.
    ///
    /// The operations become dependencies. The closure is called when they have finished, even if they have failed or
    /// were cancelled, and decides what to do.
    ///
    /// - Parameters:
    ///   - name: The name that errors and explanations use for the operation.
    ///   - first: The operation whose outcome is the first argument of the closure.
    ///   - second: The operation whose outcome is the second argument of the closure.
    ///   - third: The operation whose outcome is the third argument of the closure.
    ///   - fourth: The operation whose outcome is the fourth argument of the closure.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    public convenience init<First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable>(
        _ name: String?, resultOf first: AsyncOperation<First>, _ second: AsyncOperation<Second>,
        _ third: AsyncOperation<Third>, _ fourth: AsyncOperation<Fourth>,
        _ body:
            nonisolated(nonsending) @escaping @Sendable (
                Result<First, OperationError>, Result<Second, OperationError>, Result<Third, OperationError>,
                Result<Fourth, OperationError>
            ) async throws -> Output
    ) {
        self.init(name, procedure: nil, inputs: [first, second, third, fourth], requiresInputOutputs: false) {
            execution in
            do {
                execution.succeed(
                    with: try await body(
                        first.finishedResult, second.finishedResult, third.finishedResult, fourth.finishedResult))
            } catch { execution.bodyThrew(error) }
        }
    }

    /// Makes an operation from a closure that takes the outcomes of four operations, and its own context.
    ///
    /// The operations become dependencies. The closure is called when they have finished, even if they have failed or
    /// were cancelled, and decides what to do.
    ///
    /// - Parameters:
    ///   - first: The operation whose outcome is the first argument of the closure.
    ///   - second: The operation whose outcome is the second argument of the closure.
    ///   - third: The operation whose outcome is the third argument of the closure.
    ///   - fourth: The operation whose outcome is the fourth argument of the closure.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    public convenience init<First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable>(
        resultOf first: AsyncOperation<First>, _ second: AsyncOperation<Second>, _ third: AsyncOperation<Third>,
        _ fourth: AsyncOperation<Fourth>,
        _ body:
            nonisolated(nonsending) @escaping @Sendable (
                Result<First, OperationError>, Result<Second, OperationError>, Result<Third, OperationError>,
                Result<Fourth, OperationError>, OperationContext
            ) async throws -> Output,
        file: StaticString = #fileID, line: UInt = #line
    ) {
        self.init(nil, resultOf: first, second, third, fourth, body)
        recordOrigin(file, line)
    }

    /// Makes an operation with a name from a closure that takes the outcomes of four operations, and its own context.
    ///
    /// The operations become dependencies. The closure is called when they have finished, even if they have failed or
    /// were cancelled, and decides what to do.
    ///
    /// - Parameters:
    ///   - name: The name that errors and explanations use for the operation.
    ///   - first: The operation whose outcome is the first argument of the closure.
    ///   - second: The operation whose outcome is the second argument of the closure.
    ///   - third: The operation whose outcome is the third argument of the closure.
    ///   - fourth: The operation whose outcome is the fourth argument of the closure.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    public convenience init<First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable>(
        _ name: String?, resultOf first: AsyncOperation<First>, _ second: AsyncOperation<Second>,
        _ third: AsyncOperation<Third>, _ fourth: AsyncOperation<Fourth>,
        _ body:
            nonisolated(nonsending) @escaping @Sendable (
                Result<First, OperationError>, Result<Second, OperationError>, Result<Third, OperationError>,
                Result<Fourth, OperationError>, OperationContext
            ) async throws -> Output
    ) {
        self.init(name, procedure: nil, inputs: [first, second, third, fourth], requiresInputOutputs: false) {
            execution in
            do {
                execution.succeed(
                    with: try await body(
                        first.finishedResult, second.finishedResult, third.finishedResult, fourth.finishedResult,
                        OperationContext(execution)))
            } catch { execution.bodyThrew(error) }
        }
    }

    /// Makes an operation from a closure that takes the outcomes of five operations.
    ///
    /// The operations become dependencies. The closure is called when they have finished, even if they have failed or
    /// were cancelled, and decides what to do.
    ///
    /// - Parameters:
    ///   - first: The operation whose outcome is the first argument of the closure.
    ///   - second: The operation whose outcome is the second argument of the closure.
    ///   - third: The operation whose outcome is the third argument of the closure.
    ///   - fourth: The operation whose outcome is the fourth argument of the closure.
    ///   - fifth: The operation whose outcome is the fifth argument of the closure.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    public convenience init<First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable, Fifth: Sendable>(
        resultOf first: AsyncOperation<First>, _ second: AsyncOperation<Second>, _ third: AsyncOperation<Third>,
        _ fourth: AsyncOperation<Fourth>, _ fifth: AsyncOperation<Fifth>,
        _ body:
            nonisolated(nonsending) @escaping @Sendable (
                Result<First, OperationError>, Result<Second, OperationError>, Result<Third, OperationError>,
                Result<Fourth, OperationError>, Result<Fifth, OperationError>
            ) async throws -> Output,
        file: StaticString = #fileID, line: UInt = #line
    ) {
        self.init(nil, resultOf: first, second, third, fourth, fifth, body)
        recordOrigin(file, line)
    }

    /// Makes an operation with a name from a closure that takes the outcomes of five operations.
    ///
    /// The operations become dependencies. The closure is called when they have finished, even if they have failed or
    /// were cancelled, and decides what to do.
    ///
    /// - Parameters:
    ///   - name: The name that errors and explanations use for the operation.
    ///   - first: The operation whose outcome is the first argument of the closure.
    ///   - second: The operation whose outcome is the second argument of the closure.
    ///   - third: The operation whose outcome is the third argument of the closure.
    ///   - fourth: The operation whose outcome is the fourth argument of the closure.
    ///   - fifth: The operation whose outcome is the fifth argument of the closure.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    public convenience init<First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable, Fifth: Sendable>(
        _ name: String?, resultOf first: AsyncOperation<First>, _ second: AsyncOperation<Second>,
        _ third: AsyncOperation<Third>, _ fourth: AsyncOperation<Fourth>, _ fifth: AsyncOperation<Fifth>,
        _ body:
            nonisolated(nonsending) @escaping @Sendable (
                Result<First, OperationError>, Result<Second, OperationError>, Result<Third, OperationError>,
                Result<Fourth, OperationError>, Result<Fifth, OperationError>
            ) async throws -> Output
    ) {
        self.init(name, procedure: nil, inputs: [first, second, third, fourth, fifth], requiresInputOutputs: false) {
            execution in
            do {
                execution.succeed(
                    with: try await body(
                        first.finishedResult, second.finishedResult, third.finishedResult, fourth.finishedResult,
                        fifth.finishedResult))
            } catch { execution.bodyThrew(error) }
        }
    }

    /// Makes an operation from a closure that takes the outcomes of five operations, and its own context.
    ///
    /// The operations become dependencies. The closure is called when they have finished, even if they have failed or
    /// were cancelled, and decides what to do.
    ///
    /// - Parameters:
    ///   - first: The operation whose outcome is the first argument of the closure.
    ///   - second: The operation whose outcome is the second argument of the closure.
    ///   - third: The operation whose outcome is the third argument of the closure.
    ///   - fourth: The operation whose outcome is the fourth argument of the closure.
    ///   - fifth: The operation whose outcome is the fifth argument of the closure.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    public convenience init<First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable, Fifth: Sendable>(
        resultOf first: AsyncOperation<First>, _ second: AsyncOperation<Second>, _ third: AsyncOperation<Third>,
        _ fourth: AsyncOperation<Fourth>, _ fifth: AsyncOperation<Fifth>,
        _ body:
            nonisolated(nonsending) @escaping @Sendable (
                Result<First, OperationError>, Result<Second, OperationError>, Result<Third, OperationError>,
                Result<Fourth, OperationError>, Result<Fifth, OperationError>, OperationContext
            ) async throws -> Output,
        file: StaticString = #fileID, line: UInt = #line
    ) {
        self.init(nil, resultOf: first, second, third, fourth, fifth, body)
        recordOrigin(file, line)
    }

    /// Makes an operation with a name from a closure that takes the outcomes of five operations, and its own context.
    ///
    /// The operations become dependencies. The closure is called when they have finished, even if they have failed or
    /// were cancelled, and decides what to do.
    ///
    /// - Parameters:
    ///   - name: The name that errors and explanations use for the operation.
    ///   - first: The operation whose outcome is the first argument of the closure.
    ///   - second: The operation whose outcome is the second argument of the closure.
    ///   - third: The operation whose outcome is the third argument of the closure.
    ///   - fourth: The operation whose outcome is the fourth argument of the closure.
    ///   - fifth: The operation whose outcome is the fifth argument of the closure.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    public convenience init<First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable, Fifth: Sendable>(
        _ name: String?, resultOf first: AsyncOperation<First>, _ second: AsyncOperation<Second>,
        _ third: AsyncOperation<Third>, _ fourth: AsyncOperation<Fourth>, _ fifth: AsyncOperation<Fifth>,
        _ body:
            nonisolated(nonsending) @escaping @Sendable (
                Result<First, OperationError>, Result<Second, OperationError>, Result<Third, OperationError>,
                Result<Fourth, OperationError>, Result<Fifth, OperationError>, OperationContext
            ) async throws -> Output
    ) {
        self.init(name, procedure: nil, inputs: [first, second, third, fourth, fifth], requiresInputOutputs: false) {
            execution in
            do {
                execution.succeed(
                    with: try await body(
                        first.finishedResult, second.finishedResult, third.finishedResult, fourth.finishedResult,
                        fifth.finishedResult, OperationContext(execution)))
            } catch { execution.bodyThrew(error) }
        }
    }

    /// Makes an operation from a closure that takes the outcomes of six operations.
    ///
    /// The operations become dependencies. The closure is called when they have finished, even if they have failed or
    /// were cancelled, and decides what to do.
    ///
    /// - Parameters:
    ///   - first: The operation whose outcome is the first argument of the closure.
    ///   - second: The operation whose outcome is the second argument of the closure.
    ///   - third: The operation whose outcome is the third argument of the closure.
    ///   - fourth: The operation whose outcome is the fourth argument of the closure.
    ///   - fifth: The operation whose outcome is the fifth argument of the closure.
    ///   - sixth: The operation whose outcome is the sixth argument of the closure.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    public convenience init<
        First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable, Fifth: Sendable, Sixth: Sendable
    >(
        resultOf first: AsyncOperation<First>, _ second: AsyncOperation<Second>, _ third: AsyncOperation<Third>,
        _ fourth: AsyncOperation<Fourth>, _ fifth: AsyncOperation<Fifth>, _ sixth: AsyncOperation<Sixth>,
        _ body:
            nonisolated(nonsending) @escaping @Sendable (
                Result<First, OperationError>, Result<Second, OperationError>, Result<Third, OperationError>,
                Result<Fourth, OperationError>, Result<Fifth, OperationError>, Result<Sixth, OperationError>
            ) async throws -> Output,
        file: StaticString = #fileID, line: UInt = #line
    ) {
        self.init(nil, resultOf: first, second, third, fourth, fifth, sixth, body)
        recordOrigin(file, line)
    }

    /// Makes an operation with a name from a closure that takes the outcomes of six operations.
    ///
    /// The operations become dependencies. The closure is called when they have finished, even if they have failed or
    /// were cancelled, and decides what to do.
    ///
    /// - Parameters:
    ///   - name: The name that errors and explanations use for the operation.
    ///   - first: The operation whose outcome is the first argument of the closure.
    ///   - second: The operation whose outcome is the second argument of the closure.
    ///   - third: The operation whose outcome is the third argument of the closure.
    ///   - fourth: The operation whose outcome is the fourth argument of the closure.
    ///   - fifth: The operation whose outcome is the fifth argument of the closure.
    ///   - sixth: The operation whose outcome is the sixth argument of the closure.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    public convenience init<
        First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable, Fifth: Sendable, Sixth: Sendable
    >(
        _ name: String?, resultOf first: AsyncOperation<First>, _ second: AsyncOperation<Second>,
        _ third: AsyncOperation<Third>, _ fourth: AsyncOperation<Fourth>, _ fifth: AsyncOperation<Fifth>,
        _ sixth: AsyncOperation<Sixth>,
        _ body:
            nonisolated(nonsending) @escaping @Sendable (
                Result<First, OperationError>, Result<Second, OperationError>, Result<Third, OperationError>,
                Result<Fourth, OperationError>, Result<Fifth, OperationError>, Result<Sixth, OperationError>
            ) async throws -> Output
    ) {
        self.init(
            name, procedure: nil, inputs: [first, second, third, fourth, fifth, sixth], requiresInputOutputs: false
        ) { execution in
            do {
                execution.succeed(
                    with: try await body(
                        first.finishedResult, second.finishedResult, third.finishedResult, fourth.finishedResult,
                        fifth.finishedResult, sixth.finishedResult))
            } catch { execution.bodyThrew(error) }
        }
    }

    /// Makes an operation from a closure that takes the outcomes of six operations, and its own context.
    ///
    /// The operations become dependencies. The closure is called when they have finished, even if they have failed or
    /// were cancelled, and decides what to do.
    ///
    /// - Parameters:
    ///   - first: The operation whose outcome is the first argument of the closure.
    ///   - second: The operation whose outcome is the second argument of the closure.
    ///   - third: The operation whose outcome is the third argument of the closure.
    ///   - fourth: The operation whose outcome is the fourth argument of the closure.
    ///   - fifth: The operation whose outcome is the fifth argument of the closure.
    ///   - sixth: The operation whose outcome is the sixth argument of the closure.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    public convenience init<
        First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable, Fifth: Sendable, Sixth: Sendable
    >(
        resultOf first: AsyncOperation<First>, _ second: AsyncOperation<Second>, _ third: AsyncOperation<Third>,
        _ fourth: AsyncOperation<Fourth>, _ fifth: AsyncOperation<Fifth>, _ sixth: AsyncOperation<Sixth>,
        _ body:
            nonisolated(nonsending) @escaping @Sendable (
                Result<First, OperationError>, Result<Second, OperationError>, Result<Third, OperationError>,
                Result<Fourth, OperationError>, Result<Fifth, OperationError>, Result<Sixth, OperationError>,
                OperationContext
            ) async throws -> Output,
        file: StaticString = #fileID, line: UInt = #line
    ) {
        self.init(nil, resultOf: first, second, third, fourth, fifth, sixth, body)
        recordOrigin(file, line)
    }

    /// Makes an operation with a name from a closure that takes the outcomes of six operations, and its own context.
    ///
    /// The operations become dependencies. The closure is called when they have finished, even if they have failed or
    /// were cancelled, and decides what to do.
    ///
    /// - Parameters:
    ///   - name: The name that errors and explanations use for the operation.
    ///   - first: The operation whose outcome is the first argument of the closure.
    ///   - second: The operation whose outcome is the second argument of the closure.
    ///   - third: The operation whose outcome is the third argument of the closure.
    ///   - fourth: The operation whose outcome is the fourth argument of the closure.
    ///   - fifth: The operation whose outcome is the fifth argument of the closure.
    ///   - sixth: The operation whose outcome is the sixth argument of the closure.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    public convenience init<
        First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable, Fifth: Sendable, Sixth: Sendable
    >(
        _ name: String?, resultOf first: AsyncOperation<First>, _ second: AsyncOperation<Second>,
        _ third: AsyncOperation<Third>, _ fourth: AsyncOperation<Fourth>, _ fifth: AsyncOperation<Fifth>,
        _ sixth: AsyncOperation<Sixth>,
        _ body:
            nonisolated(nonsending) @escaping @Sendable (
                Result<First, OperationError>, Result<Second, OperationError>, Result<Third, OperationError>,
                Result<Fourth, OperationError>, Result<Fifth, OperationError>, Result<Sixth, OperationError>,
                OperationContext
            ) async throws -> Output
    ) {
        self.init(
            name, procedure: nil, inputs: [first, second, third, fourth, fifth, sixth], requiresInputOutputs: false
        ) { execution in
            do {
                execution.succeed(
                    with: try await body(
                        first.finishedResult, second.finishedResult, third.finishedResult, fourth.finishedResult,
                        fifth.finishedResult, sixth.finishedResult, OperationContext(execution)))
            } catch { execution.bodyThrew(error) }
        }
    }

    /// Makes an operation from a closure that takes the outcomes of seven operations.
    ///
    /// The operations become dependencies. The closure is called when they have finished, even if they have failed or
    /// were cancelled, and decides what to do.
    ///
    /// - Parameters:
    ///   - first: The operation whose outcome is the first argument of the closure.
    ///   - second: The operation whose outcome is the second argument of the closure.
    ///   - third: The operation whose outcome is the third argument of the closure.
    ///   - fourth: The operation whose outcome is the fourth argument of the closure.
    ///   - fifth: The operation whose outcome is the fifth argument of the closure.
    ///   - sixth: The operation whose outcome is the sixth argument of the closure.
    ///   - seventh: The operation whose outcome is the seventh argument of the closure.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    public convenience init<
        First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable, Fifth: Sendable, Sixth: Sendable,
        Seventh: Sendable
    >(
        resultOf first: AsyncOperation<First>, _ second: AsyncOperation<Second>, _ third: AsyncOperation<Third>,
        _ fourth: AsyncOperation<Fourth>, _ fifth: AsyncOperation<Fifth>, _ sixth: AsyncOperation<Sixth>,
        _ seventh: AsyncOperation<Seventh>,
        _ body:
            nonisolated(nonsending) @escaping @Sendable (
                Result<First, OperationError>, Result<Second, OperationError>, Result<Third, OperationError>,
                Result<Fourth, OperationError>, Result<Fifth, OperationError>, Result<Sixth, OperationError>,
                Result<Seventh, OperationError>
            ) async throws -> Output,
        file: StaticString = #fileID, line: UInt = #line
    ) {
        self.init(nil, resultOf: first, second, third, fourth, fifth, sixth, seventh, body)
        recordOrigin(file, line)
    }

    /// Makes an operation with a name from a closure that takes the outcomes of seven operations.
    ///
    /// The operations become dependencies. The closure is called when they have finished, even if they have failed or
    /// were cancelled, and decides what to do.
    ///
    /// - Parameters:
    ///   - name: The name that errors and explanations use for the operation.
    ///   - first: The operation whose outcome is the first argument of the closure.
    ///   - second: The operation whose outcome is the second argument of the closure.
    ///   - third: The operation whose outcome is the third argument of the closure.
    ///   - fourth: The operation whose outcome is the fourth argument of the closure.
    ///   - fifth: The operation whose outcome is the fifth argument of the closure.
    ///   - sixth: The operation whose outcome is the sixth argument of the closure.
    ///   - seventh: The operation whose outcome is the seventh argument of the closure.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    public convenience init<
        First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable, Fifth: Sendable, Sixth: Sendable,
        Seventh: Sendable
    >(
        _ name: String?, resultOf first: AsyncOperation<First>, _ second: AsyncOperation<Second>,
        _ third: AsyncOperation<Third>, _ fourth: AsyncOperation<Fourth>, _ fifth: AsyncOperation<Fifth>,
        _ sixth: AsyncOperation<Sixth>, _ seventh: AsyncOperation<Seventh>,
        _ body:
            nonisolated(nonsending) @escaping @Sendable (
                Result<First, OperationError>, Result<Second, OperationError>, Result<Third, OperationError>,
                Result<Fourth, OperationError>, Result<Fifth, OperationError>, Result<Sixth, OperationError>,
                Result<Seventh, OperationError>
            ) async throws -> Output
    ) {
        self.init(
            name, procedure: nil, inputs: [first, second, third, fourth, fifth, sixth, seventh],
            requiresInputOutputs: false
        ) { execution in
            do {
                execution.succeed(
                    with: try await body(
                        first.finishedResult, second.finishedResult, third.finishedResult, fourth.finishedResult,
                        fifth.finishedResult, sixth.finishedResult, seventh.finishedResult))
            } catch { execution.bodyThrew(error) }
        }
    }

    /// Makes an operation from a closure that takes the outcomes of seven operations, and its own context.
    ///
    /// The operations become dependencies. The closure is called when they have finished, even if they have failed or
    /// were cancelled, and decides what to do.
    ///
    /// - Parameters:
    ///   - first: The operation whose outcome is the first argument of the closure.
    ///   - second: The operation whose outcome is the second argument of the closure.
    ///   - third: The operation whose outcome is the third argument of the closure.
    ///   - fourth: The operation whose outcome is the fourth argument of the closure.
    ///   - fifth: The operation whose outcome is the fifth argument of the closure.
    ///   - sixth: The operation whose outcome is the sixth argument of the closure.
    ///   - seventh: The operation whose outcome is the seventh argument of the closure.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    public convenience init<
        First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable, Fifth: Sendable, Sixth: Sendable,
        Seventh: Sendable
    >(
        resultOf first: AsyncOperation<First>, _ second: AsyncOperation<Second>, _ third: AsyncOperation<Third>,
        _ fourth: AsyncOperation<Fourth>, _ fifth: AsyncOperation<Fifth>, _ sixth: AsyncOperation<Sixth>,
        _ seventh: AsyncOperation<Seventh>,
        _ body:
            nonisolated(nonsending) @escaping @Sendable (
                Result<First, OperationError>, Result<Second, OperationError>, Result<Third, OperationError>,
                Result<Fourth, OperationError>, Result<Fifth, OperationError>, Result<Sixth, OperationError>,
                Result<Seventh, OperationError>, OperationContext
            ) async throws -> Output,
        file: StaticString = #fileID, line: UInt = #line
    ) {
        self.init(nil, resultOf: first, second, third, fourth, fifth, sixth, seventh, body)
        recordOrigin(file, line)
    }

    /// Makes an operation with a name from a closure that takes the outcomes of seven operations, and its own context.
    ///
    /// The operations become dependencies. The closure is called when they have finished, even if they have failed or
    /// were cancelled, and decides what to do.
    ///
    /// - Parameters:
    ///   - name: The name that errors and explanations use for the operation.
    ///   - first: The operation whose outcome is the first argument of the closure.
    ///   - second: The operation whose outcome is the second argument of the closure.
    ///   - third: The operation whose outcome is the third argument of the closure.
    ///   - fourth: The operation whose outcome is the fourth argument of the closure.
    ///   - fifth: The operation whose outcome is the fifth argument of the closure.
    ///   - sixth: The operation whose outcome is the sixth argument of the closure.
    ///   - seventh: The operation whose outcome is the seventh argument of the closure.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    public convenience init<
        First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable, Fifth: Sendable, Sixth: Sendable,
        Seventh: Sendable
    >(
        _ name: String?, resultOf first: AsyncOperation<First>, _ second: AsyncOperation<Second>,
        _ third: AsyncOperation<Third>, _ fourth: AsyncOperation<Fourth>, _ fifth: AsyncOperation<Fifth>,
        _ sixth: AsyncOperation<Sixth>, _ seventh: AsyncOperation<Seventh>,
        _ body:
            nonisolated(nonsending) @escaping @Sendable (
                Result<First, OperationError>, Result<Second, OperationError>, Result<Third, OperationError>,
                Result<Fourth, OperationError>, Result<Fifth, OperationError>, Result<Sixth, OperationError>,
                Result<Seventh, OperationError>, OperationContext
            ) async throws -> Output
    ) {
        self.init(
            name, procedure: nil, inputs: [first, second, third, fourth, fifth, sixth, seventh],
            requiresInputOutputs: false
        ) { execution in
            do {
                execution.succeed(
                    with: try await body(
                        first.finishedResult, second.finishedResult, third.finishedResult, fourth.finishedResult,
                        fifth.finishedResult, sixth.finishedResult, seventh.finishedResult, OperationContext(execution))
                )
            } catch { execution.bodyThrew(error) }
        }
    }

    /// Makes an operation from a closure that takes the outcomes of eight operations.
    ///
    /// The operations become dependencies. The closure is called when they have finished, even if they have failed or
    /// were cancelled, and decides what to do.
    ///
    /// - Parameters:
    ///   - first: The operation whose outcome is the first argument of the closure.
    ///   - second: The operation whose outcome is the second argument of the closure.
    ///   - third: The operation whose outcome is the third argument of the closure.
    ///   - fourth: The operation whose outcome is the fourth argument of the closure.
    ///   - fifth: The operation whose outcome is the fifth argument of the closure.
    ///   - sixth: The operation whose outcome is the sixth argument of the closure.
    ///   - seventh: The operation whose outcome is the seventh argument of the closure.
    ///   - eighth: The operation whose outcome is the eighth argument of the closure.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    public convenience init<
        First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable, Fifth: Sendable, Sixth: Sendable,
        Seventh: Sendable, Eighth: Sendable
    >(
        resultOf first: AsyncOperation<First>, _ second: AsyncOperation<Second>, _ third: AsyncOperation<Third>,
        _ fourth: AsyncOperation<Fourth>, _ fifth: AsyncOperation<Fifth>, _ sixth: AsyncOperation<Sixth>,
        _ seventh: AsyncOperation<Seventh>, _ eighth: AsyncOperation<Eighth>,
        _ body:
            nonisolated(nonsending) @escaping @Sendable (
                Result<First, OperationError>, Result<Second, OperationError>, Result<Third, OperationError>,
                Result<Fourth, OperationError>, Result<Fifth, OperationError>, Result<Sixth, OperationError>,
                Result<Seventh, OperationError>, Result<Eighth, OperationError>
            ) async throws -> Output,
        file: StaticString = #fileID, line: UInt = #line
    ) {
        self.init(nil, resultOf: first, second, third, fourth, fifth, sixth, seventh, eighth, body)
        recordOrigin(file, line)
    }

    /// Makes an operation with a name from a closure that takes the outcomes of eight operations.
    ///
    /// The operations become dependencies. The closure is called when they have finished, even if they have failed or
    /// were cancelled, and decides what to do.
    ///
    /// - Parameters:
    ///   - name: The name that errors and explanations use for the operation.
    ///   - first: The operation whose outcome is the first argument of the closure.
    ///   - second: The operation whose outcome is the second argument of the closure.
    ///   - third: The operation whose outcome is the third argument of the closure.
    ///   - fourth: The operation whose outcome is the fourth argument of the closure.
    ///   - fifth: The operation whose outcome is the fifth argument of the closure.
    ///   - sixth: The operation whose outcome is the sixth argument of the closure.
    ///   - seventh: The operation whose outcome is the seventh argument of the closure.
    ///   - eighth: The operation whose outcome is the eighth argument of the closure.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    public convenience init<
        First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable, Fifth: Sendable, Sixth: Sendable,
        Seventh: Sendable, Eighth: Sendable
    >(
        _ name: String?, resultOf first: AsyncOperation<First>, _ second: AsyncOperation<Second>,
        _ third: AsyncOperation<Third>, _ fourth: AsyncOperation<Fourth>, _ fifth: AsyncOperation<Fifth>,
        _ sixth: AsyncOperation<Sixth>, _ seventh: AsyncOperation<Seventh>, _ eighth: AsyncOperation<Eighth>,
        _ body:
            nonisolated(nonsending) @escaping @Sendable (
                Result<First, OperationError>, Result<Second, OperationError>, Result<Third, OperationError>,
                Result<Fourth, OperationError>, Result<Fifth, OperationError>, Result<Sixth, OperationError>,
                Result<Seventh, OperationError>, Result<Eighth, OperationError>
            ) async throws -> Output
    ) {
        self.init(
            name, procedure: nil, inputs: [first, second, third, fourth, fifth, sixth, seventh, eighth],
            requiresInputOutputs: false
        ) { execution in
            do {
                execution.succeed(
                    with: try await body(
                        first.finishedResult, second.finishedResult, third.finishedResult, fourth.finishedResult,
                        fifth.finishedResult, sixth.finishedResult, seventh.finishedResult, eighth.finishedResult))
            } catch { execution.bodyThrew(error) }
        }
    }

    /// Makes an operation from a closure that takes the outcomes of eight operations, and its own context.
    ///
    /// The operations become dependencies. The closure is called when they have finished, even if they have failed or
    /// were cancelled, and decides what to do.
    ///
    /// - Parameters:
    ///   - first: The operation whose outcome is the first argument of the closure.
    ///   - second: The operation whose outcome is the second argument of the closure.
    ///   - third: The operation whose outcome is the third argument of the closure.
    ///   - fourth: The operation whose outcome is the fourth argument of the closure.
    ///   - fifth: The operation whose outcome is the fifth argument of the closure.
    ///   - sixth: The operation whose outcome is the sixth argument of the closure.
    ///   - seventh: The operation whose outcome is the seventh argument of the closure.
    ///   - eighth: The operation whose outcome is the eighth argument of the closure.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    public convenience init<
        First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable, Fifth: Sendable, Sixth: Sendable,
        Seventh: Sendable, Eighth: Sendable
    >(
        resultOf first: AsyncOperation<First>, _ second: AsyncOperation<Second>, _ third: AsyncOperation<Third>,
        _ fourth: AsyncOperation<Fourth>, _ fifth: AsyncOperation<Fifth>, _ sixth: AsyncOperation<Sixth>,
        _ seventh: AsyncOperation<Seventh>, _ eighth: AsyncOperation<Eighth>,
        _ body:
            nonisolated(nonsending) @escaping @Sendable (
                Result<First, OperationError>, Result<Second, OperationError>, Result<Third, OperationError>,
                Result<Fourth, OperationError>, Result<Fifth, OperationError>, Result<Sixth, OperationError>,
                Result<Seventh, OperationError>, Result<Eighth, OperationError>, OperationContext
            ) async throws -> Output,
        file: StaticString = #fileID, line: UInt = #line
    ) {
        self.init(nil, resultOf: first, second, third, fourth, fifth, sixth, seventh, eighth, body)
        recordOrigin(file, line)
    }

    /// Makes an operation with a name from a closure that takes the outcomes of eight operations, and its own context.
    ///
    /// The operations become dependencies. The closure is called when they have finished, even if they have failed or
    /// were cancelled, and decides what to do.
    ///
    /// - Parameters:
    ///   - name: The name that errors and explanations use for the operation.
    ///   - first: The operation whose outcome is the first argument of the closure.
    ///   - second: The operation whose outcome is the second argument of the closure.
    ///   - third: The operation whose outcome is the third argument of the closure.
    ///   - fourth: The operation whose outcome is the fourth argument of the closure.
    ///   - fifth: The operation whose outcome is the fifth argument of the closure.
    ///   - sixth: The operation whose outcome is the sixth argument of the closure.
    ///   - seventh: The operation whose outcome is the seventh argument of the closure.
    ///   - eighth: The operation whose outcome is the eighth argument of the closure.
    ///   - body: Called at most once, on a task of the queue. An error that it throws becomes
    ///     ``OperationError/failed(_:)``.
    public convenience init<
        First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable, Fifth: Sendable, Sixth: Sendable,
        Seventh: Sendable, Eighth: Sendable
    >(
        _ name: String?, resultOf first: AsyncOperation<First>, _ second: AsyncOperation<Second>,
        _ third: AsyncOperation<Third>, _ fourth: AsyncOperation<Fourth>, _ fifth: AsyncOperation<Fifth>,
        _ sixth: AsyncOperation<Sixth>, _ seventh: AsyncOperation<Seventh>, _ eighth: AsyncOperation<Eighth>,
        _ body:
            nonisolated(nonsending) @escaping @Sendable (
                Result<First, OperationError>, Result<Second, OperationError>, Result<Third, OperationError>,
                Result<Fourth, OperationError>, Result<Fifth, OperationError>, Result<Sixth, OperationError>,
                Result<Seventh, OperationError>, Result<Eighth, OperationError>, OperationContext
            ) async throws -> Output
    ) {
        self.init(
            name, procedure: nil, inputs: [first, second, third, fourth, fifth, sixth, seventh, eighth],
            requiresInputOutputs: false
        ) { execution in
            do {
                execution.succeed(
                    with: try await body(
                        first.finishedResult, second.finishedResult, third.finishedResult, fourth.finishedResult,
                        fifth.finishedResult, sixth.finishedResult, seventh.finishedResult, eighth.finishedResult,
                        OperationContext(execution)))
            } catch { execution.bodyThrew(error) }
        }
    }
}
