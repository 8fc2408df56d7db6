/// What a live view shows: numbers alone, whatever the number of operations.
struct LivePicture: Sendable, Equatable {
    /// Nothing new starts in the queue.
    var isSuspended = false
    /// In order of arrival.
    var stages: [LiveStage] = []
    /// Of all stages.
    var whole = LiveStage(name: "all")
    /// The last ones that no other failure explains, the oldest first.
    var failures: [LiveFailure] = []
    /// All such failures since the picture before this one.
    var newFailures: [LiveFailure] = []
    /// How many more there were than can be kept.
    var untoldFailures = 0
    /// How many operations have failed since then because one that they needed had failed.
    var newDependents = 0
}

/// Operations that belong together, in numbers.
struct LiveStage: Sendable, Equatable {
    let name: String
    var waiting = 0
    /// How many of those wait for an exclusion.
    var excluded = 0
    /// How many of those wait for a rate.
    var paced = 0
    /// The exclusion or the rate, if all of these wait for the same.
    private(set) var obstacle: LiveObstacle?
    var running = 0
    var done = 0
    var failed = 0
    var cancelled = 0
    var skipped = 0
    /// Of the first run.
    var begin: Duration?
    /// Of the last outcome.
    var end: Duration?
    var rate = LiveRate()

    init(name: String) { self.name = name }

    var finished: Int { done + failed + cancelled + skipped }
    var unfinished: Int { waiting + running }
    var total: Int { finished + unfinished }
    /// Has begun or ended, and nothing of it is left.
    var isOver: Bool { unfinished == 0 && finished > 0 }

    /// - Parameter counts: How many wait for what.
    mutating func nameObstacle(_ counts: [LiveObstacle: Int]) { obstacle = counts.count == 1 ? counts.first?.key : nil }

    /// Zero if nothing is left, nil if nobody knows.
    var timeLeft: Duration? { unfinished == 0 ? .zero : rate.time(for: unfinished) }

    mutating func starts(at now: Duration) {
        if begin == nil { begin = now }
        rate.begin(at: now)
    }

    mutating func ends(_ outcome: LiveChange.Outcome, at now: Duration) {
        end = now
        switch outcome {
        case .done: done += 1
        case .failed, .failedAfter: failed += 1
        case .cancelled: cancelled += 1
        case .skipped: skipped += 1
        }
    }

    /// What never ran is not counted: a thousand that are skipped at once are no speed.
    mutating func tick(at now: Duration) { rate.tick(ended: done + failed, isBusy: running > 0, at: now) }
}

/// An operation that failed, in words.
struct LiveFailure: Sendable, Equatable {
    let operation: String
    let text: String
}
