import Baton

/// What came last of the events of one operation, and what must not come after it (G27).
struct EventOrder {
    private var number: UInt64 = 0
    private var rank = -1
    private var isCancelled = false
    private var isRetrying = false
    /// What came before, nobody has told.
    private var isLate = false

    init(isLate: Bool = false) { self.isLate = isLate }

    /// Nil: it comes when it may.
    ///
    /// `runsAgain`: nobody says so before.
    mutating func fault(in event: OperationEvent, runsAgain: Bool) -> String? {
        if event.number <= number { return "event \(event.number) after event \(number)" }
        number = event.number
        switch event.kind {
        case .added: return reach(0)
        case .waiting: return reach(1)
        case .evaluating: return reach(2)
        case .ready:
            if isRetrying || runsAgain, rank == 4 { rank = 2 }
            isRetrying = false
            return reach(3)
        case .started: return isRetrying ? "started again and not ready" : reach(4)
        case .finished: return reach(5)
        case .progress, .produced:
            noteThatItRuns()
            return rank == 4 && !isRetrying ? nil : "\(event.kind) when it does not run"
        case .retrying:
            noteThatItRuns()
            defer { isRetrying = true }
            return rank == 4 && !isRetrying && !isCancelled ? nil : "retrying, and it does not run, or is cancelled"
        case .cancelRequested:
            defer { isCancelled = true }
            return isCancelled || rank > 4 || rank < 0 && !isLate ? "cancelled again, or when it is not there" : nil
        case .misuse: return nil
        case .dropped: return "there is nothing to be dropped"
        }
    }

    /// Of one that was observed late.
    private mutating func noteThatItRuns() {
        if isLate { rank = 4 }
        isLate = false
    }

    private mutating func reach(_ next: Int) -> String? {
        defer { (rank, isLate) = (next, false) }
        return next > rank && (rank >= 0 || next == 0 || isLate) ? nil : "step \(next) after step \(rank)"
    }
}
