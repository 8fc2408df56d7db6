public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A body that is made while it is sent: from an `AsyncSequence` of bytes or of pieces.
///
/// ```swift
/// let upload = AsyncOperation(HTTPUpload(HTTPBodyStream { AsyncStream { … } }, to: url))
/// ```
///
/// The closure makes a sequence for each time that the body is sent: for each attempt of a retry, and again after a
/// redirect that keeps the method. A sequence that can be iterated once, as `AsyncStream`, has to be made inside it.
///
/// At most a quarter of a megabyte and one piece wait to be sent; the sequence is asked for more when there is room.
/// Closure and sequence run on a task of their own, which inherits priority and task-local values from the operation,
/// and is cancelled when the request ends before the body does; the request then ends when that task has ended. What
/// they throw is what the request throws.
public struct HTTPBodyStream: Sendable {
    private let begin: @Sendable (URLRequest) throws -> Pass

    /// A body from a sequence of pieces.
    ///
    /// - Parameters:
    ///   - length: How many bytes all pieces have together. Nil: that is not known, and the body is sent in chunks (RFC
    ///     9112, 7.1), which some servers do not take. More or fewer bytes are ``HTTPError/Reason/invalidRequest(_:)``.
    ///   - make: Makes the sequence.
    public init<Pieces: AsyncSequence & SendableMetatype>(
        length: Int64? = nil, _ make: @escaping @Sendable () async throws -> Pieces
    ) where Pieces.Element == Data, Pieces.AsyncIterator: SendableMetatype {
        self.init { request in
            Pass(length: length, request) { put in
                for try await piece in try await make() where !piece.isEmpty {
                    if try await !put(piece) { return }
                }
            }
        }
    }

    /// A body from a sequence of bytes, which are sent in pieces of up to 16 KB.
    ///
    /// - Parameters:
    ///   - length: How many bytes there are. Nil: that is not known, and the body is sent in chunks (RFC 9112, 7.1),
    ///     which some servers do not take. More or fewer bytes are ``HTTPError/Reason/invalidRequest(_:)``.
    ///   - make: Makes the sequence.
    public init<Bytes: AsyncSequence & SendableMetatype>(
        length: Int64? = nil, bytes make: @escaping @Sendable () async throws -> Bytes
    ) where Bytes.Element == UInt8, Bytes.AsyncIterator: SendableMetatype {
        self.init { request in
            Pass(length: length, request) { put in
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
    }

    /// - Parameter begin: Called for each time that the body is sent. It throws ``HTTPError``.
    init(begin: @escaping @Sendable (URLRequest) throws -> Pass) { self.begin = begin }

    private static let pieceSize = 16 * 1024

    /// Begins to send the body; for transports.
    ///
    /// - Parameter request: The request that the body belongs to, for errors.
    /// - Throws: ``HTTPError`` if there is nothing to send: a file of a form is missing, for example.
    public func pass(for request: URLRequest) throws -> Pass {
        let pass = try begin(request)
        if let length = pass.length, length < 0 {
            throw HTTPError(.invalidRequest("the body has a length of \(length)"), request)
        }
        return pass
    }

    /// A body that is sent once; for transports.
    public struct Pass: Sendable {
        /// How many bytes it has; nil if that is not known.
        public let length: Int64?
        private let request: URLRequest
        private let run: @Sendable (_ put: (Data) async throws -> Bool) async throws -> Void

        init(
            length: Int64?, _ request: URLRequest,
            run: @escaping @Sendable (_ put: (Data) async throws -> Bool) async throws -> Void
        ) {
            self.length = length
            self.request = request
            self.run = run
        }

        /// Makes the body and hands its pieces over, and sees to it that they are as long as was promised. To be called
        /// once.
        ///
        /// - Parameter put: Takes a piece, which is never empty, and returns when there is room for the next one.
        ///   False: no more are wanted, and this returns. It runs on the calling task.
        /// - Throws: What the sequence and `put` throw, and ``HTTPError`` if the length is not that promised.
        public func send(_ put: (Data) async throws -> Bool) async throws {
            var count: Int64 = 0
            var isWanted = true
            try await run { piece in
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
}

extension HTTPError.Reason {
    fileprivate static func wrongLength(_ found: String, _ length: Int64) -> Self {
        .invalidRequest("the body has \(found) the \(length) bytes that its length promises")
    }
}
