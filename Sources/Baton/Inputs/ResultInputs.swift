/// Inputs whose failure is an input, too: the operation runs when they have finished, whatever the outcome, and gets each as
/// a `Result`.
extension AsyncOperation {
    /// Makes an operation from a closure that takes the outcome of `input`, which becomes a dependency.
    ///
    /// It runs when `input` has finished, also when that has failed or was cancelled: the closure decides.
    public convenience init<Input: Sendable>(
        _ name: String? = nil, resultOf input: AsyncOperation<Input>,
        body: nonisolated(nonsending) @escaping @Sendable (Result<Input, OperationError>) async throws -> Output
    ) {
        self.init(name, procedure: nil, inputs: [input], needed: false) { execution in
            do { execution.succeed(with: try await body(input.finishedResult)) } catch { execution.bodyThrew(error) }
        }
    }

    /// Makes an operation from a closure that takes the outcome of `input`, which becomes a dependency, and its context.
    public convenience init<Input: Sendable>(
        _ name: String? = nil, resultOf input: AsyncOperation<Input>,
        body:
            nonisolated(nonsending) @escaping @Sendable (
                Result<Input, OperationError>, OperationContext
            ) async throws -> Output
    ) {
        self.init(name, procedure: nil, inputs: [input], needed: false) { execution in
            do {
                execution.succeed(with: try await body(input.finishedResult, OperationContext(execution)))
            } catch { execution.bodyThrew(error) }
        }
    }

    /// Makes an operation from a closure that takes the outcomes of several operations, which become dependencies.
    ///
    /// It runs when all of them have finished, also when they have failed or were cancelled: the closure decides.
    public convenience init<First: Sendable, Second: Sendable, each More: Sendable>(
        _ name: String? = nil, resultOf first: AsyncOperation<First>, _ second: AsyncOperation<Second>,
        _ more: repeat AsyncOperation<each More>,
        body:
            nonisolated(nonsending) @escaping @Sendable (
                (
                    Result<First, OperationError>, Result<Second, OperationError>,
                    repeat Result<each More, OperationError>
                )
            ) async throws -> Output
    ) {
        let rest = (repeat each more)
        let inputs = [first, second] + erased(repeat each more)
        self.init(name, procedure: nil, inputs: inputs, needed: false) { execution in
            do {
                let output = try await body(
                    (first.finishedResult, second.finishedResult, repeat (each rest).finishedResult))
                execution.succeed(with: output)
            } catch { execution.bodyThrew(error) }
        }
    }

    /// Makes an operation from a closure that takes the outcomes of several operations, which become dependencies, and its
    /// context last.
    public convenience init<First: Sendable, Second: Sendable, each More: Sendable>(
        _ name: String? = nil, resultOf first: AsyncOperation<First>, _ second: AsyncOperation<Second>,
        _ more: repeat AsyncOperation<each More>,
        body:
            nonisolated(nonsending) @escaping @Sendable (
                (
                    Result<First, OperationError>, Result<Second, OperationError>,
                    repeat Result<each More, OperationError>, OperationContext
                )
            ) async throws -> Output
    ) {
        let rest = (repeat each more)
        let inputs = [first, second] + erased(repeat each more)
        self.init(name, procedure: nil, inputs: inputs, needed: false) { execution in
            do {
                let output = try await body(
                    (
                        first.finishedResult, second.finishedResult, repeat (each rest).finishedResult,
                        OperationContext(execution)
                    ))
                execution.succeed(with: output)
            } catch { execution.bodyThrew(error) }
        }
    }

    /// Plans one run of a procedure on the outcome of `input`, whatever it is; `input` becomes a dependency.
    public convenience init<P: InputProcedure, Input>(_ procedure: P, resultOf input: AsyncOperation<Input>)
    where P.Input == Result<Input, OperationError>, P.Output == Output {
        self.init(nil, procedure: P.self, inputs: [input], needed: false) { execution in
            do {
                let output = try await procedure.execute(input.finishedResult, in: OperationContext(execution))
                execution.succeed(with: output)
            } catch { execution.bodyThrew(error) }
        }
    }
}
