internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// An open file, by its descriptor. To be closed once.
struct File: Sendable {
    let descriptor: Int32
    let path: String

    static func open(_ path: String, _ flags: Int32, mode: mode_t = 0o644) throws(FileError) -> File {
        var descriptor: Int32 = -1
        repeat {
            descriptor = Foundation.open(path, flags, mode)
        } while descriptor < 0 && errno == EINTR
        if descriptor < 0 { throw FileError(errno, path) }
        return File(descriptor: descriptor, path: path)
    }

    /// A plain file of this one name. A link would lead elsewhere, and a pipe would block.
    static func openPlain(_ path: String, _ flags: Int32) throws(FileError) -> File {
        let file: File
        do {
            file = try open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        } catch {
            throw error.problem == .other(errno: ELOOP) ? FileError(notPlain: path) : error
        }
        if file.isPlain { return file }
        file.close()
        throw FileError(notPlain: path)
    }

    /// Opens a plain file, and follows links. A pipe or a device is an error at once, and blocks no thread.
    static func openReadable(_ path: String) throws(FileError) -> File {
        let file = try open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard let hindrance = file.status.flatMap(hindrance) else { return file }
        file.close()
        throw FileError(hindrance, path)
    }

    /// Opens a file whose content is to be sent.
    ///
    /// - Parameter isSent: Whether something of the request may have reached a server.
    static func openUpload(_ file: URL, _ request: URLRequest, isSent: Bool = false) throws -> File {
        // The path of another address may be that of a file here.
        if !file.isFileURL {
            let problem = "‘\(file.withoutSecrets)’, whose content is to be sent, is no file"
            throw HTTPError(.invalidRequest(problem), request)
        }
        do throws(FileError) {
            let opened = try openReadable(file.path)
            if try opened.hasHiddenContent {
                opened.close()
                throw FileError(.changed, file.path)
            }
            return opened
        } catch {
            throw HTTPError(error, request, isSent: isSent)
        }
    }

    /// A new one that only its owner can open.
    static func new(in folder: String) throws(FileError) -> File {
        try open(folder + "/baton-" + UUID().uuidString, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode: 0o600)
    }

    /// A new one that nobody else can find.
    static func unnamed(in folder: String) throws(FileError) -> File {
        let file = try new(in: folder)
        remove(file.path)
        return file
    }

    func close() { _ = Foundation.close(descriptor) }

    /// All of it.
    func write(_ data: Data) throws(FileError) {
        let problem = data.withUnsafeBytes { bytes -> Int32? in
            var left = bytes[...]
            while !left.isEmpty {
                let count = Foundation.write(descriptor, UnsafeRawBufferPointer(rebasing: left).baseAddress, left.count)
                if count < 0 {
                    if errno == EINTR { continue }
                    return errno
                }
                left = left.dropFirst(count)
            }
            return nil
        }
        if let problem { throw FileError(problem, path) }
    }

    func write(_ data: Data, at offset: Int64) throws(FileError) {
        try move(data.count, at: offset, ifNone: .other(errno: EIO)) { done, left in
            data.withUnsafeBytes {
                pwrite(descriptor, $0.baseAddress.map { $0 + done }, left, off_t(offset) + off_t(done))
            }
        }
    }

    /// Bytes that were there a moment ago: a file that ends before has changed.
    func read(_ count: Int, at offset: Int64) throws(FileError) -> Data {
        var data = Data(count: count)
        try move(count, at: offset, ifNone: .changed) { done, left in
            data.withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress.map { $0 + done }, left, off_t(offset) + off_t(done))
            }
        }
        return data
    }

    /// Returns how many bytes were read: 0 at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileError) -> Int {
        while true {
            let count = pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
            if count >= 0 { return count }
            if errno != EINTR { throw FileError(errno, path) }
        }
    }

    /// All of it, however few bytes the system moves at a time.
    private func move(
        _ count: Int, at offset: Int64, ifNone problem: HTTPError.FileProblem, _ step: (_ done: Int, _ left: Int) -> Int
    ) throws(FileError) {
        var done = 0
        while done < count {
            let moved = step(done, count - done)
            if moved > 0 {
                done += moved
            } else if moved == 0 {
                throw FileError(problem, path)
            } else if errno != EINTR {
                throw FileError(errno, path)
            }
        }
    }

    func seekToEnd() throws(FileError) -> Int64 {
        let end = lseek(descriptor, 0, SEEK_END)
        if end < 0 { throw FileError(errno, path) }
        return Int64(end)
    }

    func truncate() throws(FileError) {
        if ftruncate(descriptor, 0) != 0 || lseek(descriptor, 0, SEEK_SET) != 0 { throw FileError(errno, path) }
    }

    func synchronize() throws(FileError) {
        if fsync(descriptor) != 0 { throw FileError(errno, path) }
    }

    /// False: somebody else has.
    func lock() throws(FileError) -> Bool {
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
        if errno == EWOULDBLOCK { return false }
        throw FileError(errno, path)
    }

    /// Closing alone would leave it locked as long as a child has a copy of the descriptor: between its fork and its
    /// exec, every child has.
    func unlock() { _ = flock(descriptor, LOCK_UN) }

    private var isPlain: Bool {
        guard let status else { return false }
        return status.st_mode & S_IFMT == S_IFREG && status.st_nlink <= 1
    }

    /// Whether the file of that path is still this one.
    var isInPlace: Bool {
        var here = stat()
        var there = stat()
        guard fstat(descriptor, &here) == 0, lstat(path, &there) == 0 else { return false }
        return here.st_ino == there.st_ino && here.st_dev == there.st_dev
    }

    /// How many bytes it has now.
    var size: Int64? { status.map { Int64($0.st_size) } }

    /// Some files of the system are made when they are read, and have no size before.
    private var hasHiddenContent: Bool {
        get throws(FileError) {
            var byte: UInt8 = 0
            let count = size == 0 ? pread(descriptor, &byte, 1, 0) : 0
            if count < 0 { throw FileError(errno, path) }
            return count > 0
        }
    }

    private var status: stat? {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? status : nil
    }

    /// Why a file must not take the place of what is there. Nil: it may, or there is nothing.
    static func hindrance(at path: String) -> HTTPError.FileProblem? {
        var status = stat()
        return stat(path, &status) == 0 ? hindrance(status) : nil
    }

    private static func hindrance(_ status: stat) -> HTTPError.FileProblem? {
        switch status.st_mode & S_IFMT {
        case S_IFREG: nil
        case S_IFDIR: .isDirectory
        default: .isDevice
        }
    }

    /// Lets nobody but its owner read it.
    func hide() { _ = fchmod(descriptor, 0o600) }

    /// Lets nobody read this who may not read the file that it is to replace. Its owner can still open it again.
    func hideLike(_ path: String) {
        var other = stat()
        if stat(path, &other) == 0, other.st_mode & S_IFMT == S_IFREG {
            _ = fchmod(descriptor, other.st_mode & 0o777 | 0o600)
        }
    }

    /// Takes the rights, and as far as that is allowed the owner, of the file that it is to replace.
    func resemble(_ path: String) {
        var other = stat()
        guard stat(path, &other) == 0, other.st_mode & S_IFMT == S_IFREG, let status else { return }
        if status.st_uid != other.st_uid || status.st_gid != other.st_gid {
            // Nobody gets rights that the owner of the other file has not given him.
            if fchown(descriptor, other.st_uid, other.st_gid) != 0 { _ = fchmod(descriptor, other.st_mode & 0o700) }
        }
        if self.status?.st_uid == other.st_uid, self.status?.st_gid == other.st_gid {
            _ = fchmod(descriptor, other.st_mode & 0o777)
        }
    }

    /// Where a file of that name belongs: at the end of its links, which may lead to nothing yet.
    static func endOfLinks(from path: String) -> String {
        var place = URL(fileURLWithPath: path)
        // The system follows 40.
        for _ in 0..<40 {
            guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: place.path) else { break }
            place = URL(fileURLWithPath: target, relativeTo: place.deletingLastPathComponent()).absoluteURL
        }
        return place.path
    }

    static func rename(_ path: String, to other: String) throws(FileError) {
        if Foundation.rename(path, other) != 0 { throw FileError(errno, other) }
    }

    static func remove(_ path: String) { _ = unlink(path) }
}

/// What the system says of a file.
struct FileError: Error {
    let problem: HTTPError.FileProblem
    let path: String

    init(_ number: Int32, _ path: String) {
        problem =
            switch number {
            case EISDIR: .isDirectory
            case ENOENT, ENOTDIR: .notFound
            case EACCES, EPERM, EROFS: .notPermitted
            case ENOSPC, EDQUOT: .diskFull
            default: .other(errno: number)
            }
        self.path = path
    }

    init(_ problem: HTTPError.FileProblem, _ path: String) {
        self.problem = problem
        self.path = path
    }

    /// The reason of a request that fails by it. Descriptors come free again, so a lack of them may pass; a
    /// missing file stays missing.
    var reason: HTTPError.Reason {
        [.other(errno: EMFILE), .other(errno: ENFILE)].contains(problem)
            ? .tooManyOpenFiles : .file(problem, path: path)
    }

    /// It is no plain file.
    init(notPlain path: String) { self.init(.notPlain, path) }
}
