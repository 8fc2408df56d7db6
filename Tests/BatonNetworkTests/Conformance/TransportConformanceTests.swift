#if os(Linux)
    import BatonNetwork
    import BatonNetworkTesting
    import Foundation
    import Testing

    /// Runs the conformance suite on both transports. Known faults of a transport are listed with their reasons, and
    /// those cases have to fail, so that the list stays correct.
    @Suite(.timeLimit(.minutes(30)), .serialized) struct TransportConformanceTests {
        /// Returns the cases in a table of the page of BatonNetworkTesting, each with the fault in its row.
        private static func documentedFaults(of transport: String) throws -> [String: String] {
            let package = URL(fileURLWithPath: #filePath).pathComponents.dropLast(4).dropFirst().joined(separator: "/")
            let file = "/\(package)/Sources/BatonNetworkTesting/BatonNetworkTesting.docc/BatonNetworkTesting.md"
            let page = try String(contentsOfFile: file, encoding: .utf8)
            let lines = page.split(separator: "\n").drop { $0 != "### \(transport)" }.dropFirst().prefix {
                $0.first != "#"
            }
            var faults: [String: String] = [:]
            for line in lines where line.first == "|" {
                let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
                guard cells.count == 2, cells[1].first == "`" else { continue }
                for name in cells[1].split(separator: ",") {
                    let name = name.trimmingCharacters(in: CharacterSet(charactersIn: " `"))
                    #expect(faults.updateValue(cells[0], forKey: name) == nil, "\(name) is there twice.")
                }
            }
            return faults
        }

        @Test("The page of the suite names the known faults of each transport, and no others")
        func documentedFaults() throws {
            #expect(try Self.documentedFaults(of: "CurlTransport") == Self.faultsOfCurl)
            #expect(try Self.documentedFaults(of: "URLSessionTransport") == Self.faultsOfURLSession)
            let names = Set(HTTPTransportConformance.cases.map(\.name))
            #expect(names.isSuperset(of: Self.faultsOfCurl.keys) && names.isSuperset(of: Self.faultsOfURLSession.keys))
        }

        // MARK: libcurl

        private static let faultsOfCurl = [
            "gzip-cut": "libcurl 7.88 takes gzip content that is cut short for whole.",
            "cookies-beside-long-lines": "libcurl 7.88 has no room for cookies beside a long target.",
        ]

        @Test("CurlTransport meets every requirement", arguments: HTTPTransportConformance.cases)
        func curl(_ requirement: HTTPTransportConformance.Case) async {
            let failure = await requirement.run(on: CurlTransport(), another: CurlTransport())
            #expect((failure == nil) == (Self.faultsOfCurl[requirement.name] == nil), "\(failure ?? "it passes now")")
        }

        // MARK: URLSession

        /// The known faults on Linux with Swift 6.3.
        private static let faultsOfURLSession: [String: String] = [
            "chunked-trailers": ends, "closed-in-head": ends, "closed-in-head-of-post": ends, "any-bytes": ends,
            "cancel-in-upload": mayEnd, "stream-cancelled": mayEnd, "idle-in-head": mayEnd,
            "401-basic": neverEnds, "401-several": neverEnds, "401-with-credentials": neverEnds,
            "post-on-closing": repeats, "post-on-closing-large": repeats, "put-on-closing": repeats,
            "post-and-reset": repeats, "post-and-close": repeats, "patch-and-reset": repeats,
            "no-reason-phrase": head, "field-without-blank": head, "field-empty": head, "field-obs-text": head,
            "field-blanks": head, "line-feeds": head, "head-of-1-MB": head, "line-of-200-KB": head,
            "fields-100000": head, "head-without-end": head, "interim-without-end": head, "length-no-number": head,
            "lengths-differ": head, "length-overflows": head, "fields-of-one-name": head, "fields-of-cookies": head,
            "chunk-size-bad": body, "gzip-members": body,
            "gzip-cut": "URLSession takes gzip content that is cut short for whole.",
            "no-redirects": redirects, "redirect-without-location": redirects,
            "ipv6": "URLSession takes an address with an IPv6 literal for none.",
            "slow-head": slow, "slow-interim": slow,
            "cookies-replaced": cookies, "cookies-of-paths": cookies, "cookies-not-wanted": cookies,
            "upload-file-missing": files, "upload-of-no-file": files, "upload-of-shrinking-file": files,
            "stream-of-unknown-length": stream, "stream-waits": stream, "stream-pieces-leave-at-once": stream,
        ]

        private static let ends = "URLSession ends the process: it asserts that there is a response."
        private static let mayEnd = "URLSession may end the process: it asserts that libcurl can be told to go on."
        private static let neverEnds = "URLSession waits for credentials, and does not tell the end of the body."
        private static let repeats =
            "URLSession does not feed a body again that libcurl sends once more, or sends it twice."
        private static let head = "URLSession takes heads apart itself, and knows one value for a name."
        private static let body = "URLSession does not tell a damaged body from a broken connection."
        private static let redirects = "URLSession loses the body of a redirect without a usable address."
        private static let slow = "URLSession tells nothing before the end of a head."
        private static let cookies = "Foundation's storage of cookies does not follow RFC 6265."
        private static let files = "URLSession opens files itself. HTTPUpload looks at them before."
        private static let stream = "A stream is put into a file first."

        /// Faults that do not occur in every run. Their cases are known issues, and run nevertheless.
        private static let unstable = [mayEnd, repeats]

        private static let required = HTTPTransportConformance.cases.map(\.name).filter {
            faultsOfURLSession[$0] == nil
        }

        /// Each case runs in a process of its own, because a fault may end the process. URLSession has races that
        /// occasionally end the process or lose a response, so a case counts as failed only if it fails three times.
        @Test("URLSessionTransport meets every requirement except for its known faults", arguments: required)
        func urlSession(_ name: String) async {
            for _ in 1...2 {
                var hasPassed = false
                await withKnownIssue("URLSession has races.", isIntermittent: true) {
                    hasPassed = await passes(name)
                }
                if hasPassed { return }
            }
            _ = await passes(name)
        }

        private func passes(_ name: String) async -> Bool {
            let result = await #expect(processExitsWith: .success, "\(name)") { [name] in
                exit(await Self.failures(of: [name]).isEmpty ? 0 : 1)
            }
            return result != nil
        }

        @Test(
            "URLSessionTransport still has the faults for which it is not the default",
            arguments: faultsOfURLSession.keys.sorted())
        func faults(_ name: String) async {
            let reason = Self.faultsOfURLSession[name] ?? ""
            if Self.unstable.contains(reason) {
                await withKnownIssue(Comment(rawValue: reason), isIntermittent: true) { _ = await passes(name) }
                return
            }
            await #expect(processExitsWith: .failure, Comment(rawValue: reason)) { [name] in
                exit(await Self.failures(of: [name]).isEmpty ? 0 : 1)
            }
        }

        private static func failures(of names: Set<String>) async -> [HTTPTransportConformance.Failure] {
            await HTTPTransportConformance.run(
                on: URLSessionTransport(), another: URLSessionTransport(), only: names)
        }
    }
#endif
