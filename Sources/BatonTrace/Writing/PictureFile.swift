internal import Foundation

/// A file that is there whole, or not at all. What is there and is no file, such as a device or a pipe, is written to,
/// and not replaced.
enum PictureFile {
    static func write(_ bytes: [UInt8], to path: String) throws(TraceError) {
        do {
            try Data(bytes).write(
                to: URL(fileURLWithPath: endOfLinks(from: path)), options: isToBeKept(path) ? [] : .atomic)
        } catch {
            throw .notWritten(path: path, reason: Trace.text(of: (error as NSError).localizedDescription))
        }
    }

    private static func isToBeKept(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
    }

    /// What a link leads to is replaced, and not the link; also where nothing is there yet.
    private static func endOfLinks(from path: String) -> String {
        var place = path
        // The system follows 40.
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
