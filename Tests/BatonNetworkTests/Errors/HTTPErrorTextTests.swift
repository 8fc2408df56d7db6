import Baton
import BatonNetwork
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("Text of a server reaches a terminal without control characters", .timeLimit(.minutes(10)))
struct HTTPErrorTextTests {
    /// Text that sets the title of a terminal, clears it, and reverses the writing direction.
    private static let hostile = "a\u{1B}]0;owned\u{7}\u{1B}[2J\u{202E}b\u{9B}31m\u{2066}c"

    private func isHarmless(_ text: String) -> Bool {
        !text.unicodeScalars.contains { scalar in
            (scalar.value < 0x20 && scalar != "\n") || (0x7F...0x9F).contains(scalar.value)
                || (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
        }
    }

    @Test("The excerpt of a refused response keeps its lines, but no control characters")
    func bodyOfTheServer() async throws {
        let body = "first\n\(Self.hostile)\nlast"
        let page = HTTPData("http://a/").transport(StubTransport { _ in HTTPAnswer(status: 500, Data(body.utf8)) })
        let error = try #require(await failure(page))
        for text in ["\(error)", "\(error.reason)"] {
            #expect(isHarmless(text), "\(text.debugDescription)")
            #expect(text.contains("answered 500: first\na ]0;owned  [2Jb 31mc\nlast"), "\(text.debugDescription)")
        }
        // The error of the operation is a single line.
        let operation = try #require(await outcome(page).failure)
        #expect(isHarmless("\(operation)") && !"\(operation)".contains("\n"))
    }

    private static let all: [HTTPError.Reason] = [
        .invalidURL(hostile), .invalidRequest(hostile), .hostNotReached(hostile),
        .proxyNotReached(proxy: hostile, hostile), .proxyRefused(proxy: hostile, status: 403),
        .insecureConnection(hostile), .invalidAnswer(hostile), .insecureRedirect(to: hostile),
        .refused(HTTPError.Refusal(status: 404, excerpt: hostile, location: hostile)),
        .unexpectedContentType(hostile, expected: [hostile]), .unexpectedPart(hostile),
        .file(.isDirectory, path: hostile), .other(code: 1, hostile),
    ]

    @Test("Every reason of an error is printed without control characters", arguments: all)
    func reasons(reason: HTTPError.Reason) {
        let error = HTTPError(reason, URLRequest(url: URL(string: "http://a/")!))
        #expect(isHarmless("\(error)") && isHarmless("\(reason)"), "\("\(error)".debugDescription)")
        if case .refused(let refusal) = reason { #expect(isHarmless("\(refusal)")) }
        #expect("\(reason)".contains("owned"))
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
