internal import CBatonProcess
internal import Synchronization

/// The file that a program writes, beside the one that it replaces when the program has succeeded.
final class OutputFile: Sendable {
    let descriptor: Descriptor
    private let path: String
    /// Where it is until then. Nil: it is written directly.
    private let draft: String?
    /// What a draft has after its name.
    private let ending = ".\(UInt64.random(in: 0...(.max))).partial"
    private let isSettled = Atomic(false)

    /// - Parameter resemble: For tests.
    init(
        _ path: String, appending: Bool,
        resemble: (_ descriptor: Int32, _ file: UnsafePointer<baton_file>) -> Int32 = baton_resemble
    ) throws(SystemFailure) {
        var found = try Found(path)
        if found.file.kind == baton_file_directory { throw .isDirectory }
        self.path = found.place
        if appending || found.file.kind == baton_file_other {
            draft = nil
            descriptor = try .opened { baton_open_writing(path, appending ? 1 : 0, $0) }
        } else {
            let draft = found.place + ending
            self.draft = draft
            if found.file.kind == baton_file_missing {
                descriptor = try .opened { baton_make_file(draft, 0o666, $0) }
                return
            }
            // Whoever opened it before it has its rights could read it for ever.
            descriptor = try .opened { baton_make_file(draft, 0o600, $0) }
            // Where that is not possible, it stays its owner's alone.
            _ = resemble(descriptor.number, &found.file)
        }
    }

    deinit { abandon() }

    /// What there is under a name.
    private struct Found {
        var file = baton_file()
        /// What a link leads to is replaced, and not the link.
        let place: String

        init(_ path: String) throws(SystemFailure) {
            try SystemFailure.check(baton_examine(path, &file))
            place = file.kind == baton_file_regular ? Self.resolved(path) : path
        }

        private static func resolved(_ path: String) -> String {
            guard let text = baton_resolve(path) else { return path }
            defer { baton_free(text) }
            return String(cString: text)
        }
    }

    /// Whether it takes the place of what is, or would be, under this name.
    ///
    /// What would be the draft there is its own: so the file system says which names are one, with its links, and with or
    /// without a difference between upper and lower case.
    func replaces(_ path: String) -> Bool {
        guard let draft, let found = try? Found(path) else { return false }
        return baton_is_one_file(draft, found.place + ending) != 0
    }

    /// The program has succeeded.
    func putInPlace() throws(SystemFailure) {
        guard let draft, !isSettled.exchange(true, ordering: .acquiringAndReleasing) else { return }
        let code = baton_rename(draft, path)
        if code != 0 { baton_remove(draft) }
        try SystemFailure.check(code)
    }

    /// What is in its place stays. Without effect after ``putInPlace()``.
    func abandon() {
        if let draft, !isSettled.exchange(true, ordering: .acquiringAndReleasing) { baton_remove(draft) }
    }
}
