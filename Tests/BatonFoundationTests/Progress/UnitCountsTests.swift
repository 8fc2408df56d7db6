import Testing

@testable import BatonFoundation

@Suite struct UnitCountsTests {
    @Test(
        arguments: [
            // The counts are passed on unchanged.
            (3, 10, 0.3, false, 3, 10), (0, 10, 0, false, 0, 10), (10, 10, 1, true, 10, 10),
            // Children have completed part of a unit.
            (0, 1, 0.25, false, 250, 1000), (3, 10, 0.35, false, 3500, 10000), (0, 4, 0.9999, false, 4000, 4000),
            // All units are completed, but the operation has not finished.
            (10, 10, 1, false, 9999, 10000),
            // The total is unknown.
            (7, -1, 0, false, 7, -1), (7, 0, 0, false, 7, -1), (-3, -1, 0, false, 0, -1),
            // The counts are out of range.
            (12, 10, 1, true, 10, 10), (-2, 10, 0, false, 0, 10), (1, 2, 7, true, 2000, 2000),
            (.max, .max, 1, true, .max, .max), (.max, .max, 1, false, .max - 1, .max),
        ] as [(Int64, Int64, Double, Bool, Int64, Int64)])
    func theySayTheFraction(
        completed: Int64, total: Int64, fraction: Double, isComplete: Bool, expected: Int64, ofTotal: Int64
    ) {
        let counts = UnitCounts(completed: completed, total: total, fraction: fraction, isComplete: isComplete)
        // 3999.6 is rounded to the total, and then reduced by 1, because the operation has not finished.
        let held = !isComplete && expected == ofTotal && ofTotal > 0 ? expected - 1 : expected
        #expect(counts.completed == held)
        #expect(counts.total == ofTotal)
    }

    @Test func doneMeansAllUnits() {
        #expect(UnitCounts.done(0) == UnitCounts(completed: 1, total: 1, fraction: 1, isComplete: true))
        #expect(UnitCounts.done(7) == UnitCounts(completed: 7, total: 7, fraction: 1, isComplete: true))
    }
}
