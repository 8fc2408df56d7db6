import Baton
import BatonNetwork
import BatonTesting
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Responses that are legal but rare, and some that are illegal.
@Suite(.timeLimit(.minutes(10))) struct AnswersTests {
    private let key = freshKey()

    private func raw(_ reply: String, _ query: [String: String] = [:]) -> URL {
        let bytes = Data(reply.replacingOccurrences(of: "\n", with: "\r\n").utf8).base64EncodedString()
        return server.url("/raw", ["reply": bytes, "key": key].merging(query) { $1 })
    }

    private func refusal(_ procedure: some Procedure) async -> HTTPError.Refusal? {
        if case .refused(let refusal)? = await failure(procedure)?.reason { return refusal }
        return nil
    }

    // MARK: The head

    /// The server sends a single interim response: URLSession on Linux loses the final response after a second one.
    @Test func anInterimAnswerComesBeforeTheAnswer() async throws {
        let hints = "HTTP/1.1 103 Early Hints\nLink: </a.css>\n\n"
        // The pause gives a client time to mistake the interim response for the final one.
        let pause = ["cut": "44", "pause": "300"]
        let found = HTTPData(raw(hints + "HTTP/1.1 200 OK\nContent-Length: 5\n\nhello", pause))
        let response = try await outcome(found).get()
        #expect(response.head.status == 200 && response.data == Data("hello".utf8))
        #expect(response.head.headers["Link"] == nil)
        let missing = HTTPData(raw(hints + "HTTP/1.1 404 Not Found\nContent-Length: 2\n\nno", pause))
        #expect(await refusal(missing) == HTTPError.Refusal(status: 404, excerpt: "no"))
    }

    @Test func aResponseWithoutABodyIsNotTooShort() async throws {
        for status in ["204 No Content", "304 Not Modified"] {
            let page = HTTPData(raw("HTTP/1.1 \(status)\nContent-Length: 5\n\n")).validation(.none)
            #expect(try await outcome(page).get().data.isEmpty)
        }
    }

    @Test(arguments: ["SSH-2.0-OpenSSH_9.2\n", "ICY 200 OK\n\n", "000\n", "\u{15}\u{3}\u{1}\u{0}\u{2}\u{2}F"])
    func whatIsNoHTTPSaysSo(_ reply: String) async {
        let error = await failure(HTTPData(raw(reply)))
        guard case .invalidAnswer? = error?.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error?.isTransient == false)
    }

    // MARK: Refusals

    /// The rest of the body would arrive after five minutes.
    @Test func aRefusalDoesNotWaitForItsBody() async throws {
        let page = HTTPData(raw("HTTP/1.1 403 Forbidden\nContent-Length: 100\n\nnot you", ["hold": "1"]))
        #expect(await refusal(page) == HTTPError.Refusal(status: 403, excerpt: "not you"))
        try await server.release(key)
    }

    /// The deadline passes while the operation waits for the excerpt of the body.
    @Test func aDeadlineDoesNotHideARefusal() async throws {
        let clock = TestClock()
        let stub = StubTransport { _ in
            HTTPAnswer(status: 403, Data("not you".utf8)) {
                clock.advance(by: .seconds(1))
                try await Gate().waitUnlessCancelled()
            }
        }
        let error = await failure(HTTPData("http://a/").transport(stub).deadline(.seconds(1), clock: clock))
        #expect(error?.reason == .refused(HTTPError.Refusal(status: 403, excerpt: "not you")))
    }

    /// The cancellation comes while the operation waits for the excerpt of the body, which it does for a second.
    @Test func aCancelledRefusalIsCancelled() async throws {
        let operations = EventLog<AnyOperation>()
        let stub = StubTransport { _ in
            HTTPAnswer(status: 403, Data("not you".utf8)) {
                operations.events[0].cancel()
                try await Gate().waitUnlessCancelled()
            }
        }
        let operation = AsyncOperation(HTTPData("http://a/").transport(stub))
        operations(operation)
        #expect(await outcome(of: operation).isCancelled)
        operations.clear()
    }

    @Test func requestsThatMayBeSentAgain() {
        func allows(_ reason: HTTPError.Reason, _ method: String) -> Bool {
            var request = URLRequest(url: server.url("/"))
            request.httpMethod = method
            return HTTPRetry.idempotent.allows(.failed(HTTPError(reason, request)))
        }
        #expect(allows(.refused(HTTPError.Refusal(status: 425)), "GET"))
        #expect(!allows(.refused(HTTPError.Refusal(status: 425)), "POST"))
        #expect(allows(.connectionRefused, "POST"))
        #expect(allows(.hostNotFound, "POST"))
        #expect(!allows(.connectionBroken, "POST"))
        #expect(!allows(.invalidAnswer("not HTTP"), "GET"))
    }

    // MARK: Heads

    /// According to RFC 9110, 15.4.5, a 304 response has no content.
    @Test("A response without content needs no content type", arguments: [204, 205, 304])
    func whatHasNoContentNeedsNoType(_ status: Int) {
        let validation = ResponseValidation.status(200, status).contentType("application/json")
        #expect(validation.accepts(HTTPHead(status: status, url: nil)))
        #expect(!validation.accepts(HTTPHead(status: 200, url: nil)))
    }

    @Test func theLastOfSeveralTypesCounts() {
        var fields = HTTPHeaders(["Content-Type": "text/html"])
        fields.add("Content-Type", "application/json; charset=utf-8")
        #expect(HTTPHead(status: 200, url: nil, headers: fields).contentType == "application/json")
    }

    @Test(
        "The content type is the last media type of a list, and nothing if there are only parameters",
        arguments: [
            ("text/html, application/json; charset=utf-8", "application/json"), ("; charset=utf-8", nil), ("", nil),
            ("multipart/form-data; boundary=\"a,b/c\\\"d,e/f\"", "multipart/form-data"),
            ("text/html, ; charset=utf-8", "text/html"), ("Text/HTML;a=b, ", "text/html"),
            ("text/css; a=b, c", "text/css"),
            ("odd", "odd"),
        ] as [(String, String?)])
    func contentTypes(field: String, expected: String?) {
        let head = HTTPHead(status: 200, url: nil, headers: HTTPHeaders(["Content-Type": field]))
        #expect(head.contentType == expected)
    }

    @Test("Values of field names that differ only in case have the order of the names")
    func namesThatDifferInCase() {
        for _ in 0..<20 {
            let fields = HTTPHeaders(["vary": "c", "VARY": "a", "Vary": "b", "X-A": "1"])
            #expect(fields.values(of: "Vary") == ["a", "b", "c"])
        }
    }

    @Test(arguments: ["+5", "-5", " ", "5 6", "５"]) func whatIsNoLength(_ text: String) {
        let head = HTTPHead(status: 200, url: nil, headers: HTTPHeaders(["Content-Length": text]))
        #expect(head.contentLength == nil)
    }

    // MARK: Redirects

    @Test func aRedirectThatLeadsNowhereIsTheAnswer() async throws {
        #expect(await refusal(HTTPData(raw("HTTP/1.1 302 Found\nContent-Length: 0\n\n")))?.status == 302)
        #expect(await refusal(HTTPData(raw("HTTP/1.1 301 Moved\nLocation:\nContent-Length: 0\n\n")))?.status == 301)
        #expect(try await server.log(key).count == 2)
    }

    @Test(arguments: ["file:///etc/passwd", "mailto:a@b", "ftp://127.0.0.1/x"])
    func otherSchemesAreNotFollowed(_ place: String) async throws {
        let page = HTTPData(server.url("/redirect", ["to": place, "key": key]))
        #expect(await refusal(page)?.status == 302)
        #expect(try await server.log(key).count == 1)
    }

    @Test(arguments: [
        ("x", "/redirect/a/x"), ("./x", "/redirect/a/x"), ("../x", "/redirect/x"), ("?x", "/redirect/a/b?x"),
        ("/x", "/x"),
    ]) func aRelativeRedirectStartsWhereItIs(_ place: String, _ expected: String) async throws {
        let place = place.contains("?") ? place + "&key=\(key)" : place + "?key=\(key)"
        let page = HTTPData(server.url("/redirect/a/b", ["to": place, "key": key])).validation(.none)
        _ = await outcome(page)
        let paths = try await server.log(key).map(\.path)
        let rest = (expected.contains("?") ? "&" : "?") + "key=\(key)"
        #expect(paths.count > 1 && paths[1] == expected + rest, "\(paths)")
    }

    @Test("A redirect that becomes a GET drops the content fields", arguments: ["301", "302", "303"])
    func whatBecomesAGETHasNoContentFields(_ code: String) async throws {
        let end = server.url("/bytes/10", ["key": key]).absoluteString
        let upload = HTTPUpload(Data("x".utf8), to: server.url("/redirect", ["to": end, "code": code]))
            .header("Content-Type", "text/plain").header("Content-Language", "de").header("X-Kept", "yes")
        #expect(try await outcome(upload).get().data.count == 10)
        let entry = try #require(try await server.log(key).first)
        #expect(entry.method == "GET")
        #expect(entry.headers["Content-Type"] == nil && entry.headers["Content-Language"] == nil)
        #expect(entry.headers["X-Kept"] == "yes")
    }

    // MARK: Details

    @Test func parametersOfATypeDoNotCountOnEitherSide() async throws {
        let page = HTTPData(server.url("/bytes/10", ["type": "Text/HTML; charset=latin1"]))
        let good = page.validation(.contentType("text/html; charset=utf-8"))
        #expect(try await outcome(good).get().data.count == 10)
        #expect(await failure(page.validation(.contentType("text/plain; charset=utf-8"))) != nil)
        let empty = HTTPData(raw("HTTP/1.1 204 No Content\n\n")).validation(.contentType("application/json"))
        #expect(try await outcome(empty).get().data.isEmpty)
    }

    @Test func aSchemeIsTheSameInUpperCase() async throws {
        let address = server.url("/bytes/10").absoluteString.replacingOccurrences(of: "http:", with: "HTTP:")
        #expect(try await outcome(HTTPData(address)).get().data.count == 10)
    }

    @Test func cookiesAreATransportsOwn() async throws {
        let (first, second) = (URLSessionTransport(), URLSessionTransport())
        let set = raw("HTTP/1.1 200 OK\nSet-Cookie: session=\(key); Path=/; Max-Age=100000\nContent-Length: 0\n\n")
        _ = try await outcome(HTTPData(set).transport(first)).get()
        func sent(_ transport: URLSessionTransport) async throws -> String {
            let page = HTTPData(server.url("/headers")).transport(transport)
            return String(decoding: try await outcome(page).get().data, as: UTF8.self)
        }
        #expect(try await sent(first).contains("session=\(key)"))
        #expect(try await sent(second).contains("session=") == false)
    }
}
