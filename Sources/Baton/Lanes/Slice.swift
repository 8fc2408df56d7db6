/// How long a lane keeps its thread before it lets others have it.
struct Slice {
    private static let length = Duration.microseconds(500)
    private static let longestStride = 32
    private static let stepsWhenCounting = 64

    private let byCount: Bool
    private var start: SuspendingClock.Instant?
    /// Operations between two looks at the clock, and until the next one.
    private var stride = 4
    private var left: Int

    init(byCount: Bool) {
        self.byCount = byCount
        left = byCount ? Self.stepsWhenCounting : stride
        restart()
    }

    mutating func restart() { start = byCount ? nil : SuspendingClock.now }

    /// After every operation. True: the slice is over.
    @inline(__always)
    mutating func isOver() -> Bool {
        left -= 1
        return left == 0 && look()
    }

    @inline(never)
    private mutating func look() -> Bool {
        guard let start else {
            left = Self.stepsWhenCounting
            return true
        }
        let used = start.duration(to: SuspendingClock.now)
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
