import Baton
import Foundation
import Testing

@testable import BatonNetwork

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Counts system resources in a process in which nothing else happens.
@Suite(.timeLimit(.minutes(10)), .serialized) struct ResourceTests {
    @Test func twoHundredDownloadsAtOnceHaveTheRightBytes() async throws {
        let folder = try TestFolder()
        let queue = AsyncOperationQueue(maxConcurrentOperationCount: .max)
        let downloads = (0..<200).map { number in
            AsyncOperation(
                HTTPDownload(
                    server.url("/bytes/\(100_000 + number)", ["seed": "\(number)"]), to: folder.file("\(number)")))
        }
        queue.add(downloads)
        for (number, download) in downloads.enumerated() {
            let file = try await download.value
            #expect(file.byteCount == Int64(100_000 + number))
            #expect(folder.content("\(number)") == TestServer.bytes(100_000 + number, seed: number))
        }
        #expect(folder.names.count == 200)
    }

    @Test("A thousand requests of all kinds leave descriptors and threads as they were", arguments: Load.kinds)
    func aThousandRequestsLeaveNothingBehind(_ kind: String) async {
        await #expect(processExitsWith: .success) { [kind] in
            let folder = try TestFolder()
            try await Load.run(200, in: folder, on: kind)
            let before = try await Resources.quiet()
            try await Load.run(1000, in: folder, on: kind)
            var after = try await Resources.quiet()
            // URLSession may have cleaned up so late that its thread has not been idle for long enough.
            for _ in 0..<3 where after.threads > before.threads || after.descriptors > before.descriptors {
                after = try await Resources.quiet()
            }
            precondition(after.descriptors <= before.descriptors, "\(before), \(after)")
            precondition(after.threads <= before.threads, "\(before), \(after)")
        }
    }

    @Test func aTransportClosesItsConnectionsWhenItGoes() async {
        await #expect(processExitsWith: .success) {
            func use() async throws {
                let transport = URLSessionTransport()
                for _ in 0..<5 {
                    _ = try await HTTPData(server.url("/bytes/10")).transport(transport).execute(in: OperationContext())
                }
            }
            try await use()
            _ = try await server.log("settled")
            let before = Resources.now
            for _ in 0..<50 { try await use() }
            try await Resources.waitUntil { $0.descriptors <= before.descriptors }
        }
    }

    @Test func aBodyThatNobodyReadsIsGivenUp() async {
        await #expect(processExitsWith: .success) {
            func abandon() async throws {
                let request = URLRequest(url: server.url("/bytes/1000000000"))
                let answer = try await DefaultHTTPTransport.shared.send(request, body: nil) { _ in }
                precondition(answer.head.status == 200)
            }
            try await abandon()
            _ = try await server.log("settled")
            let before = Resources.now
            for _ in 0..<10 { try await abandon() }
            try await Resources.waitUntil { $0.descriptors <= before.descriptors }
        }
    }

    @Test func aGigabyteTakesLittleMemory() async {
        await #expect(processExitsWith: .success) {
            let folder = try TestFolder()
            _ = try await HTTPDownload(server.url("/bytes/1000000"), to: folder.file("small")).execute(
                in: OperationContext())
            let before = Resources.residentBytes
            let count: Int64 = 1_000_000_000
            let download = HTTPDownload(server.url("/bytes/\(count)"), to: folder.file("large"))
            let file = try await download.execute(in: OperationContext())
            precondition(file.byteCount == count)
            precondition(Resources.mostResidentBytes < before + 30_000_000, "\(Resources.mostResidentBytes)")
            let isWhole = try folder.hasBytes("large", count: count)
            precondition(isWhole)
        }
    }

    @Test("Sending a gigabyte takes little memory", arguments: ["file", "pieces", "pieces of known length"])
    func sendingAGigabyte(_ kind: String) async {
        await #expect(processExitsWith: .success) { [kind] in
            let folder = try TestFolder()
            let (count, size) = (1000, 1_000_000)
            let piece = TestServer.bytes(size)
            let target = server.url("/upload")
            // The first upload allocates what later ones use as well.
            _ = try await HTTPUpload(piece, to: target).execute(in: OperationContext())
            let body: HTTPRequestBody
            if kind == "file" {
                let file = folder.file("large")
                precondition(FileManager.default.createFile(atPath: file.path, contents: nil))
                let handle = try FileHandle(forWritingTo: file)
                for _ in 0..<count { try handle.write(contentsOf: piece) }
                try handle.close()
                body = .file(file)
            } else {
                let length = kind == "pieces" ? nil : Int64(count * size)
                body = .stream(HTTPBodyStream(length: length) { Pieces(piece: piece, count: count) })
            }
            var request = URLRequest(url: target)
            request.httpMethod = "PUT"
            let before = Resources.residentBytes
            let answer = try await HTTPUpload(body, with: request).execute(in: OperationContext())
            precondition(
                Resources.mostResidentBytes < before + 32_000_000, "\(Resources.mostResidentBytes - before)")
            let receipt = try JSONDecoder().decode(Receipt.self, from: answer.data)
            precondition(receipt.count == count * size, "\(receipt)")
        }
    }

    private struct Receipt: Decodable {
        let count: Int
    }

    /// The same piece again and again, each time in memory of its own.
    private struct Pieces: AsyncSequence, AsyncIteratorProtocol {
        let piece: Data
        var count: Int

        func makeAsyncIterator() -> Pieces { self }

        mutating func next() async -> Data? {
            if count == 0 { return nil }
            count -= 1
            var copy = piece
            copy[0] ^= 1
            return copy
        }
    }
}

#if os(Linux)
    extension ResourceTests {
        @Test("All objects of libcurl are freed after a thousand requests of all kinds")
        func objectsOfLibcurl() async {
            await #expect(processExitsWith: .success) {
                let folder = try TestFolder()
                do {
                    // The requests that ask the server whether the transport has gone use URLSession.
                    _ = try await HTTPData(server.url("/log")).transport(URLSessionTransport()).execute(
                        in: OperationContext())
                    precondition(CurlHandle.objectCount == 0, "\(CurlHandle.objectCount)")
                    try await Load.run(1000, in: folder, on: "libcurl")
                }
                for _ in 0..<2000 where CurlHandle.objectCount > 0 {
                    _ = try await HTTPData(server.url("/log")).transport(URLSessionTransport()).execute(
                        in: OperationContext())
                }
                precondition(CurlHandle.objectCount == 0, "\(CurlHandle.objectCount)")
            }
        }
    }
#endif

/// Sends requests of all kinds, valid and invalid, 50 at a time. It uses a transport of its own, which closes its
/// connections when it is released, because the number of idle connections is random.
private struct Load {
    #if os(Linux)
        static let kinds = ["libcurl", "URLSession"]

        static func transport(_ kind: String) -> any HTTPTransport {
            kind == "libcurl" ? CurlTransport() : URLSessionTransport()
        }
    #else
        static let kinds = ["URLSession"]

        static func transport(_ kind: String) -> any HTTPTransport { URLSessionTransport() }
    #endif

    let transport: any HTTPTransport
    let folder: TestFolder

    static func run(_ count: Int, in folder: TestFolder, on kind: String) async throws {
        let load = Load(transport: transport(kind), folder: folder)
        let queue = AsyncOperationQueue(maxConcurrentOperationCount: 50)
        let operations = (0..<count).map { load.operation(number: $0) }
        queue.add(operations)
        for (number, operation) in operations.enumerated() where number % 10 == 5 { operation.cancel() }
        await queue.waitUntilIdle()
    }

    private func operation(number: Int) -> AnyOperation {
        switch number % 10 {
        case 0: download("/bytes/20000", number)
        case 1: data("/bytes/20000", ["short": "1000"])
        case 2: data("/status/404")
        case 3: AsyncOperation(HTTPData("http://127.0.0.1:1/").transport(transport))
        case 4: AsyncOperation(HTTPUpload(Data(count: 10_000), to: server.url("/upload")).transport(transport))
        case 6: AsyncOperation(HTTPData(server.url("/bytes/2000000")).sizeLimit(10).transport(transport))
        case 7: download("/bytes/9", number, ["drop": "5"])
        default: data("/bytes/300000")
        }
    }

    private func data(_ path: String, _ faults: [String: String] = [:]) -> AnyOperation {
        AsyncOperation(HTTPData(server.url(path, faults)).transport(transport))
    }

    private func download(_ path: String, _ number: Int, _ faults: [String: String] = [:]) -> AnyOperation {
        AsyncOperation(
            HTTPDownload(server.url(path, faults), to: folder.file("\(number)")).transport(transport))
    }
}
