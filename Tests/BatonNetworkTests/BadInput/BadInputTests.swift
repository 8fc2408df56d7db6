import Baton
import BatonNetwork
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(10))) struct BadInputTests {
    @Test(arguments: [
        "", "not an address", "http://", "http:///path", "ftp://example.org/x", "example.org", "file:///etc/passwd",
    ])
    func whatIsNoAddressIsAnError(_ address: String) async {
        guard case .invalidURL? = await failure(HTTPData(address))?.reason else {
            Issue.record("‘\(address)’ was accepted")
            return
        }
        let folder = FileManager.default.temporaryDirectory
        guard case .invalidURL? = await failure(HTTPDownload(address, to: folder.appendingPathComponent("x")))?.reason
        else {
            Issue.record("‘\(address)’ was accepted")
            return
        }
    }

    @Test("The error of an invalid address shows the text that was given", arguments: ["not a url", "café/ü ö"])
    func addressAsGiven(_ address: String) async throws {
        let error = try #require(await failure(HTTPData(address)))
        #expect(error.reason == .invalidURL(address))
        let url = try #require(URL(string: "ftp://example.org/a%20b"))
        #expect(await failure(HTTPData(url))?.reason == .invalidURL("ftp://example.org/a%20b"))
        // A request that was changed later has nothing to do with the text.
        var data = HTTPData(address)
        data.options.request.url = url
        #expect(await failure(data)?.reason == .invalidURL("ftp://example.org/a%20b"))
    }

    @Test func anUnknownHostIsAnError() async {
        let error = await failure(HTTPData("http://no-such-host.invalid/"))
        #expect(error?.reason == .hostNotFound)
        #expect(error?.isTransient == true)
    }

    @Test func aRefusedConnectionIsAnError() async throws {
        let error = await failure(HTTPData("http://127.0.0.1:1/path?secret=1"))
        #expect(error?.reason == .connectionRefused)
        #expect(error?.url == "http://127.0.0.1:1/path")
        #expect(error?.isTransient == true)
    }

    @Test func aPlainPortIsNoTLS() async {
        let error = await failure(HTTPData(server.url("/bytes/10", scheme: "https")))
        guard case .insecureConnection? = error?.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error?.isTransient == false)
    }

    @Test func aBodyShorterThanPromisedIsAnError() async {
        let error = await failure(HTTPData(server.url("/bytes/5000", ["short": "2000"])))
        #expect(error?.reason == .bodyTooShort(received: 2000, promised: 5000))
        #expect(error?.isTransient == true)
    }

    @Test func aConnectionThatIsResetIsAnError() async {
        let error = await failure(HTTPData(server.url("/bytes/5000000", ["drop": "2000000"])))
        guard case .bodyTooShort(let received, 5_000_000)? = error?.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(received <= 2_000_000)
    }

    @Test func aChunkedBodyThatBreaksOffIsAnError() async {
        let error = await failure(HTTPData(server.url("/bytes/5000", ["short": "2000", "chunked": "1"])))
        #expect(error?.reason == .connectionBroken)
    }

    @Test func aServerThatHangsUpWithoutAWordIsAnError() async throws {
        let key = freshKey()
        let operation = AsyncOperation(HTTPData(server.url("/silent", ["key": key]))).add(to: AsyncOperationQueue())
        try await server.waitForRequests(key)
        try await server.release(key)
        _ = try? await operation.value
        #expect(operation.result?.httpError?.reason == .connectionBroken)
    }

    @Test("A method whose requests have no body is not sent with one", arguments: ["GET", "HEAD", "TRACE"])
    func methodsWithoutBody(_ method: String) async {
        var request = URLRequest(url: server.url("/bytes/10"))
        request.httpMethod = method
        request.httpBody = Data("x".utf8)
        guard case .invalidRequest? = await failure(HTTPData(request))?.reason else {
            Issue.record("it was sent")
            return
        }
    }

    /// If a client sent these fields unchecked, each would become a second header field or a second request.
    @Test(arguments: [
        ("X-Name", "a\r\nX-Other: b"), ("X-Name", "a\nb"), ("X-Name\r\nX", "a"), ("X Name", "a"), ("", "a"),
        ("X-Name(y)", "a"), ("X-Name;", "a"),
    ])
    func aLineEndInAHeaderFieldIsNotSent(_ name: String, _ value: String) async throws {
        let key = freshKey()
        let error = await failure(HTTPData(server.url("/bytes/10", ["key": key])).header(name, value))
        if case .invalidRequest? = error?.reason {
            #expect(try await server.log(key).isEmpty)
        } else {
            // On Linux, URLRequest itself drops such fields.
            let entry = try #require(try await server.log(key).first)
            #expect(entry.headers["X-Other"] == nil && entry.headers["X"] == nil && entry.headers["X-Name"] == nil)
        }
    }

    @Test func aMethodThatIsNoneIsNotSent() async {
        guard
            case .invalidRequest? = await failure(HTTPData(server.url("/bytes/10")).method("GET / HTTP/1.1\r\nX: y"))?
                .reason
        else {
            Issue.record("it was sent")
            return
        }
    }

    @Test(arguments: [
        "http://127.0.0.1:99999/", "http://127.0.0.1:0/", "http://[::1", "http://[::1]:1/", "http://a b/",
        "http://%00/",
        "http://exa%00mple.invalid/", "http://xn--.invalid/",
        "http://" + String(repeating: "x", count: 300) + ".invalid/",
        "http://ü.invalid/ü?ü", "HTTP://127.0.0.1:1", "http://127.0.0.1:1/%zz", "http://.../", "http://-/",
        "http://@:1/",
    ]) func strangeAddressesAreErrorsAndNoTraps(_ address: String) async {
        #expect(await failure(HTTPData(address).timeout(.seconds(20))) != nil)
    }

    @Test func portZeroIsNoAddress() async {
        guard case .invalidURL? = await failure(HTTPData("http://127.0.0.1:0/"))?.reason else {
            Issue.record("it was sent")
            return
        }
    }

    @Test func aTunnelIsNotAskedForByHand() async {
        guard
            case .invalidRequest(let problem)? = await failure(HTTPData(server.url("/bytes/10")).method("connect"))?
                .reason
        else {
            Issue.record("it was sent")
            return
        }
        #expect(problem.contains("proxy"))
    }

    @Test(arguments: [
        ("ftp://ada:secret@127.0.0.1/a?b", "ftp://127.0.0.1/a"), ("http://[::1/raw", "http://[::1/raw"),
        ("http://ada:secret@[::1/a?token", "http://…@[::1/a…"),
    ])
    func aRedirectThatIsNotFollowedIsNamed(_ location: String, _ shown: String) async throws {
        let raw = try RawServer("HTTP/1.1 302 Found\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n")
        defer { raw.stop() }
        let error = await failure(HTTPData(raw.url))
        #expect(error?.reason == .refused(.init(status: 302, location: shown)))
        #expect(error?.description.hasSuffix("answered 302, a redirect to ‘\(shown)’ that was not followed") == true)
    }

    @Test func theDescriptionOfAHeadKeepsSecrets() {
        let url = URL(string: "http://ada:secret@127.0.0.1/a?token=1")
        let head = HTTPHead(status: 200, url: url, headers: HTTPHeaders(["Set-Cookie": "session=1"]))
        #expect("\(head)" == "200 http://127.0.0.1/a")
        #expect(String(reflecting: head) == "\(head)")
    }

    @Test func bytesBeyondThePromiseAreNoShortBody() {
        #expect(
            HTTPError.Reason.bodyTooShort(received: 1003, promised: 1000).description
                == "1003 bytes came, and 1000 were promised")
    }

    @Test("Descriptions of errors use the singular for one byte")
    func oneByte() {
        let texts: [(HTTPError.Reason, String)] = [
            (.bodyTooShort(received: 1, promised: 0), "1 byte came, and 0 were promised"),
            (.bodyTooShort(received: 2, promised: 1), "2 bytes came, and 1 was promised"),
            (.bodyTooShort(received: 1, promised: 5), "after 1 byte of the 5 that were promised"),
            (.bodyTooShort(received: 0, promised: 1), "after 0 bytes of the 1 that was promised"),
            (.bodyTooLarge(limit: 1), "larger than 1 byte."),
            (.tooSlow(bytesPerSecond: 1, over: .seconds(3)), "fewer than 1 byte a second"),
        ]
        for (reason, text) in texts { #expect(reason.description.contains(text)) }
    }

    @Test("The advice for an answer that is not HTTP is given only for connections without TLS")
    func advice() throws {
        for (scheme, problem, isGiven) in [
            ("http", "not HTTP", true), ("https", "not HTTP", false), ("http", "its content is damaged", false),
        ] {
            let request = URLRequest(url: try #require(URL(string: "\(scheme)://example.org/")))
            let error = HTTPError(.invalidAnswer(problem), request)
            #expect(error.description.contains("whether it wants https") == isGiven)
        }
    }

    @Test func aNegativeDeadlineAndNoTimeoutAreNoTraps() async {
        guard case .invalidRequest? = await failure(HTTPData(server.url("/bytes/10")).deadline(.seconds(-1)))?.reason
        else {
            Issue.record("it was sent")
            return
        }
        #expect(await failure(HTTPData(server.url("/silent")).timeout(.seconds(-1)))?.isTransient == true)
        #expect(await failure(HTTPData(server.url("/bytes/10")).sizeLimit(-1))?.reason == .bodyTooLarge(limit: 0))
    }

    @Test(arguments: [TimeInterval.infinity, .greatestFiniteMagnitude, .nan, 0, -1, -.infinity])
    func aTimeoutThatNoClockCanCountIsNoTrap(_ limit: TimeInterval) async throws {
        var request = URLRequest(url: server.url("/bytes/10"))
        request.timeoutInterval = limit
        #expect(try await outcome(HTTPData(request)).get().data.count == 10)
    }

    @Test func theLongestTimeoutIsNoTrap() async throws {
        let longest = HTTPData(server.url("/bytes/10")).timeout(Duration(attoseconds: .max))
        #expect(try await outcome(longest).get().data.count == 10)
        let shortest = HTTPData(server.url("/silent")).timeout(Duration(attoseconds: .min))
        #expect(await failure(shortest)?.isTransient == true)
    }

    @Test func bytesThatAreNoTextAreNoTrap() async {
        let error = await failure(HTTPData(server.url("/bytes/500")).validation(.status(204)))
        guard case .refused(let refusal)? = error?.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(!refusal.excerpt.isEmpty)
    }

    @Test func theOperationsErrorNamesTheRequestAndNoSecrets() async {
        let url = "http://user:password@127.0.0.1:1/path?token=secret"
        let operation = AsyncOperation(HTTPData(url))
        _ = await outcome(of: operation)
        let text = operation.error.map { "\($0)" } ?? ""
        #expect(text.hasPrefix("GET http://127.0.0.1:1/path: the connection was refused"))
        #expect(!text.contains("secret") && !text.contains("password"))
    }

    @Test func aDependentIsToldWhatWentWrong() async {
        let page = AsyncOperation(HTTPData("http://127.0.0.1:1/"))
        page.name = "front page"
        let size = page.then { $0.data.count }
        _ = await outcome(of: size)
        #expect((size.error?.underlyingError as? HTTPError)?.reason == .connectionRefused)
        #expect(size.error?.publisher == "front page")
        #expect(size.error.map { "\($0)" }?.contains("‘front page’") == true)
    }
}
