internal import Baton
internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Where the body of a request comes from, for libcurl to read. The worker's thread alone uses it, from the start of
/// the transfer to its end.
final class UploadSource {
    enum Piece {
        /// So many bytes were copied; 0 at the end.
        case bytes(Int)
        /// There is nothing yet. The transfer is resumed when there is.
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
    /// How many bytes it has; nil if that is not known.
    let length: Int64?
    private var offset: Int64 = 0
    private var hasEnded = false

    /// - Parameter queue: What a stream is fed through.
    /// - Throws: ``HTTPError``, if a file cannot be read.
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

    /// Whether these are all of its bytes.
    func isSent(_ count: Int64) -> Bool { length.map { count >= $0 } ?? hasEnded }

    /// A file that changes its size while it is sent cannot be what the length has promised.
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

    /// False: what has been sent cannot be sent again.
    func rewind(to offset: Int64) -> Bool {
        if case .queue = content { return self.offset == offset }
        guard 0...(length ?? 0) ~= offset else { return false }
        self.offset = offset
        return true
    }
}

extension URLRequest {
    /// Methods whose requests say that a body is empty, if they have none (RFC 9110, 8.6).
    fileprivate var expectsBody: Bool { ["POST", "PUT", "PATCH"].contains(httpMethod?.uppercased()) }
}

/// The bytes of a stream between the task that makes them and the worker's thread, which sends them.
final class UploadQueue: Sendable {
    private struct State {
        /// What is sent next, and what comes after it. Both are taken from their beginning without a copy of the rest.
        var first = Data()
        var rest = Data()
        var takenCount: Int64 = 0
        var end: Result<Void, any Error>?
        /// The thread has found nothing.
        var isAwaited = false
        /// The task waits for room.
        var waiter: UnsafeContinuation<Void, Never>?
        /// The transfer has ended.
        var isClosed = false
        var onClose: (@Sendable () -> Void)?

        var hasSucceeded: Bool { if case .success? = end { true } else { false } }

        var isFull: Bool { first.count + rest.count > UploadQueue.mostKept }

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

    private static let mostKept = 256 * 1024

    /// How many bytes there will be; nil if that is not known.
    let length: Int64?
    private let state = Locked(State())
    private let resume: @Sendable () -> Void

    /// - Parameter resume: Called, on the task, when the thread has found nothing and there is something.
    init(length: Int64?, resume: @escaping @Sendable () -> Void) {
        self.length = length
        self.resume = resume
    }

    /// Sets what happens when the transfer has ended. To be called before the transfer is started.
    func onClose(_ action: @escaping @Sendable () -> Void) { state.withLock { $0.onClose = action } }

    // MARK: The task

    /// Returns when there is room for more. False: no more bytes are wanted.
    func put(_ piece: Data) async -> Bool {
        let (isAwaited, isClosed) = state.withLock { state -> (Bool, Bool) in
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
            state.end = result
            return state.isAwaited.take()
        }
        if isAwaited { resume() }
    }

    // MARK: The worker's thread

    func take(into buffer: UnsafeMutableRawBufferPointer) -> UploadSource.Piece {
        let (piece, waiter) = state.withLock { state -> (UploadSource.Piece, UnsafeContinuation<Void, Never>?) in
            // The last bytes of a promised length leave when it is certain that there are no more.
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

    /// The transfer has ended.
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
    /// Sets it to false, and returns what it was.
    fileprivate mutating func take() -> Bool {
        defer { self = false }
        return self
    }
}
