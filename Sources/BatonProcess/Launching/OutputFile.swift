internal import CBatonProcess
internal import Synchronization

/// The file that a program writes, beside the one that it replaces when the program has succeeded.
final class OutputFile: Sendable {
    let descriptor: Descriptor
    private let path: String
    /// Where it is until then. Nil: it is written directly.
    private let draft: String?
    private let isSettled = Atomic(false)

    init(_ path: String, appending: Bool) throws(SystemFailure) {
        var kind = baton_file_missing
        var rights: UInt32 = 0
        try SystemFailure.check(baton_examine(path, &kind, &rights))
        if kind == baton_file_directory { throw .isDirectory }
        // What a link leads to is replaced, and not the link.
        let place = kind == baton_file_regular ? Self.resolved(path) : path
        self.path = place
        if appending || kind == baton_file_other {
            draft = nil
            descriptor = try .opened { baton_open_writing(path, appending ? 1 : 0, $0) }
        } else {
            let draft = "\(place).\(UInt64.random(in: 0...(.max))).partial"
            self.draft = draft
            descriptor = try .opened { baton_make_file(draft, rights, $0) }
        }
    }

    deinit { abandon() }

    private static func resolved(_ path: String) -> String {
        guard let text = baton_resolve(path) else { return path }
        defer { baton_free(text) }
        return String(cString: text)
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
