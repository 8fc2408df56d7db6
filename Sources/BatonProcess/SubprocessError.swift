internal import Baton
internal import CBatonProcess

/// Why a ``Subprocess`` failed. Every case names the program, as it was given.
@nonexhaustive
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
    /// It has ended, and nobody knows how, because other code of this process has waited for every child, or ignores
    /// `SIGCHLD`.
    case statusLost(program: String)
}

/// What the system said: the number and the text of an `errno`.
public struct SystemFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The number, for example `ENOENT`.
    public let code: Int32
    /// What was found out about the reason, as a sentence without its full stop; nil if the number says everything.
    public let detail: String?

    /// Makes the failure of an `errno`.
    public init(code: Int32) { self.init(code: code, detail: nil) }

    init(code: Int32, detail: String?) {
        self.code = code
        self.detail = detail
    }

    /// The text, for example "No such file or directory".
    public var description: String { String(cString: baton_error_text(code)) }

    /// Two failures are equal when their numbers are.
    public static func == (left: Self, right: Self) -> Bool { left.code == right.code }

    /// Hashes the number.
    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}

extension SystemFailure {
    /// All descriptors or processes that there may be are in use: when some of them have gone, the same call succeeds.
    var isShortage: Bool { [baton_no_descriptor, baton_no_file, baton_again].contains(code) }

    /// The text, what was found out, and what to do.
    fileprivate var sentences: String {
        let advice: String? =
            switch code {
            case baton_no_descriptor:
                "This process has as many descriptors as it may. Raise its limit (ulimit -n), or run fewer programs at a time"
            case baton_no_file:
                "The system has as many open files as it may. Run fewer programs at a time"
            case baton_again:
                "There are as many processes as this user may have. Raise the limit (ulimit -u), or run fewer programs at a time"
            case baton_too_long_a_list:
                "The arguments and the environment are longer than the system takes. Pass them as input, or in a file"
            case baton_busy_file:
                "Somebody still has the file open to write to it"
            default: nil
            }
        return ([description] + [detail ?? advice].compactMap { $0 }).joined(separator: ". ")
    }
}

extension SubprocessError {
    /// The program has not been started, because there are too many already.
    var isShortage: Bool {
        switch self {
        case .notStarted(_, let reason), .fileNotUsable(_, _, let reason), .directoryNotEntered(_, _, let reason):
            reason.isShortage
        case .exited, .signalled, .notFound, .outputTooLong, .lineTooLong, .invalidText, .pipeUsed, .statusLost:
            false
        }
    }
}

extension SubprocessError: CustomStringConvertible {
    /// What happened to which program, and what to do where something can be done.
    ///
    /// What a program wrote keeps its lines, without anything that a terminal would obey.
    public var description: String { text.cleanLines }

    private var text: String {
        switch self {
        case .exited(let program, let status, let errors):
            "‘\(program)’ exited with status \(status)\(Self.ending(errors))"
        case .signalled(let program, let signal, let errors):
            "‘\(program)’ was ended by signal \(signal) (\(String(cString: baton_signal_text(signal))))\(Self.ending(errors))"
        case .notFound(let program, let searched):
            "‘\(program)’ is in none of the directories of PATH (\(searched.joined(separator: ":"))). "
                + "Install it, or give its whole path"
        case .notStarted(let program, let reason):
            "‘\(program)’ could not be started: \(reason.sentences)"
        case .directoryNotEntered(let program, let directory, let reason):
            "‘\(program)’ cannot begin in the directory ‘\(directory)’: \(reason.sentences)"
        case .fileNotUsable(let program, let path, let reason):
            "‘\(program)’ cannot have the file ‘\(path)’: \(reason.sentences)"
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
