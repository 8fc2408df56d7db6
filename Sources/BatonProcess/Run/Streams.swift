#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif
internal import CBatonProcess

/// Reads one output of a program as fast as the sink takes it.
struct OutputReader {
    private static let pieceSize = 64 << 10

    let end: Descriptor
    let waits: WaitScope
    var sink: OutputSink

    /// Reads until the end of the output, or until the program has ended and everything in the pipe has been read.
    mutating func run() async throws {
        // A process that goes on writing to the pipe gets a broken pipe.
        defer { end.close() }
        // The number of bytes to read before returning, set when the program has ended. They are all that the program
        // can have written, and perhaps some bytes of processes that it left behind.
        var left: Int?
        while left != 0 {
            if left == nil, waits.isClosed {
                left = Int(baton_available(end.number))
                continue
            }
            switch Self.read(end, upTo: min(left ?? Self.pieceSize, Self.pieceSize)) {
            case .piece(let piece):
                left = left.map { $0 - piece.count }
                try await sink.take(piece)
                // A program that writes without a pause must not keep the thread from other tasks.
                await Task.yield()
            case .notNow:
                if left != nil { return try await sink.finish() }
                _ = await waits.untilReady(end, for: .reading)
            case .end:
                return try await sink.finish()
            }
        }
        try await sink.finish()
    }

    private enum ReadResult {
        case piece([UInt8])
        case notNow
        case end
    }

    private static func read(_ end: Descriptor, upTo count: Int) -> ReadResult {
        var found = 0
        let piece = [UInt8](unsafeUninitializedCapacity: count) { buffer, size in
            guard let start = buffer.baseAddress else { return }
            found = baton_read(end.number, start, count)
            size = max(0, found)
        }
        if found > 0 { return .piece(piece) }
        return found == -Int(baton_EAGAIN) ? .notNow : .end
    }
}

/// Writes the input of a program as fast as the program reads it.
struct InputWriter {
    let end: Descriptor
    let data: Data
    let waits: WaitScope

    /// Returns when all data is written, the program has closed its input, or the program has ended.
    func run() async {
        // Closing the pipe lets the program see the end of its input.
        defer { end.close() }
        var place = data.startIndex
        while place < data.endIndex {
            let written = write(from: place)
            if written > 0 {
                place += written
                await Task.yield()
            } else if written != -Int(baton_EAGAIN) {
                // The program has closed its input. It need not read all of it, so this is not an error.
                return
            } else if await !waits.untilReady(end, for: .writing) {
                return
            }
        }
    }

    private func write(from place: Data.Index) -> Int {
        data[place...].withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return 0 }
            return baton_write(end.number, start, bytes.count)
        }
    }
}
