internal import Foundation

/// A file that is there whole, or not at all.
enum PictureFile {
    static func write(_ bytes: [UInt8], to path: String) throws(TraceError) {
        do {
            try Data(bytes).write(to: URL(fileURLWithPath: path), options: .atomic)
        } catch {
            throw .notWritten(path: path, reason: Trace.text(of: (error as NSError).localizedDescription))
        }
    }
}
