#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Takes the bytes that a program writes to one output, and handles them as the output's target says.
struct OutputSink {
    private let target: OutputTarget
    private let program: String
    private var collected = Data()
    private var splitter: LineSplitter
    private var shownTail: Tail
    /// The last 4 KiB, for the error that is thrown if the program fails.
    private(set) var tail = Tail(limit: 4 << 10)

    init(_ target: OutputTarget, of program: String) {
        self.target = target
        self.program = program
        var (longest, shown) = (0, 0)
        if case .lines(let limit, _) = target { longest = limit }
        if case .tail(let limit) = target { shown = limit }
        splitter = LineSplitter(longest: longest)
        shownTail = Tail(limit: shown)
    }

    /// The bytes that the result contains.
    var kept: Data {
        if case .tail = target { return Data(shownTail.content) }
        return collected
    }

    /// Handles a piece. Returns when the next piece may be read.
    mutating func take(_ piece: [UInt8]) async throws {
        tail.append(piece)
        switch target {
        case .collected(let limit):
            if collected.count + piece.count > limit {
                throw SubprocessError.outputTooLong(program: program, limit: limit)
            }
            collected.append(contentsOf: piece)
        case .tail:
            shownTail.append(piece)
        case .lines(let longest, let handle):
            try await hand(splitter.lines(of: piece), longest: longest, to: handle)
        case .bytes(let handle):
            try Task.checkCancellation()
            try await handle(Data(piece))
        case .file, .appendedFile, .discarded, .inherited, .pipe, .merged:
            break
        }
    }

    /// Handles the end of the output.
    mutating func finish() async throws {
        guard case .lines(let longest, let handle) = target else { return }
        try await hand(splitter.lastLine(), longest: longest, to: handle)
    }

    private func hand(
        _ result: LineSplitter.Result, longest: Int, to handle: @Sendable (String) async throws -> Void
    ) async throws {
        for line in result.lines {
            try Task.checkCancellation()
            try await handle(line)
        }
        if result.isNextTooLong { throw SubprocessError.lineTooLong(program: program, limit: longest) }
    }
}

/// The last bytes of an output of any length.
struct Tail {
    private var bytes: [UInt8] = []
    private let limit: Int

    init(limit: Int) { self.limit = max(0, limit) }

    mutating func append(_ piece: [UInt8]) {
        bytes.append(contentsOf: piece.suffix(limit))
        // Up to twice the limit is kept, so that small pieces do not each move all the bytes that are kept.
        if bytes.count / 2 > limit { bytes.removeFirst(bytes.count - limit) }
    }

    var content: ArraySlice<UInt8> { bytes.suffix(limit) }
}
