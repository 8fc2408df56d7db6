#if os(Linux)
    /// The chunks of a body whose length is unknown, from which the number of sent bytes of the body follows. libcurl
    /// counts the size and the two line ends around each chunk as well (RFC 9112, 7.1). It is pure.
    struct UploadedChunks {
        private struct Chunk {
            /// The number of bytes that precede the content of the chunk.
            let headCount: Int64
            let count: Int64

            var wholeCount: Int64 { headCount + count + 2 }
        }

        /// The chunks that may not have been sent completely. libcurl asks for a chunk when it has sent the previous
        /// one, so there are few.
        private var chunks: [Chunk] = []
        /// The bytes of the chunks that have been sent completely: all of them, and those of the body.
        private var wholeCount: Int64 = 0
        private var bodyCount: Int64 = 0

        /// Notes the next chunk that libcurl sends.
        ///
        /// - Parameter count: The number of bytes of the body in the chunk.
        mutating func append(_ count: Int) {
            if count == 0 { return }
            chunks.append(Chunk(headCount: Int64(String(count, radix: 16).count) + 2, count: Int64(count)))
        }

        /// Returns how many bytes of the body have been sent.
        ///
        /// - Parameter sentCount: The number of bytes that libcurl has sent, which does not decrease.
        mutating func bodyCount(ofSent sentCount: Int64) -> Int64 {
            while let chunk = chunks.first, wholeCount + chunk.wholeCount <= sentCount {
                wholeCount += chunk.wholeCount
                bodyCount += chunk.count
                chunks.removeFirst()
            }
            guard let chunk = chunks.first else { return bodyCount }
            return bodyCount + min(max(0, sentCount - wholeCount - chunk.headCount), chunk.count)
        }
    }
#endif
