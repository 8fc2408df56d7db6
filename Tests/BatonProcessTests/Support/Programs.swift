import Baton
import BatonProcess

/// Makes a program that runs a shell script.
func sh(
    _ script: String, _ arguments: String..., environment: ProgramEnvironment = .inherited, directory: String? = nil,
    input: StandardInput = .none, output: StandardOutput = .collected(), errors: StandardError = .tail(),
    accepted: AcceptedStatuses = .zero, grace: Duration = .seconds(5), clock: any Clock<Duration> = ContinuousClock()
) -> Subprocess {
    Subprocess(
        "/bin/sh", arguments: ["-c", script, "sh"] + arguments, environment: environment, directory: directory,
        input: input, output: output, errors: errors, accepted: accepted, grace: grace, clock: clock)
}

extension Subprocess {
    /// Runs the program as an operation on a queue of its own.
    func result() async throws -> SubprocessResult {
        try await AsyncOperationQueue().run(AsyncOperation(self))
    }

    /// Returns the error with which a run fails, or nil if it succeeds or fails with an error of another type.
    func failure() async -> SubprocessError? {
        do {
            _ = try await result()
            return nil
        } catch { return (error as? OperationError)?.underlyingError as? SubprocessError }
    }
}

extension AnyOperation {
    /// True if the outcome is that the operation was cancelled.
    var wasCancelled: Bool {
        if case .cancelled? = error { true } else { false }
    }

    var failure: SubprocessError? { error?.underlyingError as? SubprocessError }
}

extension AsyncOperation {
    /// Returns when the operation has finished, with a value or an error.
    func finished() async { _ = try? await value }
}

extension Folder {
    /// Makes a program with this text. Another process writes the file, because a child that another test starts while
    /// this process has the file open for writing inherits the descriptor briefly, and the file cannot be run then.
    func makeProgram(_ text: String, named name: String) async throws -> String {
        _ = try await sh("cat > $1 && chmod 755 $1", file(name), input: .text(text)).result()
        return file(name)
    }
}

struct Oops: Error, Equatable {}
