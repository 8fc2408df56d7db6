/// Value edges from several operations at once, typed by parameter packs. The order of the inputs is the order of the
/// parameters; the first one without an output decides the error.
///
/// The closures take one tuple, which a closure literal spells as so many parameters: a pack of parameters here crashes the
/// compiler (6.3.1) when `NonisolatedNonsendingByDefault` is on.
///
/// The closures take at least two inputs: with one, a parameter could be that input or the whole tuple, and a closure whose
/// body does not decide it would be ambiguous.
extension AsyncOperation {
    /// Plans one run of a procedure on the outputs of several operations, which become dependencies.
    public convenience init<P: InputProcedure, each Input: Sendable>(
        _ procedure: P, inputs: repeat AsyncOperation<each Input>
    ) where P.Input == (repeat each Input), P.Output == Output {
        let sources = (repeat each inputs)
        self.init(nil, procedure: P.self, inputs: erased(repeat each inputs)) { execution in
            guard execution.inputsAreThere() else { return }
            do {
                let values = (repeat (each sources).storedOutput)
                execution.succeed(with: try await procedure.execute(values, in: OperationContext(execution)))
            } catch { execution.bodyThrew(error) }
        }
    }

    /// Makes an operation from a closure that takes the outputs of several operations, which become dependencies.
    public convenience init<First: Sendable, Second: Sendable, each More: Sendable>(
        _ first: AsyncOperation<First>, _ second: AsyncOperation<Second>, _ more: repeat AsyncOperation<each More>,
        body: nonisolated(nonsending) @escaping @Sendable ((First, Second, repeat each More)) async throws -> Output
    ) {
        let rest = (repeat each more)
        self.init(nil, procedure: nil, inputs: [first, second] + erased(repeat each more)) { execution in
            guard execution.inputsAreThere() else { return }
            do {
                let output = try await body(
                    (first.storedOutput, second.storedOutput, repeat (each rest).storedOutput))
                execution.succeed(with: output)
            } catch { execution.bodyThrew(error) }
        }
    }

    /// Makes an operation from a closure that takes the outputs of several operations, which become dependencies, and its
    /// context last.
    public convenience init<First: Sendable, Second: Sendable, each More: Sendable>(
        _ first: AsyncOperation<First>, _ second: AsyncOperation<Second>, _ more: repeat AsyncOperation<each More>,
        body:
            nonisolated(nonsending) @escaping @Sendable (
                (First, Second, repeat each More, OperationContext)
            ) async throws -> Output
    ) {
        let rest = (repeat each more)
        self.init(nil, procedure: nil, inputs: [first, second] + erased(repeat each more)) { execution in
            guard execution.inputsAreThere() else { return }
            do {
                let output = try await body(
                    (
                        first.storedOutput, second.storedOutput, repeat (each rest).storedOutput,
                        OperationContext(execution)
                    ))
                execution.succeed(with: output)
            } catch { execution.bodyThrew(error) }
        }
    }
}

/// As dependencies, in order.
func erased<each Input>(_ inputs: repeat AsyncOperation<each Input>) -> [AnyOperation] {
    var all: [AnyOperation] = []
    for input in repeat each inputs { all.append(input) }
    return all
}

extension AnyOperation {
    /// Every input was seen finished. False: one has no output, and this operation's failure is stored.
    final func inputsAreThere() -> Bool {
        for input in inputs {
            if let failure = input.failure {
                bodyWasSkipped(failure.passedOn(by: input.reference))
                return false
            }
        }
        return true
    }
}
