public import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// A form of fields and files, as browsers send it: `multipart/form-data` (RFC 7578).
///
/// ```swift
/// let form = MultipartForm().field("title", "Summer").file("picture", picture, contentType: "image/png")
/// let receipt = AsyncOperation(HTTPUpload(form, to: url))
/// ```
///
/// It is a value: each of these methods returns a changed copy. Its files are read while it is sent, each time that it
/// is sent.
public struct MultipartForm: Sendable {
    private enum Content: Sendable {
        case data(Data)
        case file(URL)
    }

    private struct Part: Sendable {
        let head: Data
        let content: Content
    }

    private var parts: [Part] = []
    /// What stands between the parts: 128 bits of chance, which no content has in it.
    private let boundary = "baton-" + UUID().uuidString

    /// A form without fields.
    public init() {}

    /// The value for the header field `Content-Type`. ``HTTPUpload`` sets it.
    public var contentType: String { "multipart/form-data; boundary=\(boundary)" }

    /// Adds a field with a text.
    public func field(_ name: String, _ value: String) -> MultipartForm {
        adding(name, nil, nil, .data(Data(value.utf8)))
    }

    /// Adds bytes, as the content of a file if they have a file name.
    ///
    /// - Parameters:
    ///   - name: The name of the field. Several may have the same.
    ///   - data: The bytes.
    ///   - fileName: What the server is told as the name of the file.
    ///   - contentType: "image/png", for example.
    public func data(
        _ name: String, _ data: Data, fileName: String? = nil, contentType: String? = nil
    ) -> MultipartForm {
        adding(name, fileName, contentType, .data(data))
    }

    /// Adds a file.
    ///
    /// - Parameters:
    ///   - name: The name of the field. Several may have the same.
    ///   - url: Where the file is. One that is missing is found when the form is sent.
    ///   - fileName: What the server is told as the name of the file; nil for its own.
    ///   - contentType: "image/png", for example.
    public func file(
        _ name: String, _ url: URL, fileName: String? = nil, contentType: String? = "application/octet-stream"
    ) -> MultipartForm {
        adding(name, fileName ?? url.lastPathComponent, contentType, .file(url))
    }

    private func adding(
        _ name: String, _ fileName: String?, _ contentType: String?, _ content: Content
    ) -> MultipartForm {
        var head = "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(Self.quoted(name))\""
        if let fileName { head += "; filename=\"\(Self.quoted(fileName))\"" }
        if let contentType { head += "\r\nContent-Type: \(Self.withoutLineEnds(contentType))" }
        var copy = self
        copy.parts.append(Part(head: Data((head + "\r\n\r\n").utf8), content: content))
        return copy
    }

    /// As browsers do it: UTF-8, with quotes and line ends written as in addresses (RFC 7578, 4.2, and the HTML
    /// standard, 4.10.21.8).
    private static func quoted(_ name: String) -> String {
        var quoted = ""
        for scalar in name.unicodeScalars {
            switch scalar {
            case "\"": quoted += "%22"
            case "\r": quoted += "%0D"
            case "\n": quoted += "%0A"
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted
    }

    /// A line end would begin another header field.
    private static func withoutLineEnds(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.filter { $0 != "\r" && $0 != "\n" }))
    }

    // MARK: Sending

    /// The body of a request.
    public var body: HTTPRequestBody { .stream(HTTPBodyStream { request in try pass(for: request) }) }

    private var end: Data { Data("--\(boundary)--\r\n".utf8) }

    private static let lineEnd = Data("\r\n".utf8)

    private func pass(for request: URLRequest) throws -> HTTPBodyStream.Pass {
        let contents = try parts.map { try OpenContent($0.content, request) }
        var length = Int64(end.count)
        for (part, content) in zip(parts, contents) {
            // Sparse files may be larger together than any number.
            let sum = length.addingReportingOverflow(Int64(part.head.count + Self.lineEnd.count))
            let all = sum.partialValue.addingReportingOverflow(content.length)
            if sum.overflow || all.overflow { throw HTTPError(.invalidRequest("its form is too large"), request) }
            length = all.partialValue
        }
        return HTTPBodyStream.Pass(length: length, request) { put in
            for (part, content) in zip(parts, contents) {
                guard try await put(part.head), try await content.send(put), try await put(Self.lineEnd) else { return }
            }
            _ = try await put(end)
        }
    }

    /// The content of a part, as long as it was at the beginning of a pass.
    private struct OpenContent: Sendable {
        private static let pieceSize = 64 * 1024

        private let content: Content
        private let request: URLRequest
        let length: Int64

        init(_ content: Content, _ request: URLRequest) throws {
            self.content = content
            self.request = request
            switch content {
            case .data(let data): length = Int64(data.count)
            case .file(let url):
                let file = try File.openUpload(url, request)
                defer { file.close() }
                length = file.size ?? 0
            }
        }

        /// False: no more is wanted.
        func send(_ put: (Data) async throws -> Bool) async throws -> Bool {
            switch content {
            case .data(let data): return data.isEmpty ? true : try await put(data)
            case .file(let url):
                let file = try File.openUpload(url, request, isSent: true)
                defer { file.close() }
                do {
                    return try await send(file, put)
                } catch let error as FileError {
                    throw HTTPError(error, request, isSent: true)
                }
            }
        }

        private func send(_ file: File, _ put: (Data) async throws -> Bool) async throws -> Bool {
            var offset: Int64 = 0
            while offset < length {
                guard file.size == length else { throw FileError(.changed, file.path) }
                let piece = try file.read(Int(min(Int64(Self.pieceSize), length - offset)), at: offset)
                if try await !put(piece) { return false }
                offset += Int64(piece.count)
            }
            guard file.size == length else { throw FileError(.changed, file.path) }
            return true
        }
    }
}
