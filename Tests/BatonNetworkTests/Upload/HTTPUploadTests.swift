import Baton
import BatonNetwork
import BatonTesting
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(10))) struct HTTPUploadTests {
    private func seen(_ response: HTTPResponse) throws -> UploadSeen {
        try JSONDecoder().decode(UploadSeen.self, from: response.data)
    }

    /// Uploads `data`, and returns the SHA-256 digest that the server has computed.
    private func digest(_ data: Data) async throws -> String {
        try seen(try await outcome(HTTPUpload(data, to: server.url("/upload"))).get()).sha256
    }

    @Test func bytesAreSent() async throws {
        let operation = AsyncOperation(HTTPUpload(Data("hello".utf8), to: server.url("/upload")))
        let seen = try seen(try await outcome(of: operation).get())
        #expect(seen.count == 5 && seen.method == "POST")
        #expect(seen.sha256 == "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824")
        #expect(operation.progress.completedUnitCount == 5)
    }

    @Test func aFileIsSentAsItIs() async throws {
        let folder = try TestFolder()
        let data = TestServer.bytes(3_000_000)
        try data.write(to: folder.file("file"))
        let operation = AsyncOperation(HTTPUpload(file: folder.file("file"), to: server.url("/upload")))
        let counts = EventLog<Int>()
        let watching = Task {
            for await progress in operation.progressUpdates { counts(progress.completedUnitCount) }
        }
        let seen = try seen(try await outcome(of: operation).get())
        await watching.value
        #expect(seen.count == 3_000_000)
        #expect(seen.sha256 == (try await digest(data)))
        #expect(operation.progress.totalUnitCount == 3_000_000)
        #expect(counts.events == counts.events.sorted())
    }

    @Test func anEmptyBodyAndAnEmptyFileAreSent() async throws {
        let folder = try TestFolder()
        try Data().write(to: folder.file("empty"))
        #expect(try seen(await outcome(HTTPUpload(Data(), to: server.url("/upload"))).get()).count == 0)
        let file = HTTPUpload(file: folder.file("empty"), to: server.url("/upload"))
        #expect(try seen(await outcome(file).get()).count == 0)
    }

    @Test func aMethodOfOnesOwn() async throws {
        var request = URLRequest(url: server.url("/upload"))
        request.httpMethod = "PUT"
        let upload = HTTPUpload(.data(Data("x".utf8)), with: request)
        #expect(try seen(await outcome(upload).get()).method == "PUT")
    }

    @Test(arguments: [
        ("307", "POST", 3_000_000), ("308", "POST", 3_000_000), ("301", "GET", 0), ("302", "GET", 0), ("303", "GET", 0),
    ]) func aRedirectTakesTheBodyAlongOrNot(_ code: String, _ method: String, _ count: Int) async throws {
        let target = server.url("/upload").absoluteString
        let upload = HTTPUpload(TestServer.bytes(3_000_000), to: server.url("/redirect", ["to": target, "code": code]))
        let seen = try seen(await outcome(upload).get())
        #expect(seen.method == method)
        #expect(seen.count == count)
    }

    /// Statuses 301 and 302 turn only a POST into a GET.
    @Test(arguments: ["PUT", "PATCH", "DELETE"], ["301", "302", "307", "308"])
    func aRedirectOfAnotherMethodTakesTheBodyAlong(_ method: String, _ code: String) async throws {
        let data = TestServer.bytes(3_000_000)
        let target = server.url("/upload").absoluteString
        let upload = HTTPUpload(data, to: server.url("/redirect", ["to": target, "code": code])).method(method)
        let seen = try seen(await outcome(upload).get())
        #expect(seen.method == method)
        #expect(seen.count == data.count)
        // The body of a `URLRequest` is sent again as well.
        var request = URLRequest(url: server.url("/redirect", ["to": target, "code": code]))
        request.httpMethod = method
        request.httpBody = Data("hello".utf8)
        #expect(try self.seen(await outcome(HTTPData(request)).get()).count == 5)
    }

    @Test(arguments: [301, 307]) func aBodyThatCanBeReadOnceIsNotSentEmpty(_ code: Int) async {
        let target = server.url("/upload").absoluteString
        var request = URLRequest(url: server.url("/redirect", ["to": target, "code": "\(code)"]))
        request.httpMethod = "PUT"
        request.httpBodyStream = InputStream(data: Data("hello".utf8))
        let page = HTTPData(request).transport(URLSessionTransport())
        guard case .refused(let refusal)? = await failure(page)?.reason else {
            Issue.record("it was sent")
            return
        }
        #expect(refusal.status == code)
    }

    #if os(Linux)
        @Test("libcurl refuses an httpBodyStream, and names the alternative")
        func anInputStreamIsRefused() async {
            var request = URLRequest(url: server.url("/upload"))
            request.httpMethod = "PUT"
            request.httpBodyStream = InputStream(data: Data("hello".utf8))
            let error = await failure(HTTPData(request))
            guard case .invalidRequest(let problem)? = error?.reason else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(problem.contains("HTTPBodyStream"))
        }
    #endif

    @Test(arguments: ["PUT", "PATCH", "DELETE"]) func seeOtherIsAskedForWithoutTheBody(_ method: String) async throws {
        let target = server.url("/upload").absoluteString
        let upload = HTTPUpload(Data("x".utf8), to: server.url("/redirect", ["to": target, "code": "303"]))
        let seen = try seen(await outcome(upload.method(method)).get())
        #expect(seen.method == "GET" && seen.count == 0)
    }

    @Test func aCircleOfRedirectsWithABodyEnds() async {
        for (method, code) in [("POST", "307"), ("PUT", "301")] {
            let upload = HTTPUpload(Data("x".utf8), to: server.url("/loop", ["code": code])).method(method)
            let error = await failure(upload)
            #expect(error?.reason == .tooManyRedirects, "\(String(describing: error))")
        }
    }

    @Test func aRefusalIsAnError() async {
        let error = await failure(HTTPUpload(Data("x".utf8), to: server.url("/status/403", ["body": "no"])))
        #expect(error?.reason == .refused(HTTPError.Refusal(status: 403, excerpt: "no")))
        #expect(error?.method == "POST")
    }

    @Test func aFileThatIsNotThereIsAnError() async throws {
        let folder = try TestFolder()
        let missing = folder.file("missing")
        let upload = HTTPUpload(file: missing, to: server.url("/upload"))
        #expect(await failure(upload)?.reason == .file(.notFound, path: missing.path))
        let isFolder = HTTPUpload(file: folder.url, to: server.url("/upload"))
        #expect(await failure(isFolder)?.reason == .file(.isDirectory, path: folder.url.path))
    }
}
