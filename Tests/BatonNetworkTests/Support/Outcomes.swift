import Baton
import BatonNetwork
import Foundation

let server = TestServer.shared

/// Runs a procedure as an operation on a queue of its own.
func outcome<P: Procedure>(_ procedure: P) async -> Result<P.Output, OperationError> {
    await outcome(of: AsyncOperation(procedure))
}

func outcome<Output>(of operation: AsyncOperation<Output>) async -> Result<Output, OperationError> {
    let queue = AsyncOperationQueue()
    do throws(OperationError) {
        return .success(try await queue.run(operation))
    } catch {
        return .failure(error)
    }
}

/// Returns the error with which a procedure fails, or nil if it succeeds.
func failure<P: Procedure>(_ procedure: P) async -> HTTPError? { await outcome(procedure).httpError }

extension Result where Failure == OperationError {
    /// The error that a body of this module has thrown.
    var httpError: HTTPError? {
        guard case .failure(.failed(let error)) = self else { return nil }
        return error as? HTTPError
    }

    var isCancelled: Bool {
        if case .failure(.cancelled) = self { return true }
        return false
    }
}

/// A folder that is removed after the test.
final class TestFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("BatonNetwork-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func file(_ name: String) -> URL { url.appendingPathComponent(name) }

    func content(_ name: String) -> Data? { FileManager.default.contents(atPath: file(name).path) }

    /// Returns true if the file has the bytes that `/bytes/COUNT` sends. Reads it in pieces, so that large files need
    /// little memory.
    func hasBytes(_ name: String, count: Int64) throws -> Bool {
        let handle = try FileHandle(forReadingFrom: file(name))
        defer { try? handle.close() }
        let block = TestServer.bytes(TestServer.period * 16)
        var seen: Int64 = 0
        while let piece = try handle.read(upToCount: block.count), !piece.isEmpty {
            guard piece == block.prefix(piece.count) else { return false }
            seen += Int64(piece.count)
        }
        return seen == count
    }

    /// The names of all files in the folder, sorted.
    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []).sorted() }
}
