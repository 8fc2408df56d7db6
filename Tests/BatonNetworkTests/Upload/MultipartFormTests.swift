import Baton
import BatonNetwork
import BatonTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10))) struct MultipartFormTests {
    private struct Part: Decodable {
        let name: String
        let fileName: String?
        let contentType: String?
        let count: Int
        let sha256: String
    }

    private func parts(_ form: MultipartForm, _ transport: any HTTPTransport) async throws -> [Part] {
        let upload = HTTPUpload(form, to: server.url("/form")).transport(transport)
        return try JSONDecoder().decode([Part].self, from: try await outcome(upload).get().data)
    }

    @Test("A server finds the fields and files of a form", arguments: Transports.forUploads)
    func aFormIsSent(_ transport: any HTTPTransport) async throws {
        let folder = try TestFolder()
        try TestServer.bytes(3_000_000).write(to: folder.file("picture.png"))
        let form = MultipartForm().field("title", "Sommer am Meer ü").field("empty", "")
            .data("raw", Data("hello".utf8), fileName: "a \"b\"\r\n.txt", contentType: "text/plain\r\nX: y")
            .file("picture", folder.file("picture.png"), contentType: "image/png").field("title", "two")
        let parts = try await parts(form, transport)
        #expect(parts.map(\.name) == ["title", "empty", "raw", "picture", "title"])
        #expect(parts.map(\.count) == [17, 0, 5, 3_000_000, 3])
        #expect(parts.map(\.fileName) == [nil, nil, "a %22b%22%0D%0A.txt", "picture.png", nil])
        #expect(parts.map(\.contentType) == [nil, nil, "text/plainX: y", "image/png", nil])
        #expect(parts[2].sha256 == "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824")
    }

    /// The HTML standard, 4.10.21.8, and the tests of browsers.
    @Test(
        "Line ends in names and in texts become CRLF, and those in file names and bytes stay",
        arguments: Transports.forUploads)
    func lineEnds(_ transport: any HTTPTransport) async throws {
        for (text, normalized) in [
            ("a\rb", "a\r\nb"), ("a\nb", "a\r\nb"), ("a\r\nb", "a\r\nb"), ("\n\r", "\r\n\r\n"),
            ("a\r\r\n\n", "a\r\n\r\n\r\n"), ("a", "a"),
        ] {
            let escaped = { (text: String) in
                text.unicodeScalars.map { $0 == "\r" ? "%0D" : $0 == "\n" ? "%0A" : String($0) }.joined()
            }
            let form = MultipartForm().field(text, text).data(text, Data(text.utf8), fileName: text)
            let parts = try await parts(form, transport)
            #expect(parts.map(\.name) == [escaped(normalized), escaped(normalized)])
            #expect(parts.map(\.count) == [normalized.utf8.count, text.utf8.count])
            #expect(parts.map(\.fileName) == [nil, escaped(text)])
        }
    }

    @Test("A form states its length")
    func theLengthIsKnown() async throws {
        let upload = HTTPUpload(MultipartForm().field("a", "b"), to: server.url("/upload"))
        let operation = AsyncOperation(upload)
        let seen = try JSONDecoder().decode(UploadSeen.self, from: try await outcome(of: operation).get().data)
        #expect(seen.framing == "length")
        #expect(operation.progress.totalUnitCount == seen.count)
        #expect(operation.progress.completedUnitCount == seen.count)
    }

    @Test("A form without fields is sent", arguments: Transports.forUploads)
    func anEmptyForm(_ transport: any HTTPTransport) async throws {
        #expect(try await parts(MultipartForm(), transport).isEmpty)
    }

    @Test("A file that cannot be read is an error before anything is sent")
    func missingFiles() async throws {
        let folder = try TestFolder()
        let key = freshKey()
        let url = server.url("/form", ["key": key])
        let missing = MultipartForm().field("a", "b").file("f", folder.file("missing"))
        #expect(
            await failure(HTTPUpload(missing, to: url))?.reason == .file(.notFound, path: folder.file("missing").path))
        #expect(
            await failure(HTTPUpload(MultipartForm().file("f", folder.url), to: url))?.reason
                == .file(.isDirectory, path: folder.url.path))
        #expect(try await server.log(key).isEmpty)
    }
}
