internal import Baton
public import Foundation

/// The body of a response, as an asynchronous sequence of the pieces that arrive. It can be read once, by one task at a
/// time.
///
/// A slow reader needs little memory; see the documentation of the transport. If the last copy of the body is released
/// before its end, the transfer is cancelled.
public struct HTTPBody: AsyncSequence, Sendable {
    private let take: @Sendable () async throws -> Data?

    /// Creates a body from a closure that returns the next piece, and nil at the end. Transports call this.
    ///
    /// - Parameter next: A closure that is called on the reader's task, by one task at a time. It throws ``HTTPError``,
    ///   or `CancellationError` when that task is cancelled.
    public init(next: @escaping @Sendable () async throws -> Data?) { take = next }

    /// An iterator over the pieces of a body.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let take: @Sendable () async throws -> Data?

        /// Waits for the next piece, which is never empty, and returns it. Returns nil at the end.
        ///
        /// - Throws: ``HTTPError``; `CancellationError` when the calling task is cancelled.
        public mutating func next() async throws -> Data? { try await take() }
    }

    /// Makes an iterator. All iterators of a body share one position.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(take: take) }
}

extension HTTPBody {
    /// Returns the whole body, or at least one byte more than `limit` if the body is longer.
    func collect(upTo limit: Int, _ onProgress: (Int) -> Void = { _ in }) async throws -> Data {
        var data = Data()
        for try await piece in self {
            data.append(piece)
            onProgress(data.count)
            if data.count > limit { return data }
        }
        return data
    }

    /// Cancels the transfer, if the body has not been read to its end, and returns when the transport has ended it.
    func cancel() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                withUnsafeCurrentTask { $0?.cancel() }
                _ = try? await take()
            }
        }
    }

    /// The greatest number of remaining bytes of a body that are read so that the connection can be used again. For
    /// more bytes, opening another connection is faster.
    static let maxDrainedCount: Int64 = 65536

    /// Returns at most the first `limit` bytes. It stops reading after ``maxDrainedCount`` bytes, or after a second.
    func beginning(upTo limit: Int) async -> Data {
        await withTaskGroup(of: Data?.self) { group in
            group.addTask {
                var beginning = Data()
                var count: Int64 = 0
                do {
                    for try await piece in self {
                        count += Int64(piece.count)
                        beginning.append(piece.prefix(limit - beginning.count))
                        if count >= Self.maxDrainedCount { break }
                    }
                } catch {}
                return beginning
            }
            group.addTask {
                try? await TimeSource(ContinuousClock()).sleep(until: .seconds(1))
                return nil
            }
            var beginning = Data()
            for await data in group {
                group.cancelAll()
                if let data { beginning = data }
            }
            return beginning
        }
    }
}
