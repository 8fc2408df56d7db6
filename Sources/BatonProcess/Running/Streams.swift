#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif
internal import CBatonProcess

/// Reads one output of a program, as fast as its sink takes it.
struct OutputReader {
    private static let pieceSize = 64 << 10

    let end: Descriptor
    let waits: WaitScope
    var sink: OutputSink

    /// Returns when the output is at its end, or the program is, and what it has written is read.
    mutating func run() async throws {
        // Whoever writes on then gets a broken pipe.
        defer { end.close() }
        // What was in the pipe when the program had ended: all that it can have written, and perhaps some of those
        // that it leaves behind.
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
                // A program that always has more to say must not keep the thread from others.
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

    private enum Reading {
        case piece([UInt8])
        case notNow
        case end
    }

    private static func read(_ end: Descriptor, upTo count: Int) -> Reading {
        var found = 0
        let piece = [UInt8](unsafeUninitializedCapacity: count) { buffer, size in
            guard let start = buffer.baseAddress else { return }
            found = baton_read(end.number, start, count)
            size = max(0, found)
        }
        if found > 0 { return .piece(piece) }
        return found == -Int(baton_again) ? .notNow : .end
    }
}

/// Writes the input of a program, as fast as it takes it.
struct InputWriter {
    let end: Descriptor
    let data: Data
    let waits: WaitScope

    /// Returns when all is written, or the program wants no more, or has ended.
    func run() async {
        // The program sees the end of its input.
        defer { end.close() }
        var place = data.startIndex
        while place < data.endIndex {
            let written = write(from: place)
            if written > 0 {
                place += written
                await Task.yield()
            } else if written != -Int(baton_again) {
                // Nobody reads it any more. That is up to the program.
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
