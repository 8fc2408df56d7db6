internal import Foundation

extension LiveView {
    /// Those by which a user or the system ends a program: SIGINT, SIGTERM and SIGHUP.
    public static let deadlySignals: [CInt] = [SIGINT, SIGTERM, SIGHUP]

    /// Leaves the terminal in order for a program that is about to end; from then on no view of the process draws.
    ///
    /// For signal handlers of your own: it allocates nothing and takes no lock, and may be called on any thread, at any
    /// time, any number of times. If no redraw is under way it writes nothing. A program that ends otherwise does not
    /// need it.
    public static func restoreTerminal() { TerminalMark.shared.close() }

    /// Has ``restoreTerminal()`` called before the program dies of one of these signals, that of Ctrl-C among them.
    ///
    /// Call it once, early, after or before a view is made. Signals for which the program has a handler, or which it
    /// ignores, are left alone: such a handler calls ``restoreTerminal()`` itself. The program still dies of the
    /// signal, so that its shell sees that.
    public static func restoreTerminalWhenInterrupted(by signals: [CInt] = deadlySignals) {
        // Made here rather than in the handler.
        _ = TerminalMark.shared.isClosed
        for number in signals {
            var current = sigaction()
            guard sigaction(number, nil, &current) == 0, current.isDefault else { continue }
            signal(number) { number in
                LiveView.restoreTerminal()
                signal(number, SIG_DFL)
                raise(number)
            }
        }
    }
}

extension sigaction {
    /// Nobody has said what is to happen.
    fileprivate var isDefault: Bool {
        #if canImport(Darwin)
            __sigaction_u.__sa_handler == nil
        #else
            __sigaction_handler.sa_handler == nil
        #endif
    }
}
