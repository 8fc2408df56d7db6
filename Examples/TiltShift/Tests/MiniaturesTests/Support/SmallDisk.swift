import Foundation
import Testing

/// A file system of 1 MB in a temporary folder. Only a process that may mount file systems can make one.
final class SmallDisk {
    static let isPossible = (try? SmallDisk()) != nil
    static let whyNot: Comment = "it takes Linux, and the right to mount a file system"

    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("tiltshift-disk-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        guard Self.mount(url.path) else {
            try? FileManager.default.removeItem(at: url)
            throw CocoaError(.fileWriteNoPermission)
        }
    }

    deinit {
        #if os(Linux)
            umount2(url.path, Int32(MNT_DETACH))
        #endif
        try? FileManager.default.removeItem(at: url)
    }

    var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? [] }

    private static func mount(_ path: String) -> Bool {
        #if os(Linux)
            Foundation.mount("none", path, "tmpfs", 0, "size=1m") == 0
        #else
            false
        #endif
    }
}
