internal import Baton
internal import Foundation

/// An unnamed temporary file for bytes that have arrived and not been read. The system removes it when this object is
/// released or the process ends.
///
/// One thread writes and one thread reads. ``HTTPTransactionStateMachine`` guarantees that they use different parts of
/// the file.
final class SpillFile: Sendable {
    /// Nil until the first write.
    private let file = Locked<File?>(nil)

    func write(_ data: Data, at offset: Int64) throws(FileError) {
        try openFile().write(data, at: offset)
    }

    func read(_ count: Int, at offset: Int64) throws(FileError) -> Data {
        guard let file = file.withLock({ $0 }) else {
            preconditionFailure("Internal inconsistency: a read from a spill file before the first write")
        }
        return try file.read(count, at: offset)
    }

    /// Returns the file, which the first write creates.
    private func openFile() throws(FileError) -> File {
        if let file = file.withLock({ $0 }) { return file }
        let created = try File.unnamed(in: FileManager.default.temporaryDirectory.path)
        file.withLock { file in
            assert(file == nil, "Internal inconsistency: two threads write to one spill file")
            file = created
        }
        return created
    }

    deinit { file.withLock { $0 }?.close() }
}
