/// Reports an operation that somebody awaits and nobody adds: the task that awaits it would wait for ever, without a
/// word.
extension AnyOperation {
    /// How long an awaited operation has to be added.
    private static let timeToBeAdded = Duration.seconds(1)

    /// Somebody awaits this operation, which nobody has added.
    final func noteAwaitedBeforeAdding() {
        guard withLife({ $0.phase == .created && $0.madeDetails().noteFirstWaitBeforeAdding() }) else { return }
        // Made here: to make a weak reference on the thread of the timers could release the operation there, with what
        // is the user's.
        let check: @Sendable () async -> Void = { [weak self] in self?.reportIfNotAdded() }
        TimerThread.shared.call(after: Self.timeToBeAdded) { TaskFactory.services.spawn(check) }
    }

    final func reportIfNotAdded() {
        if withLife({ $0.phase == .created }) { report(Misuse(.awaitedBeforeAdding, operation: reference)) }
    }
}
