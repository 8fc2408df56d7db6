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
                    // The number exceeds the jobs that any test leaves, and is a bound for jobs that never end.
                    var left = 10_000
                    while left > 0, executor.step() { left -= 1 }
                }
            }
            return ()
        }()

        /// Runs the remaining jobs when the process ends, before LeakSanitizer searches for leaks. Jobs that no test
        /// runs, such as the end of a sleep whose queue was released, would be reported as leaks.
        func runAtExit() {
            _ = Self.runsAtExit
            Self.all.withLock { $0.append(self) }
        }
    }
#endif
