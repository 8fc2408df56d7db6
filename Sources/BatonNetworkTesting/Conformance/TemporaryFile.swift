internal import Foundation

/// A temporary file with a unique name. It is removed when the object is released.
final class TemporaryFile: Sendable {
    let url: URL

    init(_ content: Data) throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("baton-\(UUID().uuidString)")
        try content.write(to: url)
    }

    /// Makes a sparse file of zeros, which takes no space on the disk.
    init(zeros count: Int) throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("baton-\(UUID().uuidString)")
        try Data().write(to: url)
        try truncate(to: count)
    }

    func truncate(to count: Int) throws {
        let handle = try FileHandle(forWritingTo: url)
        try handle.truncate(atOffset: UInt64(count))
        try handle.close()
    }

    deinit { try? FileManager.default.removeItem(at: url) }
}
