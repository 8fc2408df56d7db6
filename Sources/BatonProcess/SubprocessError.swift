internal import CBatonProcess

/// Why a ``Subprocess`` failed. Every case names the program, as it was given.
public enum SubprocessError: Error, Sendable, Hashable {
    /// It ended with a status that is no success. `errors` is the end of what it wrote to standard error.
    case exited(program: String, status: Int32, errors: String)
    /// A signal that was not ours ended it. `errors` is the end of what it wrote to standard error.
    case signalled(program: String, signal: Int32, errors: String)
    /// No directory of the `PATH` of its environment has a file of this name. These were searched.
    case notFound(program: String, searched: [String])
    /// The system did not start it, for this reason.
    case notStarted(program: String, reason: SystemFailure)
    /// It cannot begin in this directory.
    case directoryNotEntered(program: String, directory: String, reason: SystemFailure)
    /// A file for its input or its outputs cannot be opened, made or put in its place.
    case fileNotUsable(program: String, path: String, reason: SystemFailure)
    /// It wrote more than was to be collected, and was ended.
    case outputTooLong(program: String, limit: Int)
    /// It wrote a line longer than this, and was ended.
    case lineTooLong(program: String, limit: Int)
    /// The system can hand over no such argument, variable or path. The text says what is wrong with which.
    case invalidText(program: String, problem: String)
    /// Its pipe in a pipeline has been used before: a program of a pipeline cannot run a second time.
    case pipeUsed(program: String)
    /// It has ended, and nobody knows how, because other code of this process has waited for every child, or ignores `SIGCHLD`.
    case statusLost(program: String)
}

/// What the system said: the number and the text of an `errno`.
public struct SystemFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The number, for example `ENOENT`.
    public let code: Int32

    /// Of an `errno`.
    public init(code: Int32) { self.code = code }

    /// The text, for example "No such file or directory".
    public var description: String { String(cString: baton_error_text(code)) }
}

extension SubprocessError: CustomStringConvertible {
    /// What happened to which program, and what to do where something can be done.
    public var description: String {
        switch self {
        case .exited(let program, let status, let errors):
            "‘\(program)’ exited with status \(status)\(Self.ending(errors))"
        case .signalled(let program, let signal, let errors):
            "‘\(program)’ was ended by signal \(signal) (\(String(cString: baton_signal_text(signal))))\(Self.ending(errors))"
        case .notFound(let program, let searched):
            "‘\(program)’ is in none of the directories of PATH (\(searched.joined(separator: ":"))). "
                + "Install it, or give its whole path"
        case .notStarted(let program, let reason):
            "‘\(program)’ could not be started: \(reason)"
        case .directoryNotEntered(let program, let directory, let reason):
            "‘\(program)’ cannot begin in the directory ‘\(directory)’: \(reason)"
        case .fileNotUsable(let program, let path, let reason):
            "‘\(program)’ cannot have the file ‘\(path)’: \(reason)"
        case .outputTooLong(let program, let limit):
            "‘\(program)’ was ended, because it wrote more than \(limit) bytes. Collect more, or take lines or a file"
        case .lineTooLong(let program, let limit):
            "‘\(program)’ was ended, because it wrote a line of more than \(limit) bytes. Allow longer lines, or take bytes"
        case .invalidText(let program, let problem):
            "‘\(program)’ was not started: \(problem)"
        case .pipeUsed(let program):
            "‘\(program)’ cannot run in its pipeline again. Make the whole pipeline anew"
        case .statusLost(let program):
            "‘\(program)’ has ended, but other code of this process has taken its status. Wait there for its own children only"
        }
    }

    private static func ending(_ errors: String) -> String {
        let text = errors.trimmed
        return text.isEmpty ? "" : ": \(text)"
    }
}

extension String {
    fileprivate var trimmed: Substring {
        var text = self[...]
        while text.last?.isWhitespace == true { text.removeLast() }
        while text.first?.isWhitespace == true { text.removeFirst() }
        return text
    }
}
