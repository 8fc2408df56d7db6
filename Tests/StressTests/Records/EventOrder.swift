import Baton

/// The last event of one operation, and which events must not follow it (G27).
struct EventOrder {
    private var number: UInt64 = 0
    private var rank = -1
    private var isCancelled = false
    private var isPaused = false
    /// True if the observer came late and has missed earlier events.
    private var isLate = false

    init(isLate: Bool = false) { self.isLate = isLate }

    /// Records the event. Returns a description of the fault, or nil if the event may occur now.
    mutating func fault(in event: OperationEvent) -> String? {
        if event.number <= number { return "event \(event.number) after event \(number)" }
        number = event.number
        switch event.kind {
        case .added: return reach(0)
        case .waiting: return reach(1)
        case .delayed, .acquiring, .excluded, .waitingForRate, .granted:
            return rank < 4 || isPaused ? nil : "\(event.kind) when it runs"
        case .evaluating: return reach(2)
        case .ready:
            if isPaused, rank == 4 { rank = 2 }
            isPaused = false
            return reach(3)
        case .started: return isPaused ? "started again and not ready" : reach(4)
        case .finished: return reach(5)
        case .progress, .produced:
            noteThatItRuns()
            return rank == 4 && !isPaused ? nil : "\(event.kind) when it does not run"
        case .retrying, .repeating:
            noteThatItRuns()
            defer { isPaused = true }
            return rank == 4 && !isPaused && !isCancelled ? nil : "\(event.kind), and it does not run, or is cancelled"
        case .cancelRequested:
            defer { isCancelled = true }
            return isCancelled || rank > 4 || rank < 0 && !isLate ? "cancelled again, or when it is not there" : nil
        case .misuse: return nil
        case .dropped: return "there is nothing to be dropped"
        }
    }

    /// A late observer concludes from such an event that the operation is running.
    private mutating func noteThatItRuns() {
        if isLate { rank = 4 }
        isLate = false
    }

    private mutating func reach(_ next: Int) -> String? {
        defer { (rank, isLate) = (next, false) }
        return next > rank && (rank >= 0 || next == 0 || isLate) ? nil : "step \(next) after step \(rank)"
    }
}
