#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif
internal import CBatonProcess

/// The three standard descriptors of a program, and the ends that this process keeps.
struct StandardStreams: Sendable {
    private(set) var input: Descriptor
    private(set) var output: Descriptor
    private(set) var errors: Descriptor

    /// The end of the pipe that the input is written to, and the data to write.
    private(set) var feed: (end: Descriptor, data: Data)?
    private(set) var outputReader: Descriptor?
    private(set) var errorReader: Descriptor?
    private(set) var files: [(path: String, file: OutputFile)] = []
    private let pipelineOutput: Descriptor?
    /// A duplicate of the end that the program writes to, kept to find out whether the reader is still there when the
    /// program has ended. The reader sees the end of its input only when this descriptor is closed as well.
    private(set) var readerProbe: Descriptor?

    /// Opens or makes the descriptors that the program's options ask for.
    ///
    /// - Parameters:
    ///   - program: The program that gets the descriptors.
    ///   - ends: The ends that the program has taken of the pipes of its pipeline.
    /// - Throws: A `SubprocessError` if a file cannot be opened, or a pipe cannot be made.
    init(_ program: Subprocess, _ ends: ClaimedPipeEnds) throws(SubprocessError) {
        let null = try Self.openDescriptor("/dev/null", for: program) { baton_open_reading("/dev/null", $0) }
        (input, output, errors) = (null, null, null)
        pipelineOutput = ends.output
        if program.brokenPipe == .successWithAnyStatus, let output = ends.output {
            readerProbe = try Self.openDescriptor("/dev/fd/\(output.number)", for: program) {
                baton_duplicate(output.number, $0)
            }
        }
        try connectInput(of: program, ends.input)
        switch program.errors.target {
        case .merged:
            (output, outputReader) = try open(program.output.target, of: program, inheriting: 1)
            errors = output
        case .file:
            // Standard error is opened before standard output: if the output is appended to the same file, it goes to
            // the draft as well.
            (errors, errorReader) = try open(program.errors.target, of: program, inheriting: 2)
            (output, outputReader) = try open(program.output.target, of: program, inheriting: 1)
        case .collected, .tail, .lines, .bytes, .appendedFile, .discarded, .inherited, .pipe:
            (output, outputReader) = try open(program.output.target, of: program, inheriting: 1)
            (errors, errorReader) = try open(program.errors.target, of: program, inheriting: 2)
        }
    }

    private mutating func connectInput(of program: Subprocess, _ pipelineInput: Descriptor?) throws(SubprocessError) {
        switch program.input.source {
        case .none:
            break
        case .data(let data):
            let ends = try Self.makePipe(for: program)
            input = ends.reading
            if !data.isEmpty {
                try Self.makeNonBlocking(ends.writing, for: program)
                feed = (ends.writing, data)
            }
        case .file(let path):
            input = try Self.openDescriptor(path, for: program) { descriptor in
                var file = baton_file()
                let code = baton_examine(path, &file)
                if code != 0 { return code }
                return file.kind == baton_file_directory ? baton_EISDIR : baton_open_reading(path, descriptor)
            }
        case .pipe:
            guard let pipelineInput else {
                preconditionFailure("Internal inconsistency: a program has not taken the end of its pipe")
            }
            input = pipelineInput
        }
    }

    /// Returns the descriptor that the program gets, and the end that this process reads from, if there is one.
    private mutating func open(
        _ target: OutputTarget, of program: Subprocess, inheriting number: Int32
    ) throws(SubprocessError) -> (Descriptor, Descriptor?) {
        switch target {
        case .collected, .tail, .lines, .bytes:
            let ends = try Self.makePipe(for: program)
            try Self.makeNonBlocking(ends.reading, for: program)
            return (ends.writing, ends.reading)
        case .file(let path), .appendedFile(let path):
            // If each output had a draft of its own, the second rename would replace the file of the first.
            if let file = files.first?.file, file.replaces(path) { return (file.descriptor, nil) }
            var isAppended = false
            if case .appendedFile = target { isAppended = true }
            let file: OutputFile
            do { file = try OutputFile(path, appending: isAppended) } catch {
                throw SubprocessError.fileNotUsable(program: program.program, path: path, reason: error)
            }
            files.append((path, file))
            return (file.descriptor, nil)
        case .inherited:
            return (try Self.openDescriptor("/dev/fd/\(number)", for: program) { baton_duplicate(number, $0) }, nil)
        case .pipe:
            guard let pipelineOutput else {
                preconditionFailure("Internal inconsistency: a program has not taken the end of its pipe")
            }
            return (pipelineOutput, nil)
        case .discarded:
            return (try Self.openDescriptor("/dev/null", for: program) { baton_open_writing("/dev/null", 0, $0) }, nil)
        case .merged:
            preconditionFailure("Internal inconsistency: a merged standard error has the descriptor of the output")
        }
    }

    /// Closes the descriptors of this process that the started program has inherited.
    func closeProgramEnds() {
        for end in [input, output, errors] { end.close() }
    }

    /// Removes the drafts, because the program did not succeed.
    func abandonFiles() {
        for (_, file) in files { file.abandon() }
    }
}

// MARK: - Errors that name the program

extension StandardStreams {
    private static func openDescriptor(
        _ path: String, for program: Subprocess, by open: (UnsafeMutablePointer<Int32>) -> Int32
    ) throws(SubprocessError) -> Descriptor {
        do { return try .opened(by: open) } catch {
            throw .fileNotUsable(program: program.program, path: path, reason: error)
        }
    }

    private static func makePipe(for program: Subprocess) throws(SubprocessError) -> PipeEnds {
        do { return try PipeEnds() } catch { throw .notStarted(program: program.program, reason: error) }
    }

    private static func makeNonBlocking(_ end: Descriptor, for program: Subprocess) throws(SubprocessError) {
        do { try end.makeNonBlocking() } catch { throw .notStarted(program: program.program, reason: error) }
    }
}
