internal import Baton
internal import Foundation

/// A file without a name for what has come and was not read yet. It goes when this goes, whatever happens.
///
/// One thread writes and one reads; ``HTTPTransactionStateMachine`` sees to it that they do so at different places.
final class SpillFile: Sendable {
    /// Made when it is first needed.
    private let file = Locked<File?>(nil)

    func write(_ data: Data, at offset: Int64) throws(FileError) {
        try made().write(data, at: offset)
    }

    func read(_ count: Int, at offset: Int64) throws(FileError) -> Data {
        try made().read(count, at: offset)
    }

    private func made() throws(FileError) -> File {
        if let file = file.withLock({ $0 }) { return file }
        let made = try File.unnamed(in: FileManager.default.temporaryDirectory.path)
        // Whoever writes is the first to come, and the only one.
        file.withLock { $0 = made }
        return made
    }

    deinit { file.withLock { $0 }?.close() }
}
