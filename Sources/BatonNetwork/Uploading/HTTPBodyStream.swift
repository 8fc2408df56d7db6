public import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// A body that is made while it is sent: from an `AsyncSequence` of bytes or of pieces.
///
/// ```swift
/// let lines = HTTPBodyStream { AsyncStream { … } }
/// let upload = AsyncOperation(HTTPUpload(.stream(lines), with: request))
/// ```
///
/// The closure makes a sequence for each time that the body is sent: for each attempt of a retry, and again after a redirect that
/// keeps the method. A sequence that can be iterated once, as `AsyncStream`, has to be made inside it.
///
/// At most a quarter of a megabyte waits to be sent; the sequence is asked for more when there is room. Closure and sequence run on a
/// task of their own, which inherits priority and task-local values from the operation, and is cancelled when the request ends before the
/// body does; the request then ends when that task has ended. What they throw is what the request throws.
public struct HTTPBodyStream: Sendable {
    /// How many bytes it has. Nil: that is not known, and the body is sent in chunks (RFC 9112, 7.1).
    ///
    /// A body that has more or fewer bytes is ``HTTPError/Reason/invalidRequest(_:)``.
    public let length: Int64?
    private let pass: @Sendable (_ put: (Data) async throws -> Bool) async throws -> Void

    /// A body from a sequence of pieces.
    ///
    /// - Parameters:
    ///   - length: How many bytes all pieces have together; nil if that is not known.
    ///   - make: Makes the sequence.
    public init<Pieces: AsyncSequence & SendableMetatype>(
        length: Int64? = nil, _ make: @escaping @Sendable () async throws -> Pieces
    ) where Pieces.Element == Data, Pieces.AsyncIterator: SendableMetatype {
        self.length = length
        pass = { put in
            for try await piece in try await make() where !piece.isEmpty {
                if try await !put(piece) { return }
            }
        }
    }

    /// A body from a sequence of bytes, which are sent in pieces of up to 16 KB.
    ///
    /// - Parameters:
    ///   - length: How many bytes there are; nil if that is not known.
    ///   - make: Makes the sequence.
    public init<Bytes: AsyncSequence & SendableMetatype>(
        length: Int64? = nil, bytes make: @escaping @Sendable () async throws -> Bytes
    ) where Bytes.Element == UInt8, Bytes.AsyncIterator: SendableMetatype {
        self.length = length
        pass = { put in
            var piece = Data()
            for try await byte in try await make() {
                piece.append(byte)
                if piece.count < Self.pieceSize { continue }
                if try await !put(piece) { return }
                piece = Data()
            }
            if !piece.isEmpty { _ = try await put(piece) }
        }
    }

    private static let pieceSize = 16 * 1024

    /// Passes on the pieces of one pass, and sees to it that they are as long as was promised.
    ///
    /// - Parameter put: Takes a piece, when there is room for it. False: no more are wanted.
    func feed(_ request: URLRequest, _ put: (Data) async throws -> Bool) async throws {
        var count: Int64 = 0
        var isWanted = true
        try await pass { piece in
            count += Int64(piece.count)
            if let length, count > length { throw HTTPError(.wrongLength("more than", length), request) }
            isWanted = try await put(piece)
            return isWanted
        }
        if isWanted, let length, count < length {
            throw HTTPError(.wrongLength("\(count) bytes instead of", length), request)
        }
    }
}

extension HTTPError.Reason {
    fileprivate static func wrongLength(_ found: String, _ length: Int64) -> Self {
        .invalidRequest("the body has \(found) the \(length) bytes that its length promises")
    }
}
