/// Which seeds an exploration goes through.
struct SeedPlan: Equatable, Sequence {
    private let first: UInt64
    private let count: Int

    /// - Parameter chosen: the text of `BATON_SEED`, which is then the only seed.
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

    /// After the greatest seed comes 0.
    func makeIterator() -> some IteratorProtocol<UInt64> {
        (0..<count).lazy.map { first &+ UInt64($0) }.makeIterator()
    }
}
