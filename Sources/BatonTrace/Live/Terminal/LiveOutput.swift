internal import Foundation

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
