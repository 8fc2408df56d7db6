#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// The identity of a thread, for comparisons.
struct ThreadIdentity: Equatable, Sendable {
    private let value: UInt

    /// Returns the identity of the calling thread.
    ///
    /// The function is never inlined: the optimizer treats `pthread_self` as a constant, but its value may change at an
    /// `await`. To be called in synchronous code only.
    @inline(never)
    static func current() -> ThreadIdentity {
        #if canImport(Darwin)
            ThreadIdentity(value: UInt(bitPattern: pthread_self()))
        #else
            ThreadIdentity(value: UInt(pthread_self()))
        #endif
    }
}
