import Foundation

/// A line of the terminal that is overwritten repeatedly. It prints nothing if standard error is not a terminal.
struct ProgressLine: Sendable {
    private let isTerminal = isatty(STDERR_FILENO) == 1

    func show(_ text: String) {
        guard isTerminal else { return }
        FileHandle.standardError.write(Data("\r\u{1B}[K\(text.prefix(79))".utf8))
    }

    func clear() { show("") }
}
