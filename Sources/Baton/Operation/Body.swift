/// The code that an operation runs.
@usableFromInline
enum Body: Sendable {
    @usableFromInline typealias Plain = nonisolated(nonsending) @Sendable () async throws -> Void
    @usableFromInline typealias Wrapped = nonisolated(nonsending) @Sendable (Execution) async -> Void

    /// The user's closure itself, which has no output to store. A closure around it would cost one more object and one
    /// more asynchronous call.
    case plain(Plain)
    /// A closure around the user's, which finds the inputs and stores the outcome.
    case wrapped(Wrapped)

    @inline(__always)
    nonisolated(nonsending) func run(_ execution: Execution) async {
        switch self {
        case .plain(let body): do { try await body() } catch { execution.bodyThrew(error) }
        case .wrapped(let body): await body(execution)
        }
    }
}

/// One run of a body, through which the closure around the user's finds the inputs and stores the outcome.
///
/// It does not retain the operation, because that would cost two atomic steps for each run. The worker holds the
/// operation until the closure has returned.
@usableFromInline
struct Execution: Sendable {
    @usableFromInline let unmanaged: Unmanaged<AnyOperation>

    init(of operation: Unmanaged<AnyOperation>) { unmanaged = operation }

    /// The operation, retained for the caller.
    @usableFromInline
    var operation: AnyOperation { unmanaged.takeUnretainedValue() }

    @inlinable
    @inline(__always)
    func succeed<Output: Sendable>(with output: Output) {
        unmanaged._withUnsafeGuaranteedRef { operation in
            operation.outcome = output
            if !_isPOD(Output.self) { operation.outcomeOwns = true }
        }
    }

    @usableFromInline
    func bodyThrew(_ error: any Error) { unmanaged._withUnsafeGuaranteedRef { $0.bodyThrew(error) } }

    func bodyFailed(_ error: OperationError) { unmanaged._withUnsafeGuaranteedRef { $0.bodyFailed(error) } }

    /// Returns the input at `place`. Returns nil if that has no output, so that the body must not run; the failure of
    /// this operation is then stored.
    @usableFromInline
    func checkedInput<Input>(at place: Int, as type: Input.Type) -> AsyncOperation<Input>? {
        unmanaged._withUnsafeGuaranteedRef { $0.checkedInput(at: place, as: type) }
    }

    /// Returns false if an input has no output, so that the body must not run; the failure of this operation is then
    /// stored.
    func checkInputs() -> Bool { unmanaged._withUnsafeGuaranteedRef { $0.checkInputs() } }
}
