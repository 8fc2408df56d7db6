internal import Baton
internal import Foundation

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
        if let waiter { BrokenPipeSignal.allow { waiter.resume() } }
        return piece
    }

    /// Tells the task that the transfer has ended.
    func close() {
        let (waiter, onClose) = state.withLock { state -> (UnsafeContinuation<Void, Never>?, (@Sendable () -> Void)?) in
            state.isClosed = true
            (state.first, state.rest) = (Data(), Data())
            return (state.waiter.take(), state.onClose.take())
        }
        BrokenPipeSignal.allow {
            waiter?.resume()
            onClose?()
        }
    }
}

extension Bool {
    /// Sets the value to false, and returns the previous value.
    fileprivate mutating func take() -> Bool {
        defer { self = false }
        return self
    }
}
