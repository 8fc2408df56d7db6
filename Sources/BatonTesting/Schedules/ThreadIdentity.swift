#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// A thread, to be compared with another.
struct ThreadIdentity: Equatable, Sendable {
    private let value: UInt

    /// The calling thread.
    ///
    /// Never inlined: to the optimizer `pthread_self` is a constant, which it is not from one end of an `await` to the
    /// other. Ask in synchronous code only.
    @inline(never)
    static func current() -> ThreadIdentity {
        #if canImport(Darwin)
            ThreadIdentity(value: UInt(bitPattern: pthread_self()))
        #else
            ThreadIdentity(value: UInt(pthread_self()))
        #endif
    }
}
