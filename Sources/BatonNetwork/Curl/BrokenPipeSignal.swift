#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// `SIGPIPE` on the thread of a transport. It is blocked there, because a broken connection is the error of one
/// request, but some versions of libcurl do not suppress the signal, and some writes of OpenSSL raise it.
enum BrokenPipeSignal {
    #if os(Linux)
        private static var signals: sigset_t {
            var signals = sigset_t()
            sigemptyset(&signals)
            sigaddset(&signals, SIGPIPE)
            return signals
        }

        static func block() {
            var signals = signals
            pthread_sigmask(SIG_BLOCK, &signals, nil)
        }
    #endif

    /// Runs `body`, which resumes tasks, while the signal is not blocked. Resuming a task may start a thread of Swift's
    /// pool. That thread inherits the mask of the thread that starts it, and so do the programs that it launches.
    static func allow(_ body: () -> Void) {
        #if os(Linux)
            var signals = signals
            var mask = sigset_t()
            pthread_sigmask(SIG_BLOCK, nil, &mask)
            guard sigismember(&mask, SIGPIPE) == 1 else { return body() }
            // Discards what libcurl's writes have raised so far, because it would end the process.
            var noTime = timespec()
            while sigtimedwait(&signals, nil, &noTime) == SIGPIPE {}
            pthread_sigmask(SIG_UNBLOCK, &signals, nil)
            body()
            pthread_sigmask(SIG_SETMASK, &mask, nil)
        #else
            body()
        #endif
    }
}
