internal import Baton
internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// An open file. It must be closed once.
struct File: Sendable {
    let descriptor: Int32
    let path: String

    static func open(_ path: String, _ flags: Int32, mode: mode_t = 0o644) throws(FileError) -> File {
        var descriptor: Int32 = -1
        repeat {
            descriptor = Foundation.open(path, flags, mode)
        } while descriptor < 0 && errno == EINTR
        if descriptor < 0 {
            let error = FileError(errno, path)
            #if os(Linux)
                if error.reason == .tooManyOpenFiles { CurlThread.closeUnusedConnections() }
            #endif
            throw error
        }
        return File(descriptor: descriptor, path: path)
    }

    /// Opens a plain file that has no other name. A link could lead elsewhere, and a pipe would block the thread.
    static func openPlain(_ path: String, _ flags: Int32) throws(FileError) -> File {
        let file: File
        do {
            file = try open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        } catch {
            // Links, folders and sockets cannot be opened, each with another error.
            throw isOther(path) ? FileError(notPlain: path) : error
        }
        if file.isPlain { return file }
        file.close()
        throw FileError(notPlain: path)
    }

    /// Opens a plain file, following links. For a pipe or a device it throws at once, so that no thread blocks.
    static func openReadable(_ path: String) throws(FileError) -> File {
        let file = try open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard let problem = file.status.flatMap(Self.problem(ofType:)) else { return file }
        file.close()
        throw FileError(problem, path)
    }

    /// The largest number of bytes of a file that libcurl and OpenSSL read for a transport.
    private static let longestRead = 64 << 20

    /// Returns the reason why libcurl or OpenSSL, which open a file themselves and block the thread, must not read what
    /// has this path, or nil if they may, or if they cannot. Pipes and devices may never end.
    ///
    /// The same holds for some regular files, whose content the system produces while they are read. Those that wait,
    /// such as /proc/kmsg, have a size of 0, and those without an end, such as /proc/kcore, have a very large one.
    static func problemOfReading(_ path: String) -> ReadingProblem? {
        var status = stat()
        if stat(path, &status) != 0 { return [ENOENT, ENOTDIR].contains(errno) ? .isMissing : nil }
        switch problem(ofType: status) {
        case .isDirectory: return .isDirectory
        case nil: break
        default: return .isDevice
        }
        if status.st_size == 0 { return .isEmpty }
        return status.st_size > longestRead ? .isTooLong : nil
    }

    enum ReadingProblem {
        case isMissing, isDirectory, isDevice, isEmpty, isTooLong
    }

    /// Opens a file for writing, following links, and creates it if there is none. For a pipe or a device it throws at
    /// once, so that no thread blocks.
    static func openWritable(_ path: String, mode: mode_t) throws(FileError) -> File {
        let file = try open(path, O_WRONLY | O_CREAT | O_NONBLOCK | O_CLOEXEC, mode: mode)
        guard let problem = file.status.flatMap(Self.problem(ofType:)) else { return file }
        file.close()
        throw FileError(problem, path)
    }

    /// Opens a file whose content is to be sent.
    ///
    /// - Parameter isSent: Whether a part of the request may have reached a server.
    static func openUpload(_ file: URL, _ request: URLRequest, isSent: Bool = false) throws -> File {
        // The path of a URL with another scheme may also be the path of a local file.
        if !file.isFileURL {
            let problem = "‘\(file.withoutSecrets)’, whose content is to be sent, is not a file"
            throw HTTPError(.invalidRequest(problem), request)
        }
        let opened: File
        let hasHiddenContent: Bool
        do throws(FileError) {
            opened = try openReadable(file.path)
            do throws(FileError) {
                hasHiddenContent = try opened.hasHiddenContent
            } catch {
                opened.close()
                throw error
            }
        } catch {
            throw HTTPError(error, request, isSent: isSent)
        }
        if hasHiddenContent {
            opened.close()
            let problem = "‘\(file.path)’ reports a size of 0 although it has content. Send a copy of it"
            throw HTTPError(.invalidRequest(problem), request)
        }
        return opened
    }

    /// Creates a file that only its owner can open.
    static func new(in folder: String) throws(FileError) -> File {
        try open(folder + "/baton-" + UUID().uuidString, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode: 0o600)
    }

    /// Creates a file and removes its name, so that no other process can open it.
    static func unnamed(in folder: String) throws(FileError) -> File {
        let file = try new(in: folder)
        remove(file.path)
        return file
    }

    func close() { _ = Foundation.close(descriptor) }

    /// Writes all bytes of the data.
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

    /// Reads bytes that the file is known to have. A file that ends earlier has changed, which is an error.
    func read(_ count: Int, at offset: Int64) throws(FileError) -> Data {
        var data = Data(count: count)
        try move(count, at: offset, ifNone: .changed) { done, left in
            data.withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress.map { $0 + done }, left, off_t(offset) + off_t(done))
            }
        }
        return data
    }

    /// Returns the number of bytes that were read; 0 at the end of the file.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileError) -> Int {
        while true {
            let count = pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
            if count >= 0 { return count }
            if errno != EINTR { throw FileError(errno, path) }
        }
    }

    /// Moves all bytes, however few the system moves in one call.
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

    /// Returns false if another process or another run has locked the file.
    func lock() throws(FileError) -> Bool {
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
        if errno == EWOULDBLOCK { return false }
        throw FileError(errno, path)
    }

    /// Releases the lock. Closing the descriptor alone would keep the file locked as long as a child process has a copy
    /// of it, and every child process has one between its fork and its exec.
    func unlock() { _ = flock(descriptor, LOCK_UN) }

    private var isPlain: Bool {
        guard let status else { return false }
        return status.st_mode & S_IFMT == S_IFREG && status.st_nlink <= 1
    }

    /// A Boolean value that indicates whether the path still leads to this file.
    var isInPlace: Bool {
        var here = stat()
        var there = stat()
        guard fstat(descriptor, &here) == 0, lstat(path, &there) == 0 else { return false }
        return here.st_ino == there.st_ino && here.st_dev == there.st_dev
    }

    /// The present number of bytes of the file.
    var size: Int64? { status.map { Int64($0.st_size) } }

    /// A Boolean value that indicates whether a file of size 0 has content nevertheless. The system produces some files
    /// only when they are read.
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

    /// Returns the reason why a file must not replace what has this path, or nil if it may, or if the path is free.
    ///
    /// A path is free only if the system says that nothing has it. Any other error, of a loop of links for example, is
    /// a reason.
    static func problem(at path: String) -> HTTPError.FileProblem? {
        var status = stat()
        if stat(path, &status) == 0 { return problem(ofType: status) }
        return errno == ENOENT ? nil : FileError(errno, path).problem
    }

    /// Returns whether a folder has this path. A link to a folder does not count.
    static func isFolder(_ path: String) -> Bool { type(of: path) == S_IFDIR }

    /// Returns whether something other than a regular file has this path.
    private static func isOther(_ path: String) -> Bool { type(of: path).map { $0 != S_IFREG } ?? false }

    /// Returns the type of what has this path, without following a link; nil if there is nothing.
    private static func type(of path: String) -> mode_t? {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
    }

    private static func problem(ofType status: stat) -> HTTPError.FileProblem? {
        switch status.st_mode & S_IFMT {
        case S_IFREG: nil
        case S_IFDIR: .isDirectory
        default: .isDevice
        }
    }

    /// Makes the file accessible to its owner only.
    func restrictToOwner() { _ = fchmod(descriptor, 0o600) }

    /// Takes over the permissions of the file that this one is to replace, so that no other user can read it who could
    /// not read that one. The owner can always open it again.
    func copyMode(from path: String) {
        var other = stat()
        if stat(path, &other) == 0, other.st_mode & S_IFMT == S_IFREG {
            _ = fchmod(descriptor, other.st_mode & 0o777 | 0o600)
        }
    }

    /// Takes over the permissions and, if the system allows it, the owner of the file that this one is to replace.
    func copyModeAndOwner(from path: String) {
        var other = stat()
        guard stat(path, &other) == 0, other.st_mode & S_IFMT == S_IFREG, let status else { return }
        if status.st_uid != other.st_uid || status.st_gid != other.st_gid {
            // If the owner stays another one, only the owner gets permissions: the owner of the other file has granted
            // none to anybody else.
            if fchown(descriptor, other.st_uid, other.st_gid) != 0 { _ = fchmod(descriptor, other.st_mode & 0o700) }
        }
        if self.status?.st_uid == other.st_uid, self.status?.st_gid == other.st_gid {
            _ = fchmod(descriptor, other.st_mode & 0o777)
        }
    }

    /// Follows the links at a path as the system does, and returns the path at their end, which need not exist. A path
    /// that is no link is returned unchanged.
    ///
    /// The target of a link starts from the folder that contains the link. That folder may have been reached through
    /// links itself, and then `..` is not the folder before it in the path. The system therefore resolves the folder.
    ///
    /// Links of the system's own to open files, such as /proc/self/fd/1, to which /dev/stdout leads, are an error: the
    /// system does not follow their text, and what has that path is not the open file.
    static func resolvingLinks(of path: String) throws(FileError) -> String {
        var place = path
        // The system follows 40 links as well.
        for _ in 0...40 {
            guard let target = try linkTarget(of: place, for: path) else {
                if place == path { return path }
                // The folder need not exist, either.
                guard let folder = try? realFolder(of: place, for: path) else { return place }
                return folder + "/" + parts(of: place).name
            }
            #if os(Linux)
                if try realFolder(of: place, for: path).hasPrefix("/proc/") { throw FileError(.isDevice, path) }
            #endif
            let isAbsolute = target.utf8.first == UInt8(ascii: "/")
            place = isAbsolute ? target : try realFolder(of: place, for: path) + "/" + target
        }
        throw FileError(ELOOP, path)
    }

    /// Returns the text of a link, or nil if the path is no link.
    ///
    /// - Parameter path: The path that an error names.
    private static func linkTarget(of place: String, for path: String) throws(FileError) -> String? {
        var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(place, &bytes, bytes.count)
        if count < 0 {
            let number = errno
            if [EINVAL, ENOENT, ENOTDIR].contains(number) { return nil }
            throw FileError(number, path)
        }
        // A name may be any bytes, but only text can be part of a URL.
        guard let target = String(validating: bytes.prefix(count), as: UTF8.self) else { throw FileError(EILSEQ, path) }
        return target
    }

    /// Returns the path, without links, of the folder that contains what has a path.
    ///
    /// - Parameter path: The path that an error names.
    private static func realFolder(of place: String, for path: String) throws(FileError) -> String {
        guard let text = realpath(parts(of: place).folder, nil) else { throw FileError(errno, path) }
        defer { free(text) }
        guard let folder = String(validatingCString: text) else { throw FileError(EILSEQ, path) }
        return folder
    }

    /// Splits a path into its folder and its name, and leaves both as they are: a `..` stays for the system to resolve.
    static func parts(of path: String) -> (folder: String, name: String) {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return (".", path) }
        let folder = slash == path.startIndex ? "/" : String(path[..<slash])
        return (folder, String(path[path.utf8.index(after: slash)...]))
    }

    static func rename(_ path: String, to other: String) throws(FileError) {
        if Foundation.rename(path, other) != 0 { throw FileError(errno, other) }
    }

    static func remove(_ path: String) { _ = unlink(path) }
}

/// An error that the system reports for a file.
struct FileError: Error {
    let problem: HTTPError.FileProblem
    let path: String

    init(_ number: Int32, _ path: String) {
        problem =
            switch number {
            case EISDIR: .isDirectory
            // A socket cannot be opened as a file.
            case ENXIO: .isDevice
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

    /// The reason of a request that fails with this error. A lack of descriptors is a reason of its own, because it is
    /// transient: descriptors become free again.
    var reason: HTTPError.Reason {
        [.other(errno: EMFILE), .other(errno: ENFILE)].contains(problem)
            ? .tooManyOpenFiles : .file(problem, path: path)
    }

    /// Creates the error for something that is not a plain file.
    init(notPlain path: String) { self.init(.notPlain, path) }
}

// MARK: - Spill files

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
