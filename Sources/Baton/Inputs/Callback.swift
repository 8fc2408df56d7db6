/// What a callback-based body calls when it is done: exactly once, from any thread.
///
/// If the last copy of it is gone without a call, the operation ends with ``OperationError/callbackDropped``. A second
/// call is ``Misuse`` and changes nothing. Made by ``AsyncOperation/callback(_:file:line:)``.
public struct Callback<Output: Sendable>: Sendable {
    private let handle: Handle

    /// The operation's output.
    public func callAsFunction(_ output: Output) { handle.state.finish(.output(output)) }

    /// The operation's output, or the error that it fails with.
    public func callAsFunction<Failure: Error>(_ result: Result<Output, Failure>) {
        switch result {
        case .success(let output): handle.state.finish(.output(output))
        case .failure(let error): handle.state.finish(.threw(error))
        }
    }

    /// The error that the operation fails with.
    public func callAsFunction(throwing error: any Error) { handle.state.finish(.threw(error)) }

    /// Calls `handler` when the operation is cancelled before it is done; at once if it has been.
    ///
    /// It runs on the thread that cancels. The operation goes on waiting for the call: let the handler bring that
    /// about, by cancelling what will make it.
    public func onCancel(_ handler: @escaping @Sendable () -> Void) { handle.state.onCancel(handler) }

    /// Shared by all copies. The body that waits for the call has the state alone, so the last copy to go is noticed.
    private final class Handle: Sendable {
        let state: CallbackState<Output>

        init(_ state: CallbackState<Output>) { self.state = state }

        deinit { state.drop() }
    }

    init(_ state: CallbackState<Output>) { handle = Handle(state) }
}

extension Callback where Output == Void {
    /// The operation is done.
    public func callAsFunction() { callAsFunction(()) }
}

extension CallbackState {
    /// Calls a body. What it throws is known before its callback is dropped, which ends the operation, too.
    fileprivate func call(_ body: (Callback<Output>) throws -> Void) {
        let callback = Callback(self)
        withExtendedLifetime(callback) {
            do { try body(callback) } catch { bodyThrew(error) }
        }
    }
}

extension AsyncOperation {
    /// Makes an operation from a closure that starts something and has `finish` called when that is done.
    ///
    /// ```swift
    /// AsyncOperation<Data>.callback { finish in store.load { finish($0) } }
    /// ```
    ///
    /// It is no initializer, so that a closure that takes a context is never taken for one that takes `finish`.
    ///
    /// - Parameter body: Called at most once (of a retry: once for each attempt), on a task of the queue. The operation
    ///   ends when `finish` is called, or dropped without a call, and holds its permit until then. What `body` throws
    ///   ends it at once; a call after that is ``Misuse``.
    public static func callback(
        _ body: @escaping @Sendable (_ finish: Callback<Output>) throws -> Void,
        file: StaticString = #fileID, line: UInt = #line
    ) -> AsyncOperation<Output> {
        callback(nil, body).made(by: .callback, file, line)
    }

    /// Makes an operation with a name from a closure that starts something and has `finish` called when that is done.
    ///
    /// See ``callback(_:file:line:)``.
    public static func callback(
        _ name: String?, _ body: @escaping @Sendable (_ finish: Callback<Output>) throws -> Void
    ) -> AsyncOperation<Output> {
        AsyncOperation(name, procedure: nil, input: nil) { execution in
            let state = CallbackState<Output>(of: execution.operation)
            state.call(body)
            switch await state.end(of: execution.operation) {
            case .output(let output): execution.succeed(with: output)
            case .threw(let error): execution.bodyThrew(error)
            case .dropped: execution.bodyFailed(.callbackDropped)
            }
        }
    }
}
