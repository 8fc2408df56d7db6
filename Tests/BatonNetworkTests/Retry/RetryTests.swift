import Baton
import BatonNetworkTesting
import BatonTesting
import Foundation
import Testing

@testable import BatonNetwork

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(10))) struct HTTPRetryTests {
    private let key = freshKey()

    private func flaky(_ failures: Int, _ query: [String: String] = [:]) -> URL {
        server.url("/flaky/\(failures)", query.merging(["key": key]) { $1 })
    }

    @Test(arguments: ["500", "502", "503", "408", "429"]) func twoFailuresAndThenSuccess(_ status: String) async throws
    {
        let page = AsyncOperation(HTTPData(flaky(2, ["status": status]))).retryHTTP(attempts: 3, .immediately)
        #expect(try await outcome(of: page).get().data == Data("ok".utf8))
        #expect(page.attempts.count == 3)
    }

    @Test func theSameThroughTheCoresOwnRetry() async throws {
        let page = AsyncOperation(HTTPData(flaky(1))).retry(.immediately, attempts: 2) {
            HTTPRetry.idempotent.allows($0)
        }
        #expect(try await outcome(of: page).get().status == 200)
    }

    @Test("A status that will not change is not retried", arguments: ["400", "404", "501", "505"])
    func whatWillNotChangeIsNotTriedAgain(_ status: String) async throws {
        let page = AsyncOperation(HTTPData(flaky(1, ["status": status]))).retryHTTP(attempts: 3, .immediately)
        #expect(await outcome(of: page).httpError != nil)
        #expect(try await server.log(key).count == 1)
    }

    @Test func aBrokenConnectionIsTriedAgain() async throws {
        let url = server.url("/bytes/1000", ["key": key, "short": "500", "faults": "2"])
        let page = AsyncOperation(HTTPData(url)).retryHTTP(attempts: 3, .immediately)
        #expect(try await outcome(of: page).get().data == TestServer.bytes(1000))
    }

    @Test func aPOSTIsTriedAgainOnlyWhenOneSaysSo() async throws {
        let upload = HTTPUpload(Data("x".utf8), to: flaky(1))
        #expect(await outcome(of: AsyncOperation(upload).retryHTTP(attempts: 3, .immediately)).httpError != nil)
        #expect(try await server.log(key).count == 1)
        let again = HTTPUpload(Data("x".utf8), to: server.url("/flaky/1", ["key": freshKey()]))
        let operation = AsyncOperation(again).retryHTTP(attempts: 3, .immediately, if: .anyMethod)
        #expect(try await outcome(of: operation).get().status == 200)
    }

    /// The first server has received the request, and may have carried it out.
    @Test("A request that is not idempotent is not sent again after a redirect", arguments: [302, 303, 307])
    func redirectedRequests(_ code: Int) async throws {
        let faults = try FaultServer()
        defer { faults.stop() }
        let gone = try FaultServer()
        let refusing = gone.url("/").absoluteString
        gone.stop()
        faults.on("/die", .reset)
        faults.on("/short", .answerHead(200, ["Content-Length: 100"]), .send("abc"), .close)
        for (number, target) in ["/die", "/short", refusing].enumerated() {
            faults.on("/form\(number)", .answer(code, ["Location: \(target)"]))
            for method in ["POST", "PATCH"] {
                let upload = HTTPUpload(Data("x".utf8), to: faults.url("/form\(number)")).method(method)
                let operation = AsyncOperation(upload).retryHTTP(attempts: 3, .immediately)
                let error = try #require(await outcome(of: operation).httpError)
                #expect(error.isTransient && operation.attempts.count == 1)
                #expect(error.method == method && error.url.hasSuffix("/form\(number)"))
                #expect(error.redirectedTo?.hasSuffix(target) == true)
                #expect(error.description.contains("redirected to "))
            }
        }
        let page = AsyncOperation(HTTPData(faults.url("/form0"))).retryHTTP(attempts: 3, .immediately)
        _ = await outcome(of: page)
        #expect(page.attempts.count == 3)
    }

    // MARK: Retry-After

    /// The test advances the clock of the queue.
    @Test func theServersWaitIsWaited() async throws {
        let clock = TestClock()
        let page = AsyncOperation(HTTPData(flaky(1, ["status": "429", "after": "30"])))
            .retryHTTP(attempts: 2, .constant(.seconds(1)))
            .add(to: AsyncOperationQueue(clock: clock))
        // A request that runs sleeps until its limits on the same clock.
        while clock.nextDeadline != clock.now.advanced(by: .seconds(30)) { await Task.yield() }
        clock.advance(by: .seconds(30))
        #expect(try await page.value.status == 200)
        #expect(page.attempts.first?.delay == .seconds(30))
    }

    @Test(arguments: ["0", "Sun, 06 Nov 1994 08:00:00 GMT"])
    func aServerThatSaysAtOnceDoesNotShortenTheWait(_ text: String) async throws {
        let clock = TestClock()
        let page = AsyncOperation(HTTPData(flaky(1, ["status": "503", "after": text])))
            .retryHTTP(attempts: 2, .constant(.seconds(1)))
            .add(to: AsyncOperationQueue(clock: clock))
        // A request that runs sleeps until its limits on the same clock.
        while clock.nextDeadline != clock.now.advanced(by: .seconds(1)) { await Task.yield() }
        clock.advance(by: .seconds(1))
        #expect(try await page.value.status == 200)
    }

    @Test func aDateIsMeasuredByTheServersOwnClock() async throws {
        let url = server.url(
            "/status/503", ["after": "Sun, 06 Nov 1994 08:50:37 GMT", "date": "Sun, 06 Nov 1994 08:49:37 GMT"])
        #expect(await failure(HTTPData(url))?.retryAfter == .seconds(60))
    }

    @Test(arguments: [
        ("7", Duration.seconds(7)), ("0", .zero), ("Sunday, 06-Nov-94 08:50:37 GMT", .seconds(60)),
        ("Sun Nov  6 08:50:37 1994", .seconds(60)), ("Sun, 06 Nov 1994 08:00:00 GMT", .zero), ("soon", nil),
        ("-5", nil),
        ("99999999999999999999", .seconds(365 * 24 * 60 * 60)), ("", nil),
    ]) func whatRetryAfterMaySay(_ text: String, _ expected: Duration?) async {
        let stub = StubTransport { _ in
            HTTPAnswer(status: 503, headers: ["Retry-After": text, "Date": "Sun, 06 Nov 1994 08:49:37 GMT"])
        }
        #expect(await failure(HTTPData("http://example.org").transport(stub))?.retryAfter == expected)
    }

    @Test(
        "A leap second is the second after the last one of the day",
        arguments: ["Sat, 31 Dec 2016 23:59:60 GMT", "Saturday, 31-Dec-16 23:59:60 GMT", "Sat Dec 31 23:59:60 2016"])
    func leapSeconds(_ text: String) throws {
        let now = Date(timeIntervalSince1970: 1_483_228_800)
        #expect(try #require(HTTPDate.date(text, now: now)) == now)
        #expect(HTTPDate.date(text.replacing("23:59:60", with: "23:58:60"), now: now) == nil)
    }

    /// RFC 9110, 5.6.7. The present is the sixth of November 1994, 08:49:37.
    @Test(
        "A date with a year of two digits is in the past only if it would be more than 50 years ahead",
        arguments: [
            ("Sunday, 06-Nov-94 08:49:37 GMT", 0), ("Thursday, 06-Nov-14 08:49:37 GMT", 20),
            ("Friday, 06-Nov-43 08:49:37 GMT", 49),
            ("Sunday, 06-Nov-44 08:49:37 GMT", 50), ("Monday, 06-Nov-44 08:49:38 GMT", -50),
            ("Tuesday, 06-Nov-45 08:49:37 GMT", -49),
        ])
    func yearsOfTwoDigits(_ text: String, _ years: Int) throws {
        let now = Date(timeIntervalSince1970: 784_111_777)
        let date = try #require(HTTPDate.date(text, now: now))
        let difference = date.timeIntervalSince(now) / (365.2425 * 24 * 60 * 60)
        #expect(abs(difference - Double(years)) < 0.01, "\(date)")
    }

    @Test func aServerThatWantsUsToWaitTooLongHasItsWill() async throws {
        let page = AsyncOperation(HTTPData(flaky(1, ["status": "503", "after": "3600"])))
            .retryHTTP(attempts: 3, .immediately)
        #expect(await outcome(of: page).httpError?.retryAfter == .seconds(3600))
        #expect(try await server.log(key).count == 1)
    }

    // MARK: Transient errors

    @Test func eachReasonIsTransientOrNot() {
        let request = URLRequest(url: server.url("/"))
        let transient: [HTTPError.Reason] = [
            .hostNotFound, .connectionRefused, .timedOut(after: .zero), .deadlineExceeded(after: .zero),
            .connectionBroken,
            .bodyTooShort(received: 1, promised: 2), .refused(.init(status: 503)), .refused(.init(status: 600)),
            .refused(.init(status: 999)),
        ]
        let lasting: [HTTPError.Reason] = [
            .invalidURL(""), .invalidRequest(""), .insecureConnection(""), .bodyTooLarge(limit: 1), .tooManyRedirects,
            .refused(.init(status: 403)), .refused(.init(status: 501)), .unexpectedContentType(nil, expected: []),
            .unexpectedPart(nil),
            .file(.diskFull, path: ""), .other(code: 1, ""),
        ]
        for reason in transient {
            #expect(HTTPError(reason, request).isTransient)
            #expect(HTTPRetry.idempotent.allows(.failed(HTTPError(reason, request))))
        }
        for reason in lasting {
            #expect(!HTTPError(reason, request).isTransient)
            #expect(!HTTPRetry.anyMethod.allows(.failed(HTTPError(reason, request))))
        }
        #expect(!HTTPRetry.anyMethod.allows(.cancelled(reason: .requested)))
    }
}
