import Foundation
import Testing

/// A file system of 1 MB in a temporary folder. Only a process that may mount file systems can make one.
final class SmallDisk {
    let url: URL

    /// True if this process can make a small disk.
    static let isPossible = (try? SmallDisk()) != nil

    static let whyNot: Comment = "it takes Linux, and the right to mount a file system"

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("BatonNetwork-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        if !Self.mount(url.path) {
            try? FileManager.default.removeItem(at: url)
            throw NotMounted()
        }
    }

    deinit {
        #if os(Linux)
            umount2(url.path, Int32(MNT_DETACH))
        #endif
        try? FileManager.default.removeItem(at: url)
    }

    struct NotMounted: Error {}

    private static func mount(_ path: String) -> Bool {
        #if os(Linux)
            Foundation.mount("none", path, "tmpfs", 0, "size=1m") == 0
        #else
            false
        #endif
    }

    var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? [] }
}
