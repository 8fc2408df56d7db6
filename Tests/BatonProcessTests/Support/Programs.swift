import Baton
import BatonProcess

/// A script of the shell.
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
    /// Of a run as an operation of a queue of its own.
    func result() async throws -> SubprocessResult {
        try await AsyncOperationQueue().run(AsyncOperation(self))
    }

    /// What its run fails with; nil if it succeeds, or fails with something else.
    func failure() async -> SubprocessError? {
        do {
            _ = try await result()
            return nil
        } catch { return (error as? OperationError)?.underlyingError as? SubprocessError }
    }
}

extension AnyOperation {
    /// Whether its outcome is that it was cancelled.
    var wasCancelled: Bool {
        if case .cancelled? = error { true } else { false }
    }

    var failure: SubprocessError? { error?.underlyingError as? SubprocessError }
}

extension AsyncOperation {
    /// Returns when it has finished, with a value or not.
    func finished() async { _ = try? await value }
}

extension Folder {
    /// A program of this text. Another process writes it: a program that is started elsewhere while this one has the
    /// file open has it open, too, for a moment, and then it could not be run.
    func makeProgram(_ text: String, named name: String) async throws -> String {
        _ = try await sh("cat > $1 && chmod 755 $1", file(name), input: .text(text)).result()
        return file(name)
    }
}

struct Oops: Error, Equatable {}
