#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// True under `make test`, which runs a small part of the random graphs. `make test-all` runs everything.
private let isQuick = getenv("BATON_STRESS").flatMap { Double(String(cString: $0)) } ?? 1 < 1

/// A number that is large enough to overflow a stack, and to reveal quadratic time: 100,000. `make test` uses a tenth
/// of it, and so do tests with sanitizers, which are many times slower.
let veryMany: Int = {
    #if BATON_SANITIZED
        10_000
    #else
        isQuick ? 10_000 : 100_000
    #endif
}()

/// Returns how many rounds of a test, schedules or seeds to try: a fifth of them under `make test`.
func tries(_ usual: Int) -> Int { isQuick ? usual / 5 : usual }
