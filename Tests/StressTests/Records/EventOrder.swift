import Baton

/// What came last of the events of one operation, and what must not come after it (G27).
struct EventOrder {
    private var number: UInt64 = 0
    private var rank = -1
    private var isCancelled = false

    /// Nil: it comes when it may.
    mutating func fault(in event: OperationEvent) -> String? {
        if event.number <= number { return "event \(event.number) after event \(number)" }
        number = event.number
        switch event.kind {
        case .added: return reach(0)
        case .waiting: return reach(1)
        case .evaluating: return reach(2)
        case .ready: return reach(3)
        case .started: return reach(4)
        case .finished: return reach(5)
        case .progress, .produced, .retrying: return rank == 4 ? nil : "\(event.kind) when it does not run"
        case .cancelRequested:
            defer { isCancelled = true }
            return isCancelled || rank > 4 || rank < 0 ? "cancelled again, or when it is not there" : nil
        case .misuse: return nil
        case .dropped: return "there is nothing to be dropped"
        }
    }

    private mutating func reach(_ next: Int) -> String? {
        defer { rank = next }
        return next > rank && (rank >= 0 || next == 0) ? nil : "step \(next) after step \(rank)"
    }
}
