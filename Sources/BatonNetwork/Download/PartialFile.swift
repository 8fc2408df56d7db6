internal import Baton
internal import Foundation

/// The bytes of a download that have arrived so far, in a file beside the target, under a name that the next run finds.
///
/// The file is locked until it is closed, also against other processes, so only one run uses it at a time.
struct PartialFile: Sendable {
    /// The resource that the bytes in the file come from.
    struct Origin: Codable, Hashable, Sendable {
        /// The ``mark(of:)`` of the request's URL.
        var url: String
        /// The value of `If-Range`: a strong ETag or a date.
        var validator: String
        /// The length of the whole file, or nil if it is unknown.
        var length: Int64?
        /// The URL of the response after redirects, without the query, which often differs each time. Nil if it is
        /// unknown.
        var source: String?
    }

    let file: File
    let target: String
    let originPath: String

    /// Opens and locks the partial file of a target. Returns nil if another run has locked it.
    ///
    /// The name of the partial file can be guessed. If somebody has put a link there, opening fails and the link stays,
    /// because removing it could remove the file that another run has just created in its place. A folder in place of
    /// the note is an error, too, because it cannot be replaced.
    static func open(for url: URL) throws(FileError) -> PartialFile? {
        // If the target is a link, the download replaces the file that it leads to, and keeps the link.
        let target = try File.resolvingLinks(of: url.path)
        let (folder, name) = File.parts(of: target)
        // A link to a folder that does not exist.
        if ["", ".", ".."].contains(name) { throw FileError(.isDirectory, url.path) }
        let path = folder + "/" + hidden(name, ".partial")
        let note = folder + "/" + hidden(name, ".origin")
        if File.isFolder(note) { throw FileError(notPlain: note) }
        // The previous run may have renamed the file to its target between opening and locking.
        for _ in 0..<16 {
            let file = try openOrMake(path, for: url, in: folder)
            do throws(FileError) {
                guard try file.lock() else {
                    file.close()
                    return nil
                }
                if file.isInPlace {
                    file.copyMode(from: target)
                    return PartialFile(file: file, target: target, originPath: note)
                }
            } catch {
                file.close()
                throw error
            }
            file.close()
        }
        return nil
    }

    /// Opens or creates the hidden file.
    ///
    /// The caller has not chosen the hidden name. If the system finds no such file, the error therefore names the
    /// folder, because it is the folder that is missing, or, as in /proc, one in which no file can be created. If the
    /// hidden name is too long, the error names the target.
    private static func openOrMake(_ path: String, for target: URL, in folder: String) throws(FileError) -> File {
        do throws(FileError) {
            return try File.openPlain(path, O_RDWR | O_CREAT)
        } catch {
            switch error.problem {
            case .notFound: throw FileError(File.isFolder(folder + "/.") ? .notPermitted : .notFound, folder)
            case .other(errno: ENAMETOOLONG): throw FileError(ENAMETOOLONG, target.path)
            default: throw error
            }
        }
    }

    /// Returns `.NAME.ENDING`, within the 255 bytes that a file name may have. A longer name is cut, and a hash of the
    /// whole name is added. If `name` itself is too long, it stays as it is, so that the system reports the error.
    static func hidden(_ name: String, _ ending: String) -> String {
        let maxLength = 255 - ending.utf8.count - 1
        if name.utf8.count <= maxLength || name.utf8.count > 255 { return "." + name + ending }
        let mark = "-" + String(name.fnv1a, radix: 16)
        var beginning = name
        while beginning.utf8.count + mark.utf8.count > maxLength { beginning.removeLast() }
        return "." + beginning + mark + ending
    }

    var count: Int64 {
        get throws(FileError) { try file.seekToEnd() }
    }

    // MARK: Origin

    /// The origin of the bytes in the file, or nil if the file cannot be continued.
    var origin: Origin? {
        guard let note = try? File.openPlain(originPath, O_RDONLY) else { return nil }
        defer { note.close() }
        guard let count = try? note.seekToEnd(), count < 1 << 20, let data = try? note.read(Int(count), at: 0)
        else { return nil }
        return try? JSONDecoder().decode(Origin.self, from: data)
    }

    /// Empties the file, and stores the origin of the bytes that will follow. With a nil origin, the file cannot be
    /// continued later.
    ///
    /// The note is always a new file, so it belongs to no other user. If a link stands in its place, the link is
    /// removed, and its target stays as it is.
    func restart(_ origin: Origin?) throws(FileError) {
        if try count > 0 { try file.truncate() }
        File.remove(originPath)
        guard let origin, let data = try? JSONEncoder().encode(origin) else { return }
        let note = try File.open(originPath, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode: 0o600)
        defer { note.close() }
        try note.write(data)
    }

    // MARK: End of a run

    /// Renames the file to its target.
    func finish(synchronizing: Bool) throws(FileError) {
        file.copyModeAndOwner(from: target)
        if synchronizing { try file.synchronize() }
        try File.rename(file.path, to: target)
        File.remove(originPath)
        if synchronizing { synchronizeFolder() }
    }

    /// Synchronizes the folder, so that the new name survives a crash as well. Errors are ignored, because some file
    /// systems do not support this.
    private func synchronizeFolder() {
        guard let folder = try? File.open(File.parts(of: target).folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        else { return }
        try? folder.synchronize()
        folder.close()
    }

    func discard() {
        File.remove(originPath)
        File.remove(file.path)
    }

    /// Releases the lock and closes the file.
    func close() {
        file.unlock()
        file.close()
    }
}
