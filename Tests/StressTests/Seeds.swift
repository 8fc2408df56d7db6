#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The numbers of rounds and the seeds that the environment selects.
enum Seeds {
    /// Returns the number of rounds, multiplied by `BATON_STRESS`: 0.1 is a tenth of them.
    static func rounds(_ usual: Int) -> Int { max(1, Int(Double(usual) * factor)) }

    private static let factor = getenv("BATON_STRESS").flatMap { Double(String(cString: $0)) } ?? 1

    /// The only seed, from `BATON_SEED`.
    static let chosen = number("BATON_SEED")

    /// True if `BATON_STRESS_MILLION` is 1: a debug build then runs a million operations where it would run fewer.
    static let wantsMillion = number("BATON_STRESS_MILLION") == 1

    /// Runs the given number of rounds, each with a different seed, or all with the seed that the environment selects.
    ///
    /// The seed of the first round that fails is printed.
    static func forEach(_ rounds: Int, from first: Int, _ round: (UInt64) async throws -> Void) async throws {
        for number in 0..<UInt64(Self.rounds(rounds)) {
            let seed = chosen ?? UInt64(first) * 1_000_000_000 + number
            do {
                try await round(seed)
            } catch {
                print("Seed \(seed): \(error)")
                throw error
            }
        }
    }

    private static func number(_ name: String) -> UInt64? { getenv(name).flatMap { UInt64(String(cString: $0)) } }
}
