import Baton
import BatonNetwork
import BatonNetworkTesting
import BatonTesting
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(10))) struct RedirectTests {
    @Test("Each redirect is followed with the method of RFC 9110, 15.4", arguments: Transports.all)
    func theMethodsOfTheRFC(_ transport: any HTTPTransport) async throws {
        let next = [
            "GET": ["GET", "GET", "GET", "GET", "GET"], "HEAD": ["HEAD", "HEAD", "HEAD", "HEAD", "HEAD"],
            "POST": ["GET", "GET", "GET", "POST", "POST"], "PUT": ["PUT", "PUT", "GET", "PUT", "PUT"],
            "DELETE": ["DELETE", "DELETE", "GET", "DELETE", "DELETE"],
            "PATCH": ["PATCH", "PATCH", "GET", "PATCH", "PATCH"],
        ]
        for (method, expected) in next {
            for (code, expected) in zip([301, 302, 303, 307, 308], expected) {
                let key = freshKey()
                let target = server.url("/upload", ["key": key])
                let page = HTTPData(server.url("/redirect", ["to": target.absoluteString, "code": "\(code)"]))
                let answer = try await outcome(page.method(method).transport(transport)).get()
                #expect(answer.status == 200)
                #expect(answer.head.url?.path == "/upload")
                #expect(try await server.log(key).map(\.method) == [expected], "\(method) after \(code)")
            }
        }
    }

    @Test("A redirect to another origin does not pass on secrets", arguments: Transports.all)
    func secretsStay(_ transport: any HTTPTransport) async throws {
        let other = await TestServer()
        defer { other.stop() }
        for (target, expected) in [(server, "secret" as String?), (other, nil)] {
            for method in ["GET", "PUT"] {
                let key = freshKey()
                let end = target.url("/headers", ["key": key]).absoluteString
                let redirect = HTTPData(server.url("/redirect", ["to": end])).method(method).transport(transport)
                    .header("Authorization", "secret").header("Cookie", "a=secret").header("X-Other", "kept")
                _ = try await redirect.execute(in: OperationContext())
                let entry = try #require(try await target.log(key).first)
                #expect(entry.method == method)
                #expect(entry.headers["Authorization"] == expected)
                #expect(entry.headers["Cookie"] == expected.map { "a=\($0)" })
                #expect(entry.headers["X-Other"] == "kept")
            }
        }
    }

    @Test(
        "Escapes in a Location are kept, and other characters are escaped",
        arguments: [
            ("/p?n=My%20File[1].pdf", "/p?n=My%20File%5B1%5D.pdf"), ("/a%20b|c", "/a%20b%7Cc"),
            ("/x%20y z", "/x%20y%20z"), ("/caf%C3%A9/é", "/caf%C3%A9/%C3%A9"), ("/100%/x", "/100%25/x"),
            ("/q?a=%2Fb&c={d}", "/q?a=%2Fb&c=%7Bd%7D"), ("/a?b#c#d", "/a?b"), ("/\\x", "/%5Cx"),
            ("?x=[1]", "/start?x=%5B1%5D"),
        ])
    func locations(_ location: String, _ target: String) async throws {
        let faults = try FaultServer()
        defer { faults.stop() }
        for path in ["/start", String(target.prefix { $0 != "?" })] {
            faults.on(path) { request in
                FaultScript([request.target == "/start" ? .answer(302, ["Location: \(location)"]) : .answer(200)])
            }
        }
        for transport in Transports.all {
            let count = faults.requests.count
            _ = try await outcome(HTTPData(faults.url("/start")).transport(transport)).get()
            #expect(faults.requests.dropFirst(count).map(\.target) == ["/start", target])
        }
    }

    @Test("Dot segments of a Location are removed, also after a scheme or a host", arguments: Transports.all)
    func dotSegments(_ transport: any HTTPTransport) async throws {
        let faults = try FaultServer()
        defer { faults.stop() }
        let host = faults.url("/").absoluteString.dropFirst("http:".count).dropLast()
        let cases = [
            ("/a/../b", "/b"), ("/a/./b/..", "/a/"), ("/..", "/"), ("/../../b/.", "/b/"), ("/a//../b", "/a/b"),
            ("/.a/..b/c..", "/.a/..b/c.."), ("/a/../b?q=../c", "/b?q=../c"), ("", ""),
        ]
        faults.on("*", .answer())
        for (number, prefix) in ["", "http:\(host)", String(host)].enumerated() {
            for (index, (location, target)) in cases.enumerated() where !(prefix + location).isEmpty {
                let start = "/start\(number)-\(index)"
                faults.on(start, .answer(302, ["Location: \(prefix)\(location)"]))
                let count = faults.requests.count
                _ = try await outcome(HTTPData(faults.url(start)).transport(transport)).get()
                let expected = target.isEmpty ? "/" : target
                #expect(faults.requests.dropFirst(count).map(\.target) == [start, expected], "\(prefix)\(location)")
            }
        }
    }

    @Test("A redirect without a fragment keeps the fragment of the URL")
    func fragments() async throws {
        for (location, expected) in [("/bytes/10", "top"), ("/bytes/10#end", "end")] {
            let page = HTTPData(server.url("/redirect", ["to": location]).absoluteString + "#top")
            #expect(try await outcome(page).get().head.url?.fragment == expected)
        }
    }

    @Test(
        "A redirect out of HTTP, or to a port that does not exist, is the answer",
        arguments: [
            "ftp://127.0.0.1/x", "file:///etc/passwd", "nonsense:", "http://127.0.0.1:0/", "http://127.0.0.1:65536/",
            "http://127.0.0.1:99999/x", "http://127.0.0.1:99999999999999999999/", "http://[::1]:99999999999999999999/",
        ])
    func aRedirectOutOfHTTPIsNotFollowed(_ address: String) async throws {
        for transport in Transports.all {
            let error = await failure(HTTPData(server.url("/redirect", ["to": address])).transport(transport))
            guard case .refused(let refusal)? = error?.reason else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(refusal.status == 302 && refusal.location == address)
            #expect(error?.redirectedTo == nil)
        }
    }

    @Test("A 304 response is no redirect, even if it has a Location")
    func notModified() async throws {
        let faults = try FaultServer()
        defer { faults.stop() }
        faults.on("/", .answer(304, ["Location: /other"]))
        for transport in Transports.all {
            let error = await failure(HTTPData(faults.url("/")).transport(transport))
            #expect(error?.reason == .refused(HTTPError.Refusal(status: 304)))
            #expect(error?.description.contains("redirect") == false)
        }
    }

    @Test("A redirect cycle is an error", arguments: Transports.all)
    func aCycleEnds(_ transport: any HTTPTransport) async throws {
        let key = freshKey()
        let page = HTTPData(server.url("/loop", ["key": key])).transport(transport)
        #expect(await failure(page)?.reason == .tooManyRedirects)
        #expect(try await server.log(key).count == 17)
        #expect(await failure(page.redirects(.follow(atMost: 2)))?.reason == .tooManyRedirects)
        #expect(try await server.log(key).count == 20)
    }

    @Test("If no redirects are allowed, a redirect is the response")
    func noneAreFollowed() async throws {
        let page = HTTPData(server.url("/redirect", ["to": "/bytes/10"])).validation(.none)
        for policy in [RedirectPolicy.none, .follow(atMost: 0), .follow(atMost: -1)] {
            let answer = try await outcome(page.redirects(policy)).get()
            #expect(answer.status == 302)
            #expect(answer.data == Data("look elsewhere".utf8))
        }
    }

    @Test("A redirect from https to http is followed only if that is allowed")
    func insecureRedirects() async throws {
        let requests = EventLog<String>()
        let stub = StubTransport { request in
            requests.append(request.url?.absoluteString ?? "")
            if request.url?.scheme == "http" { return HTTPAnswer(Data("plain".utf8)) }
            return HTTPAnswer(status: 302, headers: ["Location": "http://example.org/b?secret=1"])
        }
        let page = HTTPData("https://example.org/a").transport(stub)
        let error = await failure(page)
        #expect(error?.reason == .insecureRedirect(to: "http://example.org/b"))
        #expect(error?.isTransient == false)
        #expect(requests.events == ["https://example.org/a"])
        let allowed = page.redirects(.follow(atMost: 1, allowsInsecure: true))
        #expect(try await outcome(allowed).get().data == Data("plain".utf8))
    }

    @Test("A cookie that a redirect sets is sent with the request that follows", arguments: Transports.all)
    func cookiesOfRedirects(_ transport: any HTTPTransport) async throws {
        let key = freshKey()
        let reply =
            "HTTP/1.1 302 Found\r\nSet-Cookie: step=\(key); Path=/\r\nLocation: /headers\r\n"
            + "Content-Length: 0\r\n\r\n"
        let url = server.url("/raw", ["reply": Data(reply.utf8).base64EncodedString()])
        let answer = try await outcome(HTTPData(url).transport(transport)).get()
        #expect(String(decoding: answer.data, as: UTF8.self).contains("step=\(key)"))
    }

    @Test("The connection is reused after a redirect", arguments: Transports.all)
    func theConnectionIsUsedAgain(_ transport: any HTTPTransport) async throws {
        let key = freshKey()
        let target = server.url("/bytes/10", ["key": key]).absoluteString
        let page = HTTPData(server.url("/redirect", ["to": target, "key": key]))
        _ = try await outcome(page.transport(transport)).get()
        #expect(Set(try await server.log(key).map(\.connection)).count == 1)
    }
}
