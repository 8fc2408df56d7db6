#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A number that is large enough to overflow a stack, and to reveal quadratic time: 100,000. `make test`, which runs a
/// part of the random graphs, uses a fifth of it. Sanitizers are many times slower, and use a tenth.
let veryMany: Int = {
    #if BATON_SANITIZED
        10_000
    #else
        getenv("BATON_STRESS").flatMap { Double(String(cString: $0)) } ?? 1 < 1 ? 20_000 : 100_000
    #endif
}()
