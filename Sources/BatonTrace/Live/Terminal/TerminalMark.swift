internal import Foundation
internal import Synchronization

/// Says whether a redraw is under way, in words that a signal handler may read.
final class TerminalMark: Sendable {
    /// That of the process: signals are the whole process's.
    static let shared = TerminalMark()

    /// The descriptor on which a redraw is under way, or -1.
    private let drawing = Atomic<CInt>(-1)
    private let closed = Atomic<Bool>(false)

    /// The terminal was given back: nothing is to be written any more.
    var isClosed: Bool { closed.load(ordering: .sequentiallyConsistent) }

    /// False: `body` says so, or the terminal was given back.
    func whileDrawing(on descriptor: CInt, _ body: () -> Bool) -> Bool {
        drawing.store(descriptor, ordering: .sequentiallyConsistent)
        defer { drawing.store(-1, ordering: .sequentiallyConsistent) }
        // After the store: whoever closes either sees it, or is seen here.
        return isClosed ? false : body()
    }

    /// Nothing but atomic words and `write`: a signal handler may call it.
    func close() {
        closed.store(true, ordering: .sequentiallyConsistent)
        let descriptor = drawing.exchange(-1, ordering: .sequentiallyConsistent)
        if descriptor < 0 { return }
        // The colour goes, then a new line, and nothing below it.
        let end: StaticString = "\u{1B}[0m\r\n\u{1B}[J"
        let error = errno
        _ = Foundation.write(descriptor, end.utf8Start, end.utf8CodeUnitCount)
        errno = error
    }
}
