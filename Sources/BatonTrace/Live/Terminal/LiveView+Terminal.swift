internal import Foundation

extension LiveView {
    /// The signals by which a user or the system ends a program: SIGINT, SIGTERM and SIGHUP.
    public static let terminationSignals: [CInt] = [SIGINT, SIGTERM, SIGHUP]

    /// Restores the terminal for a program that is about to end. From then on no view of the process draws.
    ///
    /// Call it in your own signal handlers. It allocates nothing and takes no lock, and may be called on any thread, at
    /// any time, any number of times. If no redraw is in progress, it writes nothing. A program that does not end by a
    /// signal need not call it.
    public static func restoreTerminal() { RedrawGuard.shared.close() }

    /// Installs signal handlers that call ``restoreTerminal()`` before the program dies of one of these signals.
    ///
    /// Call it once, early, before or after a view is made. The program still dies of the signal, so the shell sees
    /// that a signal ended it. Signals that the program handles or ignores are left alone: its own handler has to call
    /// ``restoreTerminal()``.
    ///
    /// - Parameter signals: The numbers of the signals. The default includes SIGINT, the signal of Ctrl-C.
    public static func restoreTerminalOnTermination(by signals: [CInt] = terminationSignals) {
        // The shared object is made here, because a signal handler must not allocate.
        _ = RedrawGuard.shared.isClosed
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
    /// True if no handler is installed and the signal is not ignored.
    fileprivate var isDefault: Bool {
        #if canImport(Darwin)
            __sigaction_u.__sa_handler == nil
        #else
            __sigaction_handler.sa_handler == nil
        #endif
    }
}
