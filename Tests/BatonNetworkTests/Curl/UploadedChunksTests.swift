#if os(Linux)
    import BatonNetworkTesting
    import BatonTesting
    import Foundation
    import FoundationNetworking
    import Testing

    @testable import BatonNetwork

    /// The progress of a body whose length is unknown.
    @Suite(.timeLimit(.minutes(10))) struct UploadedChunksTests {
        @Test("The sizes and the line ends of chunks do not count")
        func chunks() {
            var chunks = UploadedChunks()
            // "1\r\nx\r\n" and "10\r\n" + 16 bytes + "\r\n".
            chunks.append(1)
            chunks.append(16)
            chunks.append(0)
            #expect((0...6).map { chunks.bodyCount(ofSent: $0) } == [0, 0, 0, 0, 1, 1, 1])
            #expect([10, 11, 25, 26, 27, 28, 33].map { chunks.bodyCount(ofSent: $0) } == [1, 2, 16, 17, 17, 17, 17])
            chunks.append(255)
            #expect([32, 33, 287, 1000].map { chunks.bodyCount(ofSent: $0) } == [17, 18, 272, 272])
        }

        @Test("The progress of a stream in small pieces ends with the bytes of the stream")
        func smallPieces() async throws {
            let faults = try FaultServer()
            defer { faults.stop() }
            faults.on("/", .answer())
            let made = EventLog<Int>()
            let stream = HTTPBodyStream {
                AsyncThrowingStream<Data, any Error>(unfolding: {
                    made.append(1)
                    return made.count <= 100 ? Data(count: 1) : nil
                })
            }
            let counts = EventLog<Int64>()
            var request = URLRequest(url: faults.url("/"))
            request.httpMethod = "POST"
            let answer = try await CurlTransport.shared.send(request, body: .stream(stream)) { counts.append($0) }
            for try await _ in answer.body {}
            #expect(counts.events.last == 100)
            #expect(counts.events == counts.events.sorted())
        }
    }
#endif
