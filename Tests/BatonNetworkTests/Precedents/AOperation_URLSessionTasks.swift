// After AOperation, ‘Ready-to-use operations’, the rows about URLSession tasks
//
// The number of a statement begins the name of its test.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import Baton
import BatonNetwork
import BatonTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10))) struct AOperation_URLSessionTasks {
    private let queue = AsyncOperationQueue()

    @Test func AOperationPages_7_aDataTaskIsAnOperation() async throws {
        let data = AsyncOperation(HTTPData(server.url("/bytes/100")))
        #expect(try await queue.run(data.then { $0.data.count }) == 100)
    }

    @Test func AOperationPages_7_aDownloadTaskIsAnOperation() async throws {
        let folder = try TestFolder()
        let file = AsyncOperation(HTTPDownload(server.url("/bytes/100"), to: folder.file("file")))
        #expect(try await queue.run(file.then { try Data(contentsOf: $0.file) }) == TestServer.bytes(100))
    }

    @Test func AOperationPages_7_anUploadTaskIsAnOperation() async throws {
        let upload = AsyncOperation(HTTPUpload(TestServer.bytes(100), to: server.url("/upload")))
        let seen = try await queue.run(upload.then { try JSONDecoder().decode(UploadSeen.self, from: $0.data) })
        #expect(seen.count == 100)
    }

    /// The operation of AOperation never finished if other code cancelled its task.
    @Test func AOperationPages_7_cancellingTheOperationCancelsTheTaskAndEndsIt() async throws {
        let key = freshKey()
        let data = AsyncOperation(HTTPData(server.url("/silent", ["key": key]))).add(to: queue)
        try await server.waitForRequests(key)
        data.cancel()
        _ = try? await data.value
        #expect(data.result?.isCancelled == true)
        try await server.release(key)
    }
}
