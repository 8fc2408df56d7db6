internal import Baton
public import Foundation

/// The body of an answer, in pieces, as they come. To be read once, by one task at a time.
///
/// A slow reader costs little memory: see the transport. One that stops early gives up the transfer, when the last copy
/// of the body is gone.
public struct HTTPBody: AsyncSequence, Sendable {
    private let take: @Sendable () async throws -> Data?

    /// A body from a closure that returns the next piece, and nil at its end; for transports.
    ///
    /// - Parameter next: Called on the reader's task, by one task at a time. It throws ``HTTPError``, or
    ///   `CancellationError` when that task is cancelled.
    public init(next: @escaping @Sendable () async throws -> Data?) { take = next }

    /// What reads the body.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let take: @Sendable () async throws -> Data?

        /// The next piece, never an empty one; nil at the end.
        public mutating func next() async throws -> Data? { try await take() }
    }

    /// All iterators of a body share its place.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(take: take) }
}

extension HTTPBody {
    /// All of it, or as much as is needed to know that there is more than `limit`.
    func collect(upTo limit: Int, _ count: (Int) -> Void = { _ in }) async throws -> Data {
        var data = Data()
        for try await piece in self {
            data.append(piece)
            count(data.count)
            if data.count > limit { return data }
        }
        return data
    }

    /// A connection can be used again if all of the answer has been read: that much is sooner read than another one
    /// made.
    static let worthReading: Int64 = 65536

    /// At most `limit` bytes of the beginning. It reads as much as is worth reading, and for a second at most.
    func beginning(upTo limit: Int) async -> Data {
        await withTaskGroup(of: Data?.self) { group in
            group.addTask {
                var beginning = Data()
                var count: Int64 = 0
                do {
                    for try await piece in self {
                        count += Int64(piece.count)
                        beginning.append(piece.prefix(limit - beginning.count))
                        if count >= Self.worthReading { break }
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
