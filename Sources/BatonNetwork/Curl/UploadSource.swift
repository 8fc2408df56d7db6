internal import Baton
internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// The body of a request, which libcurl reads from here. Only the transport's thread uses this object, from the start
/// of the transfer to its end.
final class UploadSource {
    enum Piece {
        /// The number of bytes that were copied; 0 at the end of the body.
        case bytes(Int)
        /// There are no bytes yet. The transfer is resumed when there are.
        case later
        case failure(any Error)
    }

    private enum Content {
        case data(Data)
        case file(File)
        case queue(UploadQueue)
    }

    private let content: Content
    private let request: URLRequest
    /// The number of bytes of the body, or nil if it is unknown.
    let length: Int64?
    private var offset: Int64 = 0
    private var hasEnded = false

    /// - Parameter queue: The queue through which a task provides the bytes of a stream. Other bodies need none.
    /// - Throws: ``HTTPError`` if a file cannot be read.
    init?(_ body: HTTPRequestBody?, _ request: URLRequest, queue: UploadQueue?) throws {
        self.request = request
        switch body {
        case nil:
            guard let data = request.httpBody ?? (request.expectsBody ? Data() : nil) else { return nil }
            content = .data(data)
            length = Int64(data.count)
        case .data(let data):
            content = .data(data)
            length = Int64(data.count)
        case .file(let url):
            let file = try File.openUpload(url, request)
            content = .file(file)
            length = file.size
        case .stream:
            guard let queue else { preconditionFailure("Internal inconsistency: nothing to feed the stream through") }
            content = .queue(queue)
            length = queue.length
        }
    }

    deinit {
        if case .file(let file) = content { file.close() }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Piece {
        let piece: Piece
        switch content {
        case .data(let data):
            let start = data.startIndex + Int(offset)
            piece = .bytes(data[start...].prefix(buffer.count).copyBytes(to: buffer))
        case .file(let file): piece = read(file, into: buffer)
        case .queue(let queue): piece = queue.take(into: buffer)
        }
        if case .bytes(let count) = piece {
            offset += Int64(count)
            hasEnded = count == 0
        }
        return piece
    }

    /// Returns whether the first `count` bytes are the whole body.
    func isSent(_ count: Int64) -> Bool { length.map { count >= $0 } ?? hasEnded }

    /// Reads from a file. If the file changes its size while it is sent, the promised length is wrong, which is an
    /// error.
    private func read(_ file: File, into buffer: UnsafeMutableRawBufferPointer) -> Piece {
        let changed = HTTPError(.file(.changed, path: file.path), request)
        guard file.size == length else { return .failure(changed) }
        let count = min(buffer.count, Int((length ?? 0) - offset))
        do throws(FileError) {
            let moved = try file.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]), at: offset)
            return moved == 0 && count > 0 ? .failure(changed) : .bytes(moved)
        } catch {
            return .failure(HTTPError(error, request, isSent: true))
        }
    }

    /// Returns false if the bytes that have been sent cannot be read again.
    func rewind(to offset: Int64) -> Bool {
        if case .queue = content { return self.offset == offset }
        guard 0...(length ?? 0) ~= offset else { return false }
        self.offset = offset
        return true
    }
}

extension URLRequest {
    /// A Boolean value that indicates whether a request without a body has to say that its body is empty (RFC 9110,
    /// 8.6).
    fileprivate var expectsBody: Bool { ["POST", "PUT", "PATCH"].contains(httpMethod?.uppercased()) }
}

/// The bytes of a stream, between the task that produces them and the transport's thread, which sends them.
final class UploadQueue: Sendable {
    private struct State {
        /// The bytes that are sent next, and those that follow them. Taking bytes from the beginning of `first` does
        /// not copy `rest`.
        var first = Data()
        var rest = Data()
        var takenCount: Int64 = 0
        var end: Result<Void, any Error>?
        /// A Boolean value that indicates whether the thread has asked for bytes and found none.
        var isAwaited = false
        /// The continuation of the task, if it waits for room.
        var waiter: UnsafeContinuation<Void, Never>?
        /// A Boolean value that indicates whether the transfer has ended.
        var isClosed = false
        var onClose: (@Sendable () -> Void)?

        var hasSucceeded: Bool { if case .success? = end { true } else { false } }

        var isFull: Bool { first.count + rest.count > UploadQueue.maxBufferedBytes }

        mutating func append(_ piece: Data) {
            if first.isEmpty {
                first = piece
            } else if rest.isEmpty {
                rest = piece
            } else {
                rest.append(piece)
            }
        }

        mutating func take(into buffer: UnsafeMutableRawBufferPointer) -> Int {
            let count = first.copyBytes(to: buffer)
            takenCount += Int64(count)
            first = first.dropFirst(count)
            if first.isEmpty { (first, rest) = (rest, Data()) }
            return count
        }
    }

    private static let maxBufferedBytes = 256 * 1024

    /// The number of bytes of the whole stream, or nil if it is unknown.
    let length: Int64?
    private let state = Locked(State())
    private let resume: @Sendable () -> Void

    /// - Parameter resume: A closure that is called on the task when there are bytes after the thread has found none.
    init(length: Int64?, resume: @escaping @Sendable () -> Void) {
        self.length = length
        self.resume = resume
    }

    /// Sets a closure that is called when the transfer has ended. Must be called before the transfer is started.
    func onClose(_ action: @escaping @Sendable () -> Void) {
        state.withLock { state in
            assert(!state.isClosed && state.onClose == nil, "Internal inconsistency: a handler that comes too late")
            state.onClose = action
        }
    }

    // MARK: The task

    /// Appends a piece, and returns when there is room for more. Returns false if no more bytes are wanted.
    func put(_ piece: Data) async -> Bool {
        let (isAwaited, isClosed) = state.withLock { state -> (Bool, Bool) in
            assert(state.waiter == nil && state.end == nil, "Internal inconsistency: two tasks feed one queue")
            if state.isClosed { return (false, true) }
            state.append(piece)
            return (state.isAwaited.take(), false)
        }
        if isAwaited { resume() }
        if isClosed { return false }
        await withUnsafeContinuation { waiter in
            let waits = state.withLock { state -> Bool in
                if state.isClosed || !state.isFull { return false }
                state.waiter = waiter
                return true
            }
            if !waits { waiter.resume() }
        }
        return state.withLock { !$0.isClosed }
    }

    func end(_ result: Result<Void, any Error>) {
        let isAwaited = state.withLock { state -> Bool in
            assert(state.end == nil, "Internal inconsistency: a stream that ends twice")
            state.end = result
            return state.isAwaited.take()
        }
        if isAwaited { resume() }
    }

    // MARK: The transport's thread

    func take(into buffer: UnsafeMutableRawBufferPointer) -> UploadSource.Piece {
        let (piece, waiter) = state.withLock { state -> (UploadSource.Piece, UnsafeContinuation<Void, Never>?) in
            // If the length was promised, its last bytes are sent only when the stream has ended without more bytes.
            let isLast = length.map { state.takenCount + Int64(min(state.first.count, buffer.count)) >= $0 } ?? false
            if !state.first.isEmpty, !isLast || state.hasSucceeded {
                let count = state.take(into: buffer)
                return (.bytes(count), state.isFull ? nil : state.waiter.take())
            }
            switch state.end {
            case .success?: return (.bytes(0), nil)
            case .failure(let error)?: return (.failure(error), nil)
            case nil:
                state.isAwaited = true
                return (.later, nil)
            }
        }
        waiter?.resume()
        return piece
    }

    /// Tells the task that the transfer has ended.
    func close() {
        let (waiter, onClose) = state.withLock { state -> (UnsafeContinuation<Void, Never>?, (@Sendable () -> Void)?) in
            state.isClosed = true
            (state.first, state.rest) = (Data(), Data())
            return (state.waiter.take(), state.onClose.take())
        }
        waiter?.resume()
        onClose?()
    }
}

extension Bool {
    /// Sets the value to false, and returns the previous value.
    fileprivate mutating func take() -> Bool {
        defer { self = false }
        return self
    }
}
