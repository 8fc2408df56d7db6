/// An observer that writes a line for every step that an operation takes.
///
/// ```swift
/// queue.addObserver(BatonDebugger())
/// // Download added to queue
/// // Download executed
/// // Download finished (success after 1.5 seconds)
/// ```
///
/// Nothing is written unless a debugger is added to a queue or to an operation. The time is that since the first start,
/// on the queue's clock; it is left out for an operation that never started. The lines are those of AOperation's
/// debugger.
public final class BatonDebugger: OperationObserver {
    private let write: @Sendable (String) -> Void
    /// The times of the first starts, by the ids of the operations.
    private let starts = Locked<[UInt64: Duration]>([:])

    /// Creates a debugger that writes lines to standard output.
    public convenience init() { self.init { print($0) } }

    /// Creates a debugger that passes each line to a closure, for a log or a test.
    ///
    /// - Parameter write: Called on the observer's task, with one line at a time, without a line break. A debugger that
    ///   observes several queues or operations calls it on several tasks at once.
    public init(writingTo write: @escaping @Sendable (_ line: String) -> Void) { self.write = write }

    /// Writes the line of the event, if there is one for its kind.
    ///
    /// - Parameter event: The event that happened.
    public func observe(_ event: OperationEvent) async {
        if let line = line(for: event) { write("\(event.operation.name) \(line)".singleLine) }
    }

    private func line(for event: OperationEvent) -> String? {
        switch event.kind {
        case .added: return "added to queue"
        case .started(let attempt):
            starts.withLock { starts in
                if starts[event.operation.id] == nil { starts[event.operation.id] = event.time }
            }
            return attempt == 1 ? "executed" : "executed again (attempt \(attempt))"
        case .retrying(let attempt, let error, let delay):
            return "will be executed again in \(delay), because attempt \(attempt) failed: \(error)"
        case .repeating(let delay): return "will be executed again in \(delay)"
        case .produced(let product): return "produced \(product.name)"
        case .cancelRequested: return "cancelled"
        case .finished(_, error: .skipped(.duplicate(let other))):
            return "ignored because of uniqueId (\(other.name) is there)"
        case .finished(let outcome, let error):
            let start = starts.withLock { $0.removeValue(forKey: event.operation.id) }
            let time = start.map { " after \(event.time - $0)" } ?? ""
            return "finished (\(outcome)\(time)\(error.map { ": \($0)" } ?? ""))"
        case .misuse(let misuse): return "was misused: \(misuse)"
        case .dropped(let count): return "and others: \(count) events dropped"
        case .waiting, .delayed, .evaluating, .ready, .acquiring, .excluded, .waitingForRate, .granted, .progress:
            return nil
        }
    }
}
