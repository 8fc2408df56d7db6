internal import Baton
internal import CBatonProcess

/// A thread that polls descriptors for all tasks that wait for one.
///
/// ``shared()`` starts the thread when the first program is launched. The thread runs until this process ends, and
/// sleeps while no task waits. It uses `poll` and not `epoll` or `kqueue`, because `poll` exists on every platform, and
/// the few descriptors of the programs that run at a time can be listed in microseconds.
final class Poller: Sendable {
    typealias Ticket = PollerStateMachine<Wakeup>.Ticket
    typealias Interest = PollerStateMachine<Wakeup>.Interest

    private let machine = Locked(PollerStateMachine<Wakeup>())
    private let wakeUpPipe: PipeEnds
    private let pause: @Sendable () -> Void

    private static let running = Locked<Poller?>(nil)

    /// Returns the poller of this process, which the first successful call makes.
    static func shared() throws(SystemFailure) -> Poller {
        if let running = running.withLock({ $0 }) { return running }
        let mine = try Poller()
        let first = running.withLock { running in
            if running == nil { running = mine }
            return running ?? mine
        }
        // Two threads have made a poller at once: the thread of the surplus one ends.
        if first !== mine { mine.close() }
        return first
    }

    /// Makes the poller and starts its thread.
    ///
    /// - Parameters:
    ///   - start: Starts a named thread, and returns false if it cannot. Tests replace it.
    ///   - pause: Blocks the thread after a failed poll, by default for 10 ms. Tests replace it.
    /// - Throws: A `SystemFailure` if the pipe or the thread cannot be made.
    init(
        start: (String?, @escaping @Sendable () -> Void) -> Bool = { name, body in PosixThread.start(name, body) },
        pause: @escaping @Sendable () -> Void = { baton_sleep_milliseconds(10) }
    ) throws(SystemFailure) {
        self.pause = pause
        wakeUpPipe = try PipeEnds()
        for end in [wakeUpPipe.reading, wakeUpPipe.writing] { try end.makeNonBlocking() }
        if !start("baton-poll", { [self] in work() }) { throw SystemFailure(code: baton_EAGAIN) }
    }

    /// Ends `wakeup` with true when the descriptor is ready, at its end, or invalid. The caller may close the
    /// descriptor once `wakeup` has ended or the ticket has been removed.
    func add(_ wakeup: Wakeup, for interest: Interest, on descriptor: Descriptor) -> Ticket {
        let (ticket, mustWake) = machine.withLock { $0.add(wakeup, for: interest, on: descriptor.number) }
        if mustWake { wakeUp() }
        return ticket
    }

    /// Ends the watch on the descriptor, unless it has ended already.
    func remove(_ ticket: Ticket) { if machine.withLock({ $0.remove(ticket) }) { wakeUp() } }

    /// Ends the thread. No task may wait at this time.
    func close() {
        assert(waiterCount == 0, "Internal inconsistency: a task waits for a poller that is closed")
        if machine.withLock({ $0.close() }) { wakeUp() }
    }

    /// The number of waiting tasks, for tests.
    var waiterCount: Int { machine.withLock { $0.count } }

    // MARK: Thread

    /// Wakes the thread. A full pipe makes the write fail, which does no harm: the unread bytes wake the thread.
    private func wakeUp() {
        var byte: UInt8 = 0
        _ = baton_write(wakeUpPipe.writing.number, &byte, 1)
    }

    private func work() {
        while let round = machine.withLock({ $0.nextRound() }) {
            var watches = [baton_watch(descriptor: wakeUpPipe.reading.number, events: baton_readable, revents: 0)]
            for watch in round {
                let wanted = watch.interest == .reading ? baton_readable : baton_writable
                watches.append(baton_watch(descriptor: watch.descriptor, events: wanted, revents: 0))
            }
            // The poll fails if memory is short, or if the limit of descriptors was lowered below their number. Either
            // may be temporary. The pause keeps the thread from taking a whole core if it lasts.
            if baton_poll(&watches, watches.count) != 0 { pause() }
            if watches[0].revents != 0 { drain() }
            let ready = zip(round, watches.dropFirst()).filter { $1.revents != 0 }.map { $0.0.ticket }
            for wakeup in machine.withLock({ $0.endRound(ready: ready) }) { wakeup.end(true) }
        }
    }

    private func drain() {
        withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { buffer in
            guard let start = buffer.baseAddress else { return }
            while baton_read(wakeUpPipe.reading.number, start, buffer.count) > 0 {}
        }
    }
}
