internal import Baton
internal import CBatonProcess

/// The reason why a ``Subprocess`` failed. Every case that concerns a program contains its name, as it was given.
@nonexhaustive
public enum SubprocessError: Error, Sendable, Hashable {
    /// The program exited with a status that is not accepted. `errors` is the end of its standard error.
    case exited(program: String, status: Int32, errors: String)
    /// A signal that this process did not send ended the program. `errors` is the end of its standard error.
    case signalled(program: String, signal: Int32, errors: String)
    /// None of the directories in the `PATH` of the program's environment has a file of this name. `searched` lists
    /// them.
    case notFound(program: String, searched: [String])
    /// The system did not start the program.
    case notStarted(program: String, reason: SystemFailure)
    /// The program cannot be started in its working directory.
    case directoryNotEntered(program: String, directory: String, reason: SystemFailure)
    /// A file for the program's input or outputs cannot be opened, created or moved to its final path.
    case fileNotUsable(program: String, path: String, reason: SystemFailure)
    /// The program wrote more than `limit` bytes to an output that is collected, and was ended.
    case outputTooLong(program: String, limit: Int)
    /// The program wrote a line of more than `limit` bytes, and was ended.
    case lineTooLong(program: String, limit: Int)
    /// An argument, a variable or a path cannot be passed to the system. `problem` says which one and why.
    case invalidText(program: String, problem: String)
    /// The program's pipe has been used before: a program of a pipeline cannot run a second time.
    case pipeUsed(program: String)
    /// The program has ended, but its status was lost, because other code of this process has waited for every child,
    /// or ignores `SIGCHLD`.
    case statusLost(program: String)
    /// A ``SubprocessPipeline`` without programs was run.
    case emptyPipeline
}

/// An error of the operating system: the number of an `errno` and its text.
public struct SystemFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The number, for example `ENOENT`.
    public let code: Int32
    /// The reason in more detail, as a sentence without its full stop, or nil if the number says everything.
    public let detail: String?

    /// Makes the failure for an `errno`.
    ///
    /// - Parameter code: The number, for example `ENOENT`.
    public init(code: Int32) { self.init(code: code, detail: nil) }

    init(code: Int32, detail: String?) {
        self.code = code
        self.detail = detail
    }

    /// The text of the system for the number, for example "No such file or directory".
    public var description: String { String(cString: baton_error_text(code)) }

    /// Returns true if both failures have the same number.
    public static func == (left: Self, right: Self) -> Bool { left.code == right.code }

    /// Hashes the number.
    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}

extension SystemFailure {
    /// True if all descriptors or processes that the limits allow are in use, so that the same call may succeed later.
    var isShortage: Bool { [baton_EMFILE, baton_ENFILE, baton_EAGAIN].contains(code) }

    /// The text of the system, followed by the detail or by advice.
    fileprivate var sentences: String {
        let advice: String? =
            switch code {
            case baton_EMFILE:
                "This process has reached its limit of open descriptors. Raise it (ulimit -n), or run fewer programs "
                    + "at a time"
            case baton_ENFILE:
                "The system has reached its limit of open files. Run fewer programs at a time"
            case baton_EAGAIN:
                "This user has reached the limit of processes. Raise it (ulimit -u), or run fewer programs at a time"
            case baton_E2BIG:
                "The arguments and the environment exceed the system's limit. Pass them as input, or in a file"
            case baton_ETXTBSY:
                "A process still has the file open for writing"
            default: nil
            }
        return ([description] + [detail ?? advice].compactMap { $0 }).joined(separator: ". ")
    }
}

extension SubprocessError {
    /// True if the program was not started because a limit of descriptors or processes was reached.
    var isShortage: Bool {
        switch self {
        case .notStarted(_, let reason), .fileNotUsable(_, _, let reason), .directoryNotEntered(_, _, let reason):
            reason.isShortage
        case .exited, .signalled, .notFound, .outputTooLong, .lineTooLong, .invalidText, .pipeUsed, .statusLost,
            .emptyPipeline:
            false
        }
    }
}

extension SubprocessError: CustomStringConvertible {
    /// A message that says what happened to which program, and what can be done about it.
    ///
    /// The lines of a program's standard error are kept, but without control characters that a terminal would
    /// interpret.
    public var description: String { text.cleanLines }

    private var text: String {
        switch self {
        case .exited(let program, let status, let errors):
            "\(Self.name(program)) exited with status \(status)\(Self.ending(errors))"
        case .signalled(let program, let signal, let errors):
            "\(Self.name(program)) was ended by signal \(signal) "
                + "(\(String(cString: baton_signal_text(signal))))\(Self.ending(errors))"
        case .notFound(let program, let searched):
            "\(Self.name(program)) is in none of the directories of PATH (\(searched.joined(separator: ":"))). "
                + (Self.hint(for: program) ?? "Install it, or give its whole path")
        case .notStarted(let program, let reason):
            "\(Self.name(program)) could not be started: \(reason.sentences)"
        case .directoryNotEntered(let program, let directory, let reason):
            "\(Self.name(program)) could not be started in the directory \(directory.quoted): \(reason.sentences)"
        case .fileNotUsable(let program, let path, let reason):
            "\(Self.name(program)) cannot use the file \(path.quoted): \(reason.sentences)"
        case .outputTooLong(let program, let limit):
            "\(Self.name(program)) was ended, because it wrote more than \(Self.bytes(limit)). "
                + "Raise the limit, or use lines or a file"
        case .lineTooLong(let program, let limit):
            "\(Self.name(program)) was ended, because it wrote a line of more than \(Self.bytes(limit)). "
                + "Raise the limit, or use bytes"
        case .invalidText(let program, let problem):
            "\(Self.name(program)) was not started: \(problem)"
        case .pipeUsed(let program):
            "\(Self.name(program)) cannot run in its pipeline again. Create a new operation for the whole pipeline"
        case .statusLost(let program):
            "\(Self.name(program)) has ended, but its status was lost, because other code of this process waits for "
                + "every child, or ignores SIGCHLD. Let that code wait only for its own children"
        case .emptyPipeline:
            "A pipeline without programs cannot run. Give it one or more"
        }
    }

    private static func name(_ program: String) -> String {
        program.isBlank ? "A program without a name" : program.quoted
    }

    /// Advice if the name of a program that does not exist looks like a line for a shell; otherwise nil.
    static func hint(for program: String) -> String? {
        let words = program.split(whereSeparator: \.isWhitespace).map(String.init)
        guard words.count > 1 else { return nil }
        let isPlain = words.allSatisfy { $0.allSatisfy { $0.isLetter || $0.isNumber || "-_+=./:,@%".contains($0) } }
        let arguments = isPlain ? words.dropFirst().map { "\"\($0)\"" }.joined(separator: ", ") : "…"
        return "The name contains a space, and no shell splits it: if the rest are arguments, pass them separately, as "
            + "in `Subprocess(\"\(words[0])\", arguments: [\(arguments)])`"
    }

    private static func bytes(_ count: Int) -> String { count == 1 ? "1 byte" : "\(count) bytes" }

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
