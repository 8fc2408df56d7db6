#if BATON_SANITIZED && !BATON_TSAN
    #if canImport(Darwin)
        import Darwin
    #elseif canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #endif

    @testable import Baton

    extension StepExecutor {
        private static let all = Locked<[StepExecutor]>([])
        private static let runsAtExit: Void = {
            atexit {
                for executor in all.withLock({ $0 }) {
                    // More than any test has left, and an end for what never has one.
                    var left = 10_000
                    while left > 0, executor.step() { left -= 1 }
                }
            }
            return ()
        }()

        /// LeakSanitizer looks when the process ends. What nobody steps through after a test, such as the end of a
        /// sleep that went with its queue, is run before, so that only what really leaks is left.
        func runAtExit() {
            _ = Self.runsAtExit
            Self.all.withLock { $0.append(self) }
        }
    }
#endif
