internal import CBaton

/// The time that a worker keeps its thread before it lets other tasks run.
struct TimeSlice {
    /// The length of a slice, in nanoseconds.
    private static let length: Int64 = 500_000
    private static let longestStride = 32
    private static let firstStride = 4
    private static let stepsWhenCounting = 64

    private let byCount: Bool
    private var start = Int64.zero
    /// The number of operations between two looks at the clock. `left` is the number until the next look.
    private var stride = firstStride
    private var left: Int

    init(byCount: Bool) {
        self.byCount = byCount
        left = byCount ? Self.stepsWhenCounting : stride
        restart()
    }

    /// True if the slice has looked at the clock and found that little time had passed.
    var bodiesAreShort: Bool { byCount || stride > Self.firstStride }

    mutating func restart() { if !byCount { start = baton_continuous_time() } }

    /// Counts an operation. Returns true if the slice is over.
    @inline(__always)
    mutating func isOver() -> Bool {
        left -= 1
        return left == 0 && look()
    }

    @inline(never)
    private mutating func look() -> Bool {
        if byCount {
            left = Self.stepsWhenCounting
            return true
        }
        let used = baton_continuous_time() - start
        let isOver = used >= Self.length
        if isOver {
            stride = max(1, stride / 2)
        } else if used * 2 < Self.length {
            stride = min(Self.longestStride, stride * 2)
        }
        left = stride
        return isOver
    }
}
