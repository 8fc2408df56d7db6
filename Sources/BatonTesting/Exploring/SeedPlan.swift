#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// The seeds that an exploration runs.
struct SeedPlan: Equatable, Sequence {
    private let first: UInt64
    private let count: Int

    /// Makes the plan of an exploration.
    ///
    /// - Parameters:
    ///   - schedules: The number of seeds.
    ///   - first: The first seed.
    ///   - chosen: The value of `BATON_SEED`, which is then the only seed, or nil if it is not set.
    /// - Throws: `malformedSeed` if `chosen` is not a number, `noSchedules` if `schedules` is less than 1.
    init(schedules: Int, from first: UInt64, chosen: String?) throws(ScheduleError) {
        guard let chosen, !chosen.isEmpty else {
            if schedules < 1 { throw .noSchedules(schedules) }
            self.first = first
            count = schedules
            return
        }
        let seed = chosen.hasPrefix("0x") ? UInt64(chosen.dropFirst(2), radix: 16) : UInt64(chosen)
        guard let seed else { throw .malformedSeed(chosen) }
        self.first = seed
        count = 1
    }

    /// The seeds wrap around: the greatest seed is followed by 0.
    func makeIterator() -> some IteratorProtocol<UInt64> {
        (0..<count).lazy.map { first &+ UInt64($0) }.makeIterator()
    }
}

/// Returns the value of the environment variable `BATON_SEED`, or nil if it is not set.
func chosenSeed() -> String? {
    getenv("BATON_SEED").map { String(cString: $0) }
}
