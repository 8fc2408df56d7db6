internal import Foundation
internal import Synchronization

/// Records whether a redraw is under way, in atomic words that a signal handler may read.
final class RedrawGuard: Sendable {
    /// The guard of the process. There is one, because signals concern the whole process.
    static let shared = RedrawGuard()

    /// The descriptor on which a redraw is under way, or -1.
    private let drawing = Atomic<CInt>(-1)
    private let closed = Atomic<Bool>(false)

    /// True if the terminal was restored, so that nothing is to be written any more.
    var isClosed: Bool { closed.load(ordering: .sequentiallyConsistent) }

    /// Runs `body` while a redraw is recorded. Returns false if `body` does, or if the terminal was restored.
    func whileDrawing(on descriptor: CInt, _ body: () -> Bool) -> Bool {
        drawing.store(descriptor, ordering: .sequentiallyConsistent)
        defer { drawing.store(-1, ordering: .sequentiallyConsistent) }
        // Both words are sequentially consistent, and this load comes after the store of `drawing`. So either
        // ``close()`` sees the redraw, or this thread sees that the terminal was restored.
        return isClosed ? false : body()
    }

    /// Restores the terminal. It uses only atomic words and `write`, so a signal handler may call it.
    func close() {
        closed.store(true, ordering: .sequentiallyConsistent)
        let descriptor = drawing.exchange(-1, ordering: .sequentiallyConsistent)
        if descriptor < 0 { return }
        // The text resets the colour, starts a new line, and erases the rest of the screen.
        let end: StaticString = "\u{1B}[0m\r\n\u{1B}[J"
        let error = errno
        _ = Foundation.write(descriptor, end.utf8Start, end.utf8CodeUnitCount)
        errno = error
    }
}
