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
    /// Has the draft removed if this process ends first.
    private let watch: Watchdog.Entry?

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
            watch = nil
            descriptor = try .opened { baton_open_writing(path, appending ? 1 : 0, $0) }
        } else {
            let draft = found.place + ending
            self.draft = draft
            watch = Watchdog.shared()?.watch(draft: draft)
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
            place =
                switch file.kind {
                case baton_file_regular: Self.resolved(path)
                case baton_file_missing: Self.endOfLinks(from: path)
                default: path
                }
        }

        /// Where a new file belongs: at the end of the links that lead to nothing yet.
        private static func endOfLinks(from path: String) -> String {
            var place = path
            // The system follows 40, and has found that these end.
            for _ in 0..<40 {
                guard let text = baton_link_target(place) else { break }
                defer { baton_free(text) }
                let target = String(cString: text)
                let folder = place.utf8.lastIndex(of: UInt8(ascii: "/")).map { place[...$0] } ?? ""
                place = target.utf8.first == UInt8(ascii: "/") ? target : folder + target
            }
            return place
        }

        private static func resolved(_ path: String) -> String {
            guard let text = baton_resolve(path) else { return path }
            defer { baton_free(text) }
            return String(cString: text)
        }
    }

    /// Whether it takes the place of what is, or would be, under this name.
    ///
    /// What would be the draft there is its own: so the file system says which names are one, with its links, and with
    /// or without a difference between upper and lower case.
    func replaces(_ path: String) -> Bool {
        guard let draft, let found = try? Found(path) else { return false }
        return baton_is_one_file(draft, found.place + ending) != 0
    }

    /// The program has succeeded.
    func putInPlace() throws(SystemFailure) {
        guard let draft, !isSettled.exchange(true, ordering: .acquiringAndReleasing) else { return }
        let code = baton_rename(draft, path)
        if code != 0 { baton_remove(draft) }
        watch?.forget()
        try SystemFailure.check(code)
    }

    /// What is in its place stays. Without effect after ``putInPlace()``.
    func abandon() {
        guard let draft, !isSettled.exchange(true, ordering: .acquiringAndReleasing) else { return }
        baton_remove(draft)
        watch?.forget()
    }
}
