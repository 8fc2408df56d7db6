internal import Foundation

/// Reads and writes whole files.
enum PictureFile {
    /// The greatest size of a file that is read, in bytes. A picture within ``Picture/pixelLimit`` needs less.
    static let sizeLimit = 512 * 1024 * 1024

    static func read(_ file: URL) throws(FileError) -> Data {
        do {
            let values = try file.resolvingSymlinksInPath().resourceValues(forKeys: [.isRegularFileKey, .fileSizeKey])
            // A device or a pipe may have no end.
            guard values.isRegularFile == true else { throw FileError.noRegularFile }
            if let size = values.fileSize, size > sizeLimit { throw FileError.tooLarge }
            return try Data(contentsOf: file)
        } catch let error as FileError {
            throw error
        } catch {
            throw FileError.notRead(error.reason)
        }
    }

    /// Creates missing folders, writes to a temporary file, and renames it.
    static func write(_ data: Data, to file: URL) throws(FileError) {
        do {
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try data.write(to: file, options: .atomic)
        } catch {
            throw FileError.notWritten(file.relativePath, error.reason)
        }
    }
}

/// The reason why a file was not read or written.
package enum FileError: Error, Hashable, CustomStringConvertible {
    case noRegularFile
    case tooLarge
    case notRead(String)
    case notWritten(String, String)

    package var description: String {
        switch self {
        case .noRegularFile: "is not a file that could be read to its end"
        case .tooLarge: "is larger than \(PictureFile.sizeLimit / 1_048_576) MB"
        case .notRead(let why): "cannot be read: \(why)"
        case .notWritten(let path, let why): "cannot be written to \(path): \(why)"
        }
    }
}

extension Error {
    /// The message of the system, without file names.
    var reason: String {
        let error = (self as? CocoaError)?.userInfo[NSUnderlyingErrorKey] as? POSIXError ?? self as? POSIXError
        return error.map { String(cString: strerror($0.code.rawValue)) } ?? localizedDescription
    }
}

extension URL {
    var isThere: Bool { FileManager.default.fileExists(atPath: path) }

    /// The date of the last change of the content.
    var changed: Date? {
        (try? FileManager.default.attributesOfItem(atPath: resolvingSymlinksInPath().path))?[.modificationDate] as? Date
    }

    func isSameFile(as other: URL) -> Bool {
        resolvingSymlinksInPath().standardizedFileURL.path == other.resolvingSymlinksInPath().standardizedFileURL.path
    }
}
