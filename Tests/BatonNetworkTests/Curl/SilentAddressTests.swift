#if os(Linux)
    import Baton
    import BatonNetwork
    import BatonTesting
    import Foundation
    import FoundationNetworking
    import Testing

    /// Hosts with addresses that do not answer at all, which take longer than those that refuse a connection.
    @Suite(.timeLimit(.minutes(10))) struct SilentAddressTests {
        private func transport(_ addresses: [String], port: String) -> CurlTransport {
            var configuration = CurlTransport.Configuration()
            configuration.resolved = ["silent.test:\(port):\(addresses.joined(separator: ","))"]
            return CurlTransport(configuration)
        }

        @Test("The tenth address is reached within the idle limit, although the first nine are silent")
        func nineSilentAddresses() async throws {
            let server = await TestServer()
            defer { server.stop() }
            let silent = SilentAddresses(port: UInt16(server.port)!, count: 9)
            let transport = transport(silent.texts + ["127.0.0.1"], port: server.port)
            let page = HTTPData(server.url("/bytes/10", host: "silent.test")).transport(transport)
            #expect(try await outcome(page.timeout(.seconds(12))).get().data.count == 10)
            withExtendedLifetime(silent) {}
        }

        @Test("A host whose addresses are all silent fails at the idle limit, and nothing has been sent")
        func onlySilentAddresses() async {
            let server = await TestServer()
            defer { server.stop() }
            let silent = SilentAddresses(port: UInt16(server.port)!, count: 2)
            let transport = transport(silent.texts, port: server.port)
            let page = HTTPData(server.url("/bytes/10", host: "silent.test")).transport(transport)
            let limit = Duration.seconds(1)
            let began = ContinuousClock.now
            let error = await failure(page.timeout(limit))
            #expect(error?.reason == .timedOut(after: limit))
            #expect(ContinuousClock.now - began >= limit)
            // A POST may be retried only if no server can have received it.
            let post = HTTPUpload(Data("x".utf8), to: server.url("/upload", host: "silent.test"))
            let upload = AsyncOperation(post.transport(transport).timeout(.milliseconds(100)))
            upload.retryHTTP(attempts: 2, .constant(.zero))
            _ = await outcome(of: upload)
            #expect(upload.attempts.count == 2)
            withExtendedLifetime(silent) {}
        }

        @Test("A host with a silent address is tried until the idle limit, although its other address refuses")
        func silentAndRefusing() async {
            let server = await TestServer()
            defer { server.stop() }
            let silent = SilentAddresses(port: UInt16(server.port)!, count: 1)
            // Nothing listens at this port of the second address.
            let transport = transport(silent.texts + ["127.0.0.99"], port: server.port)
            let limit = Duration.seconds(1)
            let began = ContinuousClock.now
            let page = HTTPData(server.url("/bytes/10", host: "silent.test")).transport(transport).timeout(limit)
            #expect(await failure(page)?.reason == .timedOut(after: limit))
            #expect(ContinuousClock.now - began >= limit)
            withExtendedLifetime(silent) {}
        }

        @Test("If a kept connection is lost and the host is silent then, a GET is tried until its idle limit")
        func silentAfterLoss() async throws {
            // The POST fails when the address has not answered for a second.
            for (method, limit) in [("GET", Duration.seconds(1)), ("POST", .seconds(60))] {
                let server = ServerThatFallsSilent()
                let transport = CurlTransport()
                _ = try await outcome(HTTPData(server.url).transport(transport)).get()
                let began = ContinuousClock.now
                let page = HTTPData(server.url).method(method).transport(transport).timeout(limit)
                let reason = await failure(page)?.reason
                if method == "GET" {
                    #expect(reason == .timedOut(after: limit))
                    #expect(ContinuousClock.now - began >= limit)
                } else {
                    // The server may have received it.
                    #expect(reason == .connectionBroken)
                }
                withExtendedLifetime(server) {}
            }
        }

        @Test("A POST is tried again if its deadline ended before there was a connection, and only then")
        func deadlines() async throws {
            let server = await TestServer()
            defer { server.stop() }
            let silent = SilentAddresses(port: UInt16(server.port)!, count: 1)
            let transport = transport(silent.texts, port: server.port)
            let target = server.url("/upload", host: "silent.test")
            for body in [HTTPRequestBody.data(Data("x".utf8)), .stream(HTTPBodyStream { Self.pieces("x") })] {
                func upload(_ url: URL, _ deadline: Duration, _ clock: any Clock<Duration>) -> AsyncOperation<
                    HTTPResponse
                > {
                    var request = URLRequest(url: url)
                    request.httpMethod = "POST"
                    let post = HTTPUpload(body, with: request).transport(transport).deadline(deadline, clock: clock)
                    return AsyncOperation(post).retryHTTP(attempts: 2, .constant(.zero))
                }
                for deadline in [Duration.milliseconds(50), .zero] {
                    let upload = upload(target, deadline, ContinuousClock())
                    #expect(await outcome(of: upload).httpError?.reason == .deadlineExceeded(after: deadline))
                    #expect(upload.attempts.count == 2, "\(deadline)")
                }
                // These deadlines end when the server has received the request.
                let redirect = ["to": target.absoluteString, "code": "307"]
                for (path, query) in [("/redirect", redirect), ("/silent", [:])] {
                    let (clock, key) = (TestClock(), freshKey())
                    let url = server.url(path, query.merging(["key": key]) { $1 })
                    let upload = upload(url, .seconds(1), clock)
                    AsyncOperationQueue().add(upload)
                    try await server.waitForRequests(key)
                    let advancing = Task {
                        while !Task.isCancelled {
                            clock.advance(by: .seconds(1))
                            await clock.waitForSleepers(count: 1)
                        }
                    }
                    #expect(await outcome(of: upload).httpError?.reason == .deadlineExceeded(after: .seconds(1)))
                    advancing.cancel()
                    #expect(upload.attempts.count == 1, "\(path)")
                }
            }
            withExtendedLifetime(silent) {}
        }

        private static func pieces(_ text: String) -> AsyncStream<Data> {
            AsyncStream {
                $0.yield(Data(text.utf8))
                $0.finish()
            }
        }
    }
#endif
