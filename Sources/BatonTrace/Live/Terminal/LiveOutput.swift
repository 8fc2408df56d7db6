internal import Foundation
internal import Synchronization

/// The output of a live view, and its abilities.
struct LiveOutput: Sendable {
    /// The size of a terminal.
    struct Size: Sendable, Equatable {
        var columns: Int
        var rows: Int
    }

    /// The abilities of an output. A pure function of the options and the environment.
    struct Ability: Sendable, Equatable {
        var isRedrawn: Bool
        var hasColour: Bool
        var hasUnicode: Bool

        init(_ style: LiveView.Options.Style, isTerminal: Bool, _ environment: [String: String]) {
            let term = environment["TERM"] ?? ""
            isRedrawn =
                switch style {
                case .automatic: isTerminal && !term.isEmpty && term != "dumb"
                case .redrawn: true
                case .lines: false
                }
            // Colour is disabled if the variable is present and not empty, as https://no-color.org says.
            hasColour = isRedrawn && (environment["NO_COLOR"] ?? "").isEmpty
            // The first variable that is set and not empty decides, as for the C library.
            let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
            let codes = (locale ?? "").lowercased()
            hasUnicode = codes.contains("utf-8") || codes.contains("utf8")
        }
    }

    let descriptor: CInt
    let ability: Ability
    let redrawGuard: RedrawGuard
    let size: @Sendable () -> Size

    init(_ options: LiveView.Options) {
        let environment = ProcessInfo.processInfo.environment
        let isTerminal = isatty(options.output) == 1
        self.init(options, Ability(options.style, isTerminal: isTerminal, environment), .shared)
    }

    init(
        _ options: LiveView.Options, _ ability: Ability, _ redrawGuard: RedrawGuard, size: (@Sendable () -> Size)? = nil
    ) {
        descriptor = options.output
        self.ability = ability
        self.redrawGuard = redrawGuard
        self.size = size ?? { [descriptor = options.output] in Self.size(of: descriptor) }
    }

    /// Returns the size that the terminal reports, or 80 by 24 if it reports none, for example because it is not a
    /// terminal.
    private static func size(of descriptor: CInt) -> Size {
        var size = winsize()
        let isKnown = ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 && size.ws_row > 0
        return isKnown ? Size(columns: Int(size.ws_col), rows: Int(size.ws_row)) : Size(columns: 80, rows: 24)
    }
}

// MARK: - Redraws and signals

/// Records whether a redraw is in progress, in atomic words that a signal handler may read.
final class RedrawGuard: Sendable {
    /// The guard of the process. There is one, because signals concern the whole process.
    static let shared = RedrawGuard()

    /// The descriptor on which a redraw is in progress, or -1.
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
