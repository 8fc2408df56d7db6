#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif
internal import CBatonProcess

/// What a program gets as its three descriptors, and what this process keeps of them.
struct StandardStreams: Sendable {
    private(set) var input: Descriptor
    private(set) var output: Descriptor
    private(set) var errors: Descriptor

    /// Where its input is written to, and what.
    private(set) var feed: (end: Descriptor, data: Data)?
    private(set) var outputReader: Descriptor?
    private(set) var errorReader: Descriptor?
    private(set) var files: [(path: String, file: OutputFile)] = []
    private let pipelineOutput: Descriptor?
    /// The end that the program writes to, if it is asked in the end whether somebody still reads. The program that
    /// reads sees no end before this is closed, too.
    private(set) var readerProbe: Descriptor?

    /// - Parameter ends: What the program has of its pipeline.
    init(_ program: Subprocess, _ ends: PipelineEnds) throws(SubprocessError) {
        let nothing = try Self.opening("/dev/null", for: program) { baton_open_reading("/dev/null", $0) }
        (input, output, errors) = (nothing, nothing, nothing)
        pipelineOutput = ends.output
        if program.brokenPipe == .successWithAnyStatus, let output = ends.output {
            readerProbe = try Self.opening("/dev/fd/\(output.number)", for: program) {
                baton_duplicate(output.number, $0)
            }
        }
        try connectInput(of: program, ends.input)
        switch program.errors.target {
        case .merged:
            (output, outputReader) = try open(program.output.target, of: program, inheriting: 1)
            errors = output
        case .file:
            // Before standard output, which may be added to the same file: then that goes to the draft, too.
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
                try Self.neverWait(ends.writing, for: program)
                feed = (ends.writing, data)
            }
        case .file(let path):
            input = try Self.opening(path, for: program) { descriptor in
                var file = baton_file()
                let code = baton_examine(path, &file)
                if code != 0 { return code }
                return file.kind == baton_file_directory ? baton_is_a_directory : baton_open_reading(path, descriptor)
            }
        case .pipe:
            if let pipelineInput { input = pipelineInput }
        }
    }

    /// What the program gets, and what is read from.
    private mutating func open(
        _ target: OutputTarget, of program: Subprocess, inheriting number: Int32
    ) throws(SubprocessError) -> (Descriptor, Descriptor?) {
        switch target {
        case .collected, .tail, .lines, .bytes:
            let ends = try Self.makePipe(for: program)
            try Self.neverWait(ends.reading, for: program)
            return (ends.writing, ends.reading)
        case .file(let path), .appendedFile(let path):
            // With a draft of its own, one of the outputs would replace the other.
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
            return (try Self.opening("/dev/fd/\(number)", for: program) { baton_duplicate(number, $0) }, nil)
        case .pipe, .discarded, .merged:
            if let pipelineOutput { return (pipelineOutput, nil) }
            return (try Self.opening("/dev/null", for: program) { baton_open_writing("/dev/null", 0, $0) }, nil)
        }
    }

    /// The program has them now.
    func closeItsEnds() {
        for end in [input, output, errors] { end.close() }
    }

    /// The program did not succeed.
    func abandonFiles() {
        for (_, file) in files { file.abandon() }
    }
}

// MARK: - Errors that name the program

extension StandardStreams {
    private static func opening(
        _ path: String, for program: Subprocess, by open: (UnsafeMutablePointer<Int32>) -> Int32
    ) throws(SubprocessError) -> Descriptor {
        do { return try .opened(by: open) } catch {
            throw .fileNotUsable(program: program.program, path: path, reason: error)
        }
    }

    private static func makePipe(for program: Subprocess) throws(SubprocessError) -> PipeEnds {
        do { return try PipeEnds() } catch { throw .notStarted(program: program.program, reason: error) }
    }

    private static func neverWait(_ end: Descriptor, for program: Subprocess) throws(SubprocessError) {
        do { try end.neverWait() } catch { throw .notStarted(program: program.program, reason: error) }
    }
}
