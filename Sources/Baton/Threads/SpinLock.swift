internal import CBaton
internal import Synchronization

#if canImport(Darwin)
    /// A lock for steps of some nanoseconds that hardly ever meet. Here the system's: a thread that waits for it lends
    /// its priority to the one that holds it.
    struct SpinLock: ~Copyable {
        private let state = Locked(())

        @inline(__always)
        borrowing func withLock<Result, Failure: Error>(_ step: () throws(Failure) -> Result) throws(Failure) -> Result
        {
            try state.withLock { _ throws(Failure) in try step() }
        }
    }
#else
    /// A lock for steps of some nanoseconds that hardly ever meet: one atomic step to take it, and a plain store to
    /// give it back.
    ///
    /// Who finds it taken looks again for a few microseconds, and then sleeps between looks. Nobody is woken, so who
    /// gives it back need not find out whether anybody waits, which is the second atomic step of a `Mutex`.
    ///
    /// Ordering: taking it acquires what giving it back has released, so a step sees all that the steps before it did.
    /// The store is the last that a step does with the lock: who takes it next may free it.
    struct SpinLock: ~Copyable {
        private let isTaken = Atomic<Bool>(false)

        @inline(__always)
        borrowing func withLock<Result, Failure: Error>(_ step: () throws(Failure) -> Result) throws(Failure) -> Result
        {
            if !take() { wait() }
            defer { isTaken.store(false, ordering: .releasing) }
            return try step()
        }

        @inline(__always)
        private borrowing func take() -> Bool { !isTaken.exchange(true, ordering: .acquiring) }

        /// Looks before it tries, which would take the cache line away from the one that is to give it back.
        @inline(never)
        private borrowing func wait() {
            var looks: UInt32 = 0
            repeat {
                while isTaken.load(ordering: .relaxed) {
                    baton_wait_briefly(looks)
                    looks += 1
                }
            } while !take()
        }
    }
#endif
