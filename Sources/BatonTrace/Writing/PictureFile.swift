internal import Foundation

/// Writes a file atomically: it is complete or does not exist. If the path names something else than a regular file,
/// such as a device or a pipe, that is written to and not replaced.
enum PictureFile {
    static func write(_ bytes: [UInt8], to path: String) throws(TraceError) {
        do {
            try Data(bytes).write(
                to: URL(fileURLWithPath: resolvingLinks(of: path)), options: isToBeKept(path) ? [] : .atomic)
        } catch {
            throw .notWritten(path: path, reason: Trace.text(of: (error as NSError).localizedDescription))
        }
    }

    private static func isToBeKept(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
    }

    /// Returns the path that symbolic links lead to, so that the target is replaced and not the link. The target need
    /// not exist.
    private static func resolvingLinks(of path: String) -> String {
        var place = path
        // The system follows at most 40 links.
        for _ in 0..<40 {
            guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: place) else { break }
            place =
                target.utf8.first == UInt8(ascii: "/")
                ? target
                : (place as NSString).deletingLastPathComponent.isEmpty
                    ? target : "\((place as NSString).deletingLastPathComponent)/\(target)"
        }
        return place
    }
}
