/// Counts that express the fraction of a progress without its children. A `Progress` without children, or the report of
/// a body, can express a fraction by its counts alone.
struct UnitCounts: Hashable {
    /// The number of parts of a unit, used when the fraction lies between two units.
    private static let scale: Int64 = 1000

    var completed: Int64
    /// The total, or a negative number if it is unknown, as in Foundation.
    var total: Int64

    /// - Parameters:
    ///   - total: The total. If it is not positive, it is unknown.
    ///   - fraction: The fraction, including the part that unfinished children have completed. It takes precedence if
    ///     it differs from that of the counts.
    ///   - isComplete: Whether the work is complete. If false, the counts stay below the total, because Foundation
    ///     takes equal counts for the end, and the progress may still go back.
    init(completed: Int64, total: Int64, fraction: Double, isComplete: Bool) {
        guard total > 0 else {
            self.init(completed: max(completed, 0), total: -1)
            return
        }
        let completed = min(max(completed, 0), total)
        let isExact = abs(Double(completed) / Double(total) - fraction) < 1e-9
        if isExact, isComplete || completed < total {
            self.init(completed: completed, total: total)
            return
        }
        let (parts, overflows) = total.multipliedReportingOverflow(by: Self.scale)
        let fine = overflows ? total : parts
        let reached = Int64(exactly: (min(max(fraction, 0), 1) * Double(fine)).rounded()) ?? fine
        self.init(completed: min(reached, isComplete ? fine : fine - 1), total: fine)
    }

    private init(completed: Int64, total: Int64) {
        self.completed = completed
        self.total = total
    }

    /// Returns the counts of completed work whose total was never known.
    static func done(_ completed: Int64) -> Self { Self(completed: max(completed, 1), total: max(completed, 1)) }
}
