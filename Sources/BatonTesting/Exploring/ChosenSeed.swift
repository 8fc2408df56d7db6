#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// Returns the value of the environment variable `BATON_SEED`, or nil if it is not set.
func chosenSeed() -> String? {
    getenv("BATON_SEED").map { String(cString: $0) }
}
