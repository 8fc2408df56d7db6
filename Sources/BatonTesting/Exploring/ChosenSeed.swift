#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// The environment variable `BATON_SEED`, nil if it is not set.
func chosenSeed() -> String? {
    getenv("BATON_SEED").map { String(cString: $0) }
}
