internal import CBaton

extension AnyOperation {
    /// To the queue that it was added to, else to standard error. Outside every lock.
    final func report(_ misuse: Misuse) {
        if let core = QueueDirectory.find(queueNumber) { core.report(misuse) } else { Misuse.complain(misuse) }
        tellMisuse(misuse)
    }
}

extension QueueCore {
    func report(_ misuse: Misuse) { (misuseHandler.withLock { $0 } ?? Misuse.complain)(misuse) }

    /// Somebody gave an operation to this queue, which may be another one's.
    func report(_ misuse: Misuse, of operation: AnyOperation) {
        report(misuse)
        operation.tellMisuse(misuse)
    }
}

extension Misuse {
    /// One line on standard error.
    @Sendable
    static func complain(_ misuse: Misuse) { baton_complain("Baton: \(misuse)") }
}
