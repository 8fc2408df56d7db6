internal import CBaton

/// The place of a call in the user's source.
struct CallSite: Sendable, CustomStringConvertible {
    let file: StaticString
    let line: UInt

    var description: String { "\(file):\(line)" }
}

extension AnyOperation {
    /// Reports a misuse to the queue that the operation was added to, otherwise to standard error. Call this outside
    /// every lock.
    final func report(_ misuse: Misuse) {
        if let core = QueueDirectory.find(queueNumber) {
            core.report(misuse)
        } else {
            Misuse.writeToStandardError(misuse)
        }
        publishMisuse(misuse)
    }
}

extension QueueCore {
    func report(_ misuse: Misuse) { (misuseHandler.withLock { $0 } ?? Misuse.writeToStandardError)(misuse) }

    /// Reports a misuse of an operation that was given to this queue, but may belong to another one.
    func report(_ misuse: Misuse, of operation: AnyOperation) {
        report(misuse)
        operation.publishMisuse(misuse)
    }
}

extension Misuse {
    /// Writes one line to standard error.
    @Sendable
    static func writeToStandardError(_ misuse: Misuse) { baton_complain("Baton: \(misuse)") }
}

/// Reports operations that a task awaits and nobody adds, because such a task would wait forever without a message.
extension AnyOperation {
    /// The time within which an awaited operation has to be added.
    private static let timeToBeAdded = Duration.seconds(1)

    /// Schedules a check of whether the operation has been added. Call this when a task begins to wait for an operation
    /// in phase `created`.
    final func scheduleNotAddedCheck() {
        guard withLife({ $0.phase == .created && $0.ensureOptionalState().noteFirstWaitBeforeAdding() }) else { return }
        // Captures `self` weakly on this thread. If the timer thread did so, it could hold the last strong reference,
        // and would run the deinitializers of the user's objects.
        let check: @Sendable () async -> Void = { [weak self] in self?.reportIfNotAdded() }
        TimerThread.shared.call(after: Self.timeToBeAdded) { TaskFactory.services.spawn(check) }
    }

    final func reportIfNotAdded() {
        if withLife({ $0.phase == .created }) { report(Misuse(.awaitedBeforeAdding, operation: reference)) }
    }
}
