#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif
internal import Baton
internal import CBatonProcess

extension Subprocess {
    /// Starts the program and waits until it has ended.
    func run() async throws -> SubprocessResult {
        try Task.checkCancellation()
        let running = try await Launcher.launch(self)
        defer { LaunchQueue.shared.ended(running) }
        do {
            let result = try await withTaskCancellationHandler {
                try await conduct(running)
            } onCancel: {
                running.end(.cancelled)
            }
            try putFilesInPlace(of: running)
            return result
        } catch {
            running.streams.abandonFiles()
            throw error
        }
    }

    /// The result of one child task.
    private enum Part: Sendable {
        case ended(SubprocessTermination?)
        case output(OutputSink)
        case errors(OutputSink)
        case input
    }

    private func conduct(_ running: RunningProgram) async throws -> SubprocessResult {
        var termination: SubprocessTermination?
        var outputs: (output: OutputSink, errors: OutputSink) = (
            OutputSink(output.target, of: program), OutputSink(errors.target, of: program)
        )
        await withTaskGroup(of: Part.self) { parts in
            let streams = running.streams
            let waits = running.waits
            parts.addTask { .ended(await running.ended()) }
            if let feed = streams.feed {
                parts.addTask {
                    await InputWriter(end: feed.end, data: feed.data, waits: waits).run()
                    return .input
                }
            }
            if let end = streams.outputReader {
                let reader = OutputReader(end: end, waits: waits, sink: outputs.output)
                parts.addTask { .output(await Self.read(reader, of: running)) }
            }
            if let end = streams.errorReader {
                let reader = OutputReader(end: end, waits: waits, sink: outputs.errors)
                parts.addTask { .errors(await Self.read(reader, of: running)) }
            }
            do { try await Self.releasePermit(until: pipeline, in: waits) } catch { running.end(.failed(error)) }
            for await part in parts {
                switch part {
                case .ended(let end): termination = end
                case .output(let sink): outputs.output = sink
                case .errors(let sink): outputs.errors = sink
                case .input: break
                }
            }
        }
        return try outcome(of: running, termination, outputs)
    }

    /// Reads an output to its end. If that fails, ends the program.
    private static func read(_ reader: OutputReader, of running: RunningProgram) async -> OutputSink {
        var reader = reader
        do { try await reader.run() } catch { running.end(.failed(error)) }
        return reader.sink
    }

    private func outcome(
        of running: RunningProgram, _ termination: SubprocessTermination?,
        _ outputs: (output: OutputSink, errors: OutputSink)
    ) throws -> SubprocessResult {
        switch running.endingReason {
        case .cancelled: throw CancellationError()
        case .failed(let error): throw error
        case nil: break
        }
        // If standard error is merged, its text is part of standard output.
        let isMerged = if case .merged = errors.target { true } else { false }
        let lastWords = { String(decoding: (isMerged ? outputs.output : outputs.errors).tail.content, as: UTF8.self) }
        guard let termination else { throw SubprocessError.statusLost(program: program) }
        if !isSuccess(termination, readerWasFirst: running.readerWasFirst) {
            switch termination {
            case .exited(let status):
                throw SubprocessError.exited(program: program, status: status, errors: lastWords())
            case .signalled(let signal):
                throw SubprocessError.signalled(program: program, signal: signal, errors: lastWords())
            }
        }
        return SubprocessResult(
            standardOutput: outputs.output.kept, standardError: outputs.errors.kept,
            termination: termination)
    }

    private func isSuccess(_ termination: SubprocessTermination, readerWasFirst: Bool) -> Bool {
        if case .exited(let status) = termination, accepted.contains(status) { return true }
        guard case .pipe = output.target else { return false }
        return switch brokenPipe {
        case .failure: false
        case .success: termination.isBrokenPipe
        case .successWithAnyStatus: termination.isBrokenPipe || readerWasFirst
        }
    }

    private func putFilesInPlace(of running: RunningProgram) throws {
        for (path, file) in running.streams.files {
            do { try file.putInPlace() } catch {
                throw SubprocessError.fileNotUsable(program: program, path: path, reason: error)
            }
        }
    }
}

extension SubprocessTermination {
    /// True if the program was ended by `SIGPIPE`, or is a shell that says so of a program that it ran.
    fileprivate var isBrokenPipe: Bool {
        switch self {
        case .exited(let status): status == 128 + baton_sigpipe
        case .signalled(let signal): signal == baton_sigpipe
        }
    }
}
