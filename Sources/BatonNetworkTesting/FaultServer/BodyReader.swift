internal import Foundation

/// Extracts the body of a request from the bytes of a connection: RFC 9112, 6 and 7. A pure value.
struct BodyReader {
    private enum Position {
        /// The number of remaining bytes of a body with a `Content-Length`.
        case counted(Int)
        /// The number of remaining bytes of the current chunk.
        case chunk(Int)
        case sizeLine
        case endOfChunk
        case trailers
        case end
    }

    private var place: Position
    private(set) var hasBegun = false

    init(_ framing: ReceivedRequest.Framing) {
        switch framing {
        case .counted(let count): place = count > 0 ? .counted(count) : .end
        case .chunked: place = .sizeLine
        }
    }

    var isComplete: Bool {
        if case .end = place { return true }
        return false
    }

    /// Returns the next bytes of the body. They are empty if more bytes have to be received, or if the body is
    /// complete. Returns nil if the chunks are malformed.
    mutating func take(upTo most: Int, from pending: inout Data) -> Data? {
        while true {
            switch place {
            case .counted(let rest), .chunk(let rest):
                let piece = Data(pending.prefix(min(rest, most)))
                pending.removeFirst(piece.count)
                if !piece.isEmpty { hasBegun = true }
                advance(by: piece.count)
                return piece
            case .sizeLine:
                guard let line = Self.line(from: &pending) else { return Data() }
                hasBegun = true
                let digits = line.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces)
                // `Int` alone would accept a sign.
                guard digits.allSatisfy(\.isHexDigit), let count = Int(digits, radix: 16) else { return nil }
                place = count > 0 ? .chunk(count) : .trailers
            case .endOfChunk:
                guard let line = Self.line(from: &pending) else { return Data() }
                if !line.isEmpty { return nil }
                place = .sizeLine
            case .trailers:
                guard let line = Self.line(from: &pending) else { return Data() }
                if line.isEmpty { place = .end }
            case .end:
                return Data()
            }
        }
    }

    private mutating func advance(by count: Int) {
        switch place {
        case .counted(let rest): place = rest > count ? .counted(rest - count) : .end
        case .chunk(let rest): place = rest > count ? .chunk(rest - count) : .endOfChunk
        case .sizeLine, .endOfChunk, .trailers, .end: break
        }
    }

    private static func line(from pending: inout Data) -> String? {
        guard let end = pending.range(of: Data("\r\n".utf8)) else { return nil }
        defer { pending.removeSubrange(..<end.upperBound) }
        return String(decoding: pending[..<end.lowerBound], as: UTF8.self)
    }
}
