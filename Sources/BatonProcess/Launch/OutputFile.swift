internal import CBatonProcess
internal import Synchronization

/// The file that a program writes. A new file is written as a draft, next to its final path, and replaces the old one
/// when the program has succeeded.
final class OutputFile: Sendable {
    let descriptor: Descriptor
    private let path: String
    /// The path of the draft, or nil if the file is written directly.
    private let draft: String?
    /// The suffix of the draft's name.
    private let suffix = ".\(UInt64.random(in: 0...(.max))).partial"
    private let isSettled = Atomic(false)
    /// The watchdog's entry, which removes the draft if this process ends first.
    private let watch: Watchdog.Entry?

    /// Opens the file, or makes a draft.
    ///
    /// - Parameters:
    ///   - path: The path of the file. A relative path starts from the directory of this process.
    ///   - appending: True if the program writes to the end of the file.
    ///   - copyPermissions: Copies the owner, the group and the permissions of the old file to the draft. A parameter
    ///     for tests.
    /// - Throws: A `SystemFailure` if the file cannot be examined or opened, or is a directory.
    init(
        _ path: String, appending: Bool,
        copyPermissions: (_ descriptor: Int32, _ file: UnsafePointer<baton_file>) -> Int32 = baton_copy_permissions
    ) throws(SystemFailure) {
        var found = try Found(path)
        if found.file.kind == baton_file_directory { throw .isDirectory }
        self.path = found.place
        if appending || found.file.kind == baton_file_other {
            draft = nil
            watch = nil
            descriptor = try .opened { baton_open_writing(path, appending ? 1 : 0, $0) }
        } else {
            let draft = found.place + suffix
            self.draft = draft
            watch = Watchdog.shared()?.watch(draft: draft)
            if found.file.kind == baton_file_missing {
                descriptor = try .opened { baton_make_file(draft, 0o666, $0) }
                return
            }
            // The draft starts readable for its owner alone: a process that opens it before it has its final
            // permissions could go on reading it.
            descriptor = try .opened { baton_make_file(draft, 0o600, $0) }
            // If the permissions cannot be copied, the draft stays readable for its owner alone.
            _ = copyPermissions(descriptor.number, &found.file)
        }
    }

    deinit { abandon() }

    /// The kind of the file at a path, and the place where a new file for this path belongs.
    private struct Found {
        var file = baton_file()
        /// The path to replace. It is the end of a chain of symbolic links, so that the link itself stays.
        let place: String

        init(_ path: String) throws(SystemFailure) {
            try SystemFailure.check(baton_examine(path, &file))
            place =
                switch file.kind {
                case baton_file_regular: Self.realPath(of: path)
                case baton_file_missing: Self.danglingTarget(of: path)
                default: path
                }
        }

        /// Follows links that lead to a file that does not exist yet, and returns the path at their end.
        private static func danglingTarget(of path: String) -> String {
            var place = path
            // Linux follows at most 40 links. `baton_examine` has followed these, so the loop ends.
            for _ in 0..<40 {
                guard let text = baton_link_target(place) else { break }
                defer { baton_free(text) }
                let target = String(cString: text)
                let folder = place.utf8.lastIndex(of: UInt8(ascii: "/")).map { place[...$0] } ?? ""
                place = target.utf8.first == UInt8(ascii: "/") ? target : folder + target
            }
            return place
        }

        private static func realPath(of path: String) -> String {
            guard let text = baton_resolve(path) else { return path }
            defer { baton_free(text) }
            return String(cString: text)
        }
    }

    /// Returns true if this file will replace the file at `path`.
    ///
    /// Appends this draft's unique suffix to the resolved `path`. If the result is the same file as this draft, both
    /// paths lead to the same destination. The answer accounts for links, and for file systems that ignore case.
    func replaces(_ path: String) -> Bool {
        guard let draft, let found = try? Found(path) else { return false }
        return baton_is_same_file(draft, found.place + suffix) != 0
    }

    /// Moves the draft to its final path, after the program has succeeded.
    func putInPlace() throws(SystemFailure) {
        guard let draft, !isSettled.exchange(true, ordering: .acquiringAndReleasing) else { return }
        let code = baton_rename(draft, path)
        if code != 0 { baton_remove(draft) }
        watch?.forget()
        try SystemFailure.check(code)
    }

    /// Removes the draft and leaves the old file as it is. Has no effect after ``putInPlace()``.
    func abandon() {
        guard let draft, !isSettled.exchange(true, ordering: .acquiringAndReleasing) else { return }
        baton_remove(draft)
        watch?.forget()
    }
}
