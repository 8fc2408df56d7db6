public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A request body that is produced while it is sent, from an `AsyncSequence` of bytes or of pieces.
///
/// ```swift
/// let upload = AsyncOperation(HTTPUpload(HTTPBodyStream { AsyncStream { … } }, to: url))
/// ```
///
/// The closure makes one sequence for each time that the body is sent: for each attempt of a retry, and again after a
/// redirect that keeps the method. A sequence that can be iterated only once, such as `AsyncStream`, has to be made
/// inside the closure.
///
/// At most 256 KB and one more piece wait to be sent. The transport asks the sequence for the next piece when there is
/// room.
///
/// The closure and the sequence run on a child task of the operation's body: on the executor of its queue, and with the
/// priority and the task-local values of the operation. Operations that they run and await count as run and awaited by
/// that body. If the request ends before the stream does, the child task is cancelled, and the request returns when it
/// has ended.
///
/// An error that the closure or the sequence throws is the error of the request. If it is the ``HTTPError`` of a
/// request that the closure or the sequence has sent, it names that one, and ``HTTPRetry`` judges by the method of the
/// request that sends the stream.
///
/// If you call a transport directly, ``CurlTransport`` uses an unstructured task, which prefers the same executor as
/// the calling task.
public struct HTTPBodyStream: Sendable {
    private let begin: @Sendable (URLRequest) throws -> Pass

    /// Creates a body from a sequence of pieces.
    ///
    /// - Parameters:
    ///   - length: The number of bytes of all pieces together. If it is nil, the length is unknown, and the body is
    ///     sent in chunks (RFC 9112, 7.1), which some servers do not accept. If the pieces have more or fewer bytes,
    ///     the request fails with ``HTTPError/Reason/invalidRequest(_:)``.
    ///   - make: A closure that makes the sequence.
    public init<Pieces: AsyncSequence & SendableMetatype>(
        length: Int64? = nil, _ make: @escaping @Sendable () async throws -> Pieces
    ) where Pieces.Element == Data, Pieces.AsyncIterator: SendableMetatype {
        self.init { request in
            Pass(length: length, request) { put in
                try await Self.iterate(in: request) {
                    for try await piece in try await make() where !piece.isEmpty {
                        if try await !Self.send(piece, put) { return }
                    }
                }
            }
        }
    }

    /// Creates a body from a sequence of bytes, which are sent in pieces of up to 16 KB.
    ///
    /// - Parameters:
    ///   - length: The number of bytes. If it is nil, the length is unknown, and the body is sent in chunks (RFC 9112,
    ///     7.1), which some servers do not accept. If there are more or fewer bytes, the request fails with
    ///     ``HTTPError/Reason/invalidRequest(_:)``.
    ///   - make: A closure that makes the sequence.
    public init<Bytes: AsyncSequence & SendableMetatype>(
        length: Int64? = nil, bytes make: @escaping @Sendable () async throws -> Bytes
    ) where Bytes.Element == UInt8, Bytes.AsyncIterator: SendableMetatype {
        self.init { request in
            Pass(length: length, request) { put in
                try await Self.iterate(in: request) {
                    var piece = Data()
                    for try await byte in try await make() {
                        piece.append(byte)
                        if piece.count < Self.pieceSize { continue }
                        if try await !Self.send(piece, put) { return }
                        piece = Data()
                    }
                    if !piece.isEmpty { _ = try await Self.send(piece, put) }
                }
            }
        }
    }

    /// - Parameter begin: A closure that is called each time the body is sent. It throws ``HTTPError``.
    init(begin: @escaping @Sendable (URLRequest) throws -> Pass) { self.begin = begin }

    private static let pieceSize = 16 * 1024

    /// Calls a closure that iterates a sequence of the user's, which may send requests itself. They have none of the
    /// limits of the request whose body the sequence is, and their errors are marked, because they are not errors of
    /// that request.
    private static func iterate(in request: URLRequest, _ body: () async throws -> Void) async throws {
        do {
            try await HTTPCall.withoutTaskLocals { try await body() }
        } catch let failure as SendFailure {
            throw failure.error
        } catch {
            throw HTTPError.ofStream(error, in: request)
        }
    }

    /// An error of the transport, and not of the sequence.
    private struct SendFailure: Error {
        let error: any Error
    }

    private static func send(_ piece: Data, _ put: (Data) async throws -> Bool) async throws -> Bool {
        do { return try await put(piece) } catch { throw SendFailure(error: error) }
    }

    /// Begins to send the body. Transports call this.
    ///
    /// - Parameter request: The request that the body belongs to. Errors name it.
    /// - Returns: A pass, which sends the body once.
    /// - Throws: ``HTTPError`` if the body cannot be sent, for example because a file of a form is missing.
    public func pass(for request: URLRequest) throws -> Pass {
        let pass = try begin(request)
        if let length = pass.length, length < 0 {
            throw HTTPError(.invalidRequest("the body has a length of \(length)"), request)
        }
        return pass
    }

    /// One transmission of a body, for use by transports.
    public struct Pass: Sendable {
        /// The number of bytes of the body, or nil if it is unknown.
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

        /// Produces the body, passes its pieces to a closure, and checks that they have the promised length.
        ///
        /// A transport calls this once for each pass.
        ///
        /// - Parameter put: A closure that takes a piece, which is never empty, and returns when there is room for the
        ///   next one. It returns false if the transport wants no more pieces; `send(_:)` then returns. The closure
        ///   runs on the calling task.
        /// - Throws: Any error of the sequence or of `put`, and ``HTTPError`` if the body does not have the promised
        ///   length.
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
                throw HTTPError(.wrongLength("\(count.inBytes) instead of", length), request)
            }
        }
    }
}

extension HTTPError.Reason {
    fileprivate static func wrongLength(_ found: String, _ length: Int64) -> Self {
        .invalidRequest("the body has \(found) the \(length.inBytes) that its length promises")
    }
}
