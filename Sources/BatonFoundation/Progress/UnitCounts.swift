/// The counts of a progress that say the same fraction, however they are made of children: a `Progress` without
/// children, or the report of a body, has nothing else.
struct UnitCounts: Hashable {
    /// Of how many parts a unit is made when the fraction lies between two units.
    private static let scale: Int64 = 1000

    var completed: Int64
    /// Below 0: nobody knows. As in Foundation.
    var total: Int64

    /// - Parameters:
    ///   - total: Not positive: nobody knows.
    ///   - fraction: Includes what children have reached that have not finished. It counts if it is not that of the
    ///     counts.
    ///   - isOver: Else it never says that all is done: Foundation takes that as the end, and it may go back.
    init(completed: Int64, total: Int64, fraction: Double, isOver: Bool) {
        guard total > 0 else {
            self.init(completed: max(completed, 0), total: -1)
            return
        }
        let completed = min(max(completed, 0), total)
        let isExact = abs(Double(completed) / Double(total) - fraction) < 1e-9
        if isExact, isOver || completed < total {
            self.init(completed: completed, total: total)
            return
        }
        let (parts, overflows) = total.multipliedReportingOverflow(by: Self.scale)
        let fine = overflows ? total : parts
        let reached = Int64(exactly: (min(max(fraction, 0), 1) * Double(fine)).rounded()) ?? fine
        self.init(completed: min(reached, isOver ? fine : fine - 1), total: fine)
    }

    private init(completed: Int64, total: Int64) {
        self.completed = completed
        self.total = total
    }

    /// All is done, and nobody had said how much there was.
    static func done(_ completed: Int64) -> Self { Self(completed: max(completed, 1), total: max(completed, 1)) }
}
