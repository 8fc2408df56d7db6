internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// The body of a request, which libcurl reads from here. Only the transport's thread uses this object, from the start
/// of the transfer to its end.
final class UploadSource {
    enum Piece {
        /// The number of bytes that were copied; 0 at the end of the body.
        case bytes(Int)
        /// There are no bytes yet. The transfer is resumed when there are.
        case later
        case failure(any Error)
    }

    private enum Content {
        case data(Data)
        case file(File)
        case queue(UploadQueue)
    }

    private let content: Content
    private let request: URLRequest
    /// The number of bytes of the body, or nil if it is unknown.
    let length: Int64?
    private var offset: Int64 = 0

    /// - Parameter queue: The queue through which a task provides the bytes of a stream. Other bodies need none.
    /// - Throws: ``HTTPError`` if a file cannot be read.
    init?(_ body: HTTPRequestBody?, _ request: URLRequest, queue: UploadQueue?) throws {
        self.request = request
        switch body {
        case nil:
            guard let data = request.httpBody ?? (request.expectsBody ? Data() : nil) else { return nil }
            content = .data(data)
            length = Int64(data.count)
        case .data(let data):
            content = .data(data)
            length = Int64(data.count)
        case .file(let url):
            let file = try File.openUpload(url, request)
            content = .file(file)
            length = file.size
        case .stream:
            guard let queue else { preconditionFailure("Internal inconsistency: nothing to feed the stream through") }
            content = .queue(queue)
            length = queue.length
        }
    }

    deinit {
        if case .file(let file) = content { file.close() }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Piece {
        let piece: Piece
        switch content {
        case .data(let data):
            let start = data.startIndex + Int(offset)
            piece = .bytes(data[start...].prefix(buffer.count).copyBytes(to: buffer))
        case .file(let file): piece = read(file, into: buffer)
        case .queue(let queue): piece = queue.take(into: buffer)
        }
        if case .bytes(let count) = piece {
            offset += Int64(count)
        }
        return piece
    }

    /// A Boolean value that indicates whether the body is known to be empty, so that libcurl never waits for it.
    var isEmpty: Bool { if case .data(let data) = content { data.isEmpty } else { false } }

    /// Reads from a file. If the file changes its size while it is sent, the promised length is wrong, which is an
    /// error.
    private func read(_ file: File, into buffer: UnsafeMutableRawBufferPointer) -> Piece {
        let changed = HTTPError(.file(.changed, path: file.path), request)
        guard file.size == length else { return .failure(changed) }
        let count = min(buffer.count, Int((length ?? 0) - offset))
        do throws(FileError) {
            let moved = try file.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]), at: offset)
            return moved == 0 && count > 0 ? .failure(changed) : .bytes(moved)
        } catch {
            return .failure(HTTPError(error, request, isSent: true))
        }
    }

    /// Returns false if the bytes that have been sent cannot be read again.
    func rewind(to offset: Int64) -> Bool {
        if case .queue = content { return self.offset == offset }
        guard 0...(length ?? 0) ~= offset else { return false }
        self.offset = offset
        return true
    }
}

extension URLRequest {
    /// A Boolean value that indicates whether a request without a body has to say that its body is empty (RFC 9110,
    /// 8.6).
    fileprivate var expectsBody: Bool { ["POST", "PUT", "PATCH"].contains(httpMethod?.uppercased()) }
}
