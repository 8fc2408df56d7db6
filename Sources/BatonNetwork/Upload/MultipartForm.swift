public import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// A form of fields and files, encoded as `multipart/form-data` (RFC 7578), as browsers send it.
///
/// ```swift
/// let form = MultipartForm().field("title", "Summer").file("picture", picture, contentType: "image/png")
/// let receipt = AsyncOperation(HTTPUpload(form, to: url))
/// ```
///
/// A form is a value: each of its methods returns a changed copy. Its files are read while the form is sent, once for
/// each time that it is sent.
///
/// As browsers do, a form sends each line end in a name or in a text value as CRLF, whether it is CR, LF or CRLF. File
/// names, bytes and files are sent unchanged, except that line ends and quotes in a file name are percent-encoded.
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
    /// The delimiter between the parts. It contains a random UUID, so that no content contains it.
    private let boundary = "baton-" + UUID().uuidString

    /// Creates a form without fields.
    public init() {}

    /// The value of the header field `Content-Type`. ``HTTPUpload`` sets that field.
    public var contentType: String { "multipart/form-data; boundary=\(boundary)" }

    /// Adds a field with a text value.
    ///
    /// - Parameters:
    ///   - name: The name of the field. Several fields may have the same name.
    ///   - value: The text, which is sent in UTF-8, and each of its line ends as CRLF.
    /// - Returns: A changed copy.
    public func field(_ name: String, _ value: String) -> MultipartForm {
        adding(name, nil, nil, .data(Data(Self.withNetworkLineEnds(value).utf8)))
    }

    /// Adds a field with bytes; with a file name, the server receives them as a file.
    ///
    /// - Parameters:
    ///   - name: The name of the field. Several fields may have the same name.
    ///   - data: The bytes.
    ///   - fileName: The file name that is sent to the server.
    ///   - contentType: The media type of the bytes, for example "image/png".
    /// - Returns: A changed copy.
    public func data(
        _ name: String, _ data: Data, fileName: String? = nil, contentType: String? = nil
    ) -> MultipartForm {
        adding(name, fileName, contentType, .data(data))
    }

    /// Adds a field with the content of a file.
    ///
    /// - Parameters:
    ///   - name: The name of the field. Several fields may have the same name.
    ///   - url: The location of the file. If the file is missing, sending the form fails.
    ///   - fileName: The file name that is sent to the server; nil for the file's own name.
    ///   - contentType: The media type of the file, for example "image/png".
    /// - Returns: A changed copy.
    public func file(
        _ name: String, _ url: URL, fileName: String? = nil, contentType: String? = "application/octet-stream"
    ) -> MultipartForm {
        adding(name, fileName ?? url.lastPathComponent, contentType, .file(url))
    }

    private func adding(
        _ name: String, _ fileName: String?, _ contentType: String?, _ content: Content
    ) -> MultipartForm {
        let quotedName = Self.quoted(Self.withNetworkLineEnds(name))
        var head = "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(quotedName)\""
        if let fileName { head += "; filename=\"\(Self.quoted(fileName))\"" }
        if let contentType { head += "\r\nContent-Type: \(Self.withoutLineEnds(contentType))" }
        var copy = self
        copy.parts.append(Part(head: Data((head + "\r\n\r\n").utf8), content: content))
        return copy
    }

    /// Encodes a name as browsers do: in UTF-8, with quotes and line ends percent-encoded (RFC 7578, 4.2, and the HTML
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

    /// Makes CRLF of each CR, LF and CRLF. The HTML standard, 4.10.21.8, says so for names and for text values, but not
    /// for file names.
    private static func withNetworkLineEnds(_ text: String) -> String {
        var result = ""
        var isAfterCR = false
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\r": result += "\r\n"
            case "\n": if !isAfterCR { result += "\r\n" }
            default: result.unicodeScalars.append(scalar)
            }
            isAfterCR = scalar == "\r"
        }
        return result
    }

    /// Removes line ends, because a line end would begin another header field.
    private static func withoutLineEnds(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.filter { $0 != "\r" && $0 != "\n" }))
    }

    // MARK: Sending

    /// The form as the body of a request.
    public var body: HTTPRequestBody { .stream(HTTPBodyStream { request in try pass(for: request) }) }

    private var end: Data { Data("--\(boundary)--\r\n".utf8) }

    private static let lineEnd = Data("\r\n".utf8)

    private func pass(for request: URLRequest) throws -> HTTPBodyStream.Pass {
        let contents = try parts.map { try OpenContent($0.content, request) }
        var length = Int64(end.count)
        for (part, content) in zip(parts, contents) {
            // The sizes of sparse files may add up to more than `Int64.max`.
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

    /// The content of a part, with the length that it had at the beginning of the pass.
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

        /// Returns false if `put` wants no more pieces.
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
