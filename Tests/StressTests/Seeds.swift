#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// What the environment says about how much and from which seed.
enum Seeds {
    /// `BATON_STRESS` times the usual rounds; 0.1 is a tenth of them.
    static func rounds(_ usual: Int) -> Int { max(1, Int(Double(usual) * factor)) }

    private static let factor = getenv("BATON_STRESS").flatMap { Double(String(cString: $0)) } ?? 1

    /// `BATON_SEED`: the only seed.
    static let chosen = number("BATON_SEED")

    /// `BATON_STRESS_MILLION`: a debug build runs a million operations, too, where it would run fewer.
    static let wantsMillion = number("BATON_STRESS_MILLION") == 1

    /// So many rounds, each with a seed of its own; or, if the environment chose a seed, all with that.
    ///
    /// The first that fails is printed.
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
