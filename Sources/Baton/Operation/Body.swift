/// What an operation runs.
@usableFromInline
enum Body: Sendable {
    @usableFromInline typealias Plain = nonisolated(nonsending) @Sendable () async throws -> Void
    @usableFromInline typealias Wrapped = nonisolated(nonsending) @Sendable (Execution) async -> Void

    /// As the user wrote it, with nothing for its output. A closure around it would be one more object, and one more
    /// asynchronous call.
    case plain(Plain)
    /// With a closure around it that finds its inputs and stores its outcome.
    case wrapped(Wrapped)

    @inline(__always)
    nonisolated(nonsending) func run(_ execution: Execution) async {
        switch self {
        case .plain(let body): do { try await body() } catch { execution.bodyThrew(error) }
        case .wrapped(let body): await body(execution)
        }
    }
}

/// One run of a body, for the closure that is around it and stores its outcome.
///
/// It does not retain the operation, which its worker holds until that closure has returned: a reference for each run
/// would be two atomic steps.
@usableFromInline
struct Execution: Sendable {
    @usableFromInline let unmanaged: Unmanaged<AnyOperation>

    init(of operation: Unmanaged<AnyOperation>) { unmanaged = operation }

    /// With a reference of the caller's.
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

    /// The input at `place`. Nil: it has no output, and the body does not run.
    @usableFromInline
    func source<Input>(_ place: Int, _ type: Input.Type) -> AsyncOperation<Input>? {
        unmanaged._withUnsafeGuaranteedRef { $0.source(place, type) }
    }

    /// False: one of them has no output, and the body does not run.
    func inputsAreThere() -> Bool { unmanaged._withUnsafeGuaranteedRef { $0.inputsAreThere() } }
}
