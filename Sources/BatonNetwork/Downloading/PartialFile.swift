internal import Baton
internal import Foundation

/// What has come of a download so far, beside its target, under a name that the next run finds.
///
/// One run at a time has it: it is locked, also against other processes, until it is closed.
struct PartialFile: Sendable {
    /// What the bytes that are there belong to.
    struct Origin: Codable, Hashable, Sendable {
        /// The ``mark(of:)`` of its address.
        var url: String
        /// A strong ETag or a date: what `If-Range` asks for.
        var validator: String
        /// Of the whole file, if known.
        var length: Int64?
        /// Where the answer came from after redirects, without its query, which is often another one each time. Nil if
        /// that is not known.
        var source: String?
    }

    let file: File
    let target: String
    let originPath: String

    /// Nil: another run has it.
    ///
    /// Its name can be guessed. A link that somebody has put there is an error and stays: to remove it could hit the
    /// file that another run has just made in its place.
    static func open(for target: URL) throws(FileError) -> PartialFile? {
        // The download replaces the file that a link leads to, and keeps the link.
        let target = URL(fileURLWithPath: File.endOfLinks(from: target.path))
        let name = target.lastPathComponent
        let folder = target.deletingLastPathComponent().path
        let path = folder + "/" + hidden(name, ".partial")
        // Whoever had it may have given it its final name between opening and locking.
        for _ in 0..<16 {
            let file = try openOrMake(path, in: folder)
            do throws(FileError) {
                guard try file.lock() else {
                    file.close()
                    return nil
                }
                if file.isInPlace {
                    file.hideLike(target.path)
                    let note = folder + "/" + hidden(name, ".origin")
                    return PartialFile(file: file, target: target.path, originPath: note)
                }
            } catch {
                file.close()
                throw error
            }
            file.close()
        }
        return nil
    }

    /// Nobody has asked for the hidden name, so that the folder is what is missing.
    private static func openOrMake(_ path: String, in folder: String) throws(FileError) -> File {
        do throws(FileError) {
            return try File.openPlain(path, O_RDWR | O_CREAT)
        } catch {
            throw error.problem == .notFound ? FileError(.notFound, folder) : error
        }
    }

    /// `.NAME.ENDING`, as long as the system takes that: of a longer name as much as fits, and a hash of it all. A name
    /// that the system does not take is left as it is, for it to say so.
    static func hidden(_ name: String, _ ending: String) -> String {
        let most = 255 - ending.utf8.count - 1
        if name.utf8.count <= most || name.utf8.count > 255 { return "." + name + ending }
        let mark = "-" + String(name.fnv1a, radix: 16)
        var beginning = name
        while beginning.utf8.count + mark.utf8.count > most { beginning.removeLast() }
        return "." + beginning + mark + ending
    }

    var count: Int64 {
        get throws(FileError) { try file.seekToEnd() }
    }

    // MARK: Origin

    /// Nil: what is there is worth nothing.
    var origin: Origin? {
        guard let note = try? File.openPlain(originPath, O_RDONLY) else { return nil }
        defer { note.close() }
        guard let count = try? note.seekToEnd(), count < 1 << 20, let data = try? note.read(Int(count), at: 0)
        else { return nil }
        return try? JSONDecoder().decode(Origin.self, from: data)
    }

    /// Begins from the start. Without a validator the file cannot be continued later.
    ///
    /// The note is a new file, so that it is nobody else's, and what stood in its place, a link for example, is left
    /// alone.
    func restart(_ origin: Origin?) throws(FileError) {
        if try count > 0 { try file.truncate() }
        File.remove(originPath)
        guard let origin, let data = try? JSONEncoder().encode(origin) else { return }
        let note = try File.open(originPath, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode: 0o600)
        defer { note.close() }
        try note.write(data)
    }

    // MARK: Ends

    /// Gives it its final name.
    func finish(synchronizing: Bool) throws(FileError) {
        file.resemble(target)
        if synchronizing { try file.synchronize() }
        try File.rename(file.path, to: target)
        File.remove(originPath)
        if synchronizing { synchronizeFolder() }
    }

    /// The name, too, is to survive a crash. Some file systems do not let folders be synchronized.
    private func synchronizeFolder() {
        guard let folder = try? File.open(URL(fileURLWithPath: target).deletingLastPathComponent().path, O_RDONLY)
        else { return }
        try? folder.synchronize()
        folder.close()
    }

    func discard() {
        File.remove(originPath)
        File.remove(file.path)
    }

    /// Lets others have it.
    func close() {
        file.unlock()
        file.close()
    }
}
