internal import Foundation

/// Where a live view writes, and what that can show.
struct LiveOutput: Sendable {
    /// How large a terminal is.
    struct Size: Sendable, Equatable {
        var columns: Int
        var rows: Int
    }

    /// What the output can show: a pure function of the options and the surroundings.
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
            // https://no-color.org: present and not empty.
            hasColour = isRedrawn && (environment["NO_COLOR"] ?? "").isEmpty
            // The first that is set and not empty counts, as for the C library.
            let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
            let codes = (locale ?? "").lowercased()
            hasUnicode = codes.contains("utf-8") || codes.contains("utf8")
        }
    }

    let descriptor: CInt
    let ability: Ability
    let mark: TerminalMark
    let size: @Sendable () -> Size

    init(_ options: LiveView.Options) {
        let environment = ProcessInfo.processInfo.environment
        let isTerminal = isatty(options.output) == 1
        self.init(options, Ability(options.style, isTerminal: isTerminal, environment), .shared)
    }

    init(_ options: LiveView.Options, _ ability: Ability, _ mark: TerminalMark, size: (@Sendable () -> Size)? = nil) {
        descriptor = options.output
        self.ability = ability
        self.mark = mark
        self.size = size ?? { [descriptor = options.output] in Self.size(of: descriptor) }
    }

    /// What the terminal says; 80 by 24 if it says nothing, as one that is no terminal.
    private static func size(of descriptor: CInt) -> Size {
        var size = winsize()
        let isKnown = ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 && size.ws_row > 0
        return isKnown ? Size(columns: Int(size.ws_col), rows: Int(size.ws_row)) : Size(columns: 80, rows: 24)
    }
}
