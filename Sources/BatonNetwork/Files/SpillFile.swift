internal import Baton
internal import Foundation

/// An unnamed temporary file for bytes that have arrived and not been read. The system removes it when this object is
/// released or the process ends.
///
/// One thread writes and one thread reads. ``HTTPTransactionStateMachine`` guarantees that they use different parts of
/// the file.
final class SpillFile: Sendable {
    /// The file, which is created when it is first needed.
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
        // The first call is a write, and there is only one writer, so no two threads get here.
        file.withLock { $0 = made }
        return made
    }

    deinit { file.withLock { $0 }?.close() }
}
