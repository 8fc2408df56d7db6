/// The numbers that a live view shows. Their memory is bounded by the numbers of stages and kept failures, and by
/// ``LiveModel/maxNewFailures``.
struct LiveSnapshot: Sendable, Equatable {
    /// True if the queue is suspended.
    var isSuspended = false
    /// The stages, in the order in which their first operations appeared.
    var stages: [LiveStage] = []
    /// The numbers of all stages together.
    var whole = LiveStage(name: "all")
    /// The most recent failures that no other failure has caused, the oldest first.
    var failures: [LiveFailure] = []
    /// The first 10,000 such failures since the previous snapshot.
    var newFailures: [LiveFailure] = []
    /// The number of failures since the previous snapshot beyond those in ``newFailures``.
    var unreportedFailures = 0
    /// The number of operations that have failed since the previous snapshot because an operation that they needed had
    /// failed.
    var newDependencyFailures = 0
}

/// The numbers of the operations that belong to one stage.
struct LiveStage: Sendable, Equatable {
    let name: String
    var waiting = 0
    /// The number of waiting operations that wait for an exclusion.
    var excluded = 0
    /// The number of waiting operations that wait for a rate.
    var paced = 0
    /// The exclusion or the rate, if all operations that wait for one wait for the same.
    private(set) var obstacle: LiveObstacle?
    var running = 0
    var done = 0
    var failed = 0
    var cancelled = 0
    var skipped = 0
    /// The time of the first start, since the view was made.
    var begin: Duration?
    /// The time of the last outcome, since the view was made.
    var end: Duration?
    var rate = LiveRate()

    init(name: String) { self.name = name }

    var finished: Int { done + failed + cancelled + skipped }
    var unfinished: Int { waiting + running }
    var total: Int { finished + unfinished }
    /// True if operations have finished, and none is unfinished.
    var isOver: Bool { unfinished == 0 && finished > 0 }

    /// Sets `obstacle` to the only obstacle, or to nil if there are none or several.
    ///
    /// - Parameter counts: The number of operations that wait for each obstacle.
    mutating func updateObstacle(from counts: [LiveObstacle: Int]) {
        obstacle = counts.count == 1 ? counts.first?.key : nil
    }

    /// The estimated time left: zero if nothing is unfinished, nil if it is unknown.
    var timeLeft: Duration? { unfinished == 0 ? .zero : rate.time(for: unfinished) }

    mutating func recordStart(at now: Duration) {
        if begin == nil { begin = now }
        rate.begin(at: now)
    }

    mutating func recordOutcome(_ outcome: LiveChange.Outcome, at now: Duration) {
        end = now
        switch outcome {
        case .done: done += 1
        case .failed, .failedAfter: failed += 1
        case .cancelled: cancelled += 1
        case .skipped: skipped += 1
        }
    }

    /// Updates the rate. It counts operations that have succeeded or failed, even if they failed without having run.
    /// Skipped and cancelled operations are not counted: a thousand operations that are skipped at once say nothing
    /// about the speed.
    mutating func tick(at now: Duration) { rate.tick(ended: done + failed, isBusy: running > 0, at: now) }
}

/// The name of an operation that failed, and the text of its error.
struct LiveFailure: Sendable, Equatable {
    let operation: String
    let text: String
}
