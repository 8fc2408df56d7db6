import BatonProcess
import Testing

/// A file system of 1 MB in a folder. Only a process that may mount file systems can make one.
final class SmallDisk: Sendable {
    let folder: Folder

    /// Returns true if this process can make a small disk.
    static func isPossible() async -> Bool {
        guard let disk = try? await SmallDisk() else { return false }
        await disk.remove()
        return true
    }

    static let whyNot: Comment = "it takes Linux, and the right to mount a file system"

    init() async throws {
        folder = try Folder()
        _ = try await sh("mount -t tmpfs -o size=1m none $1", folder.path).result()
    }

    func remove() async { _ = try? await sh("umount -l $1", folder.path).result() }
}
