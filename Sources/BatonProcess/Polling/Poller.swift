internal import Baton
internal import CBatonProcess

/// One thread that waits until descriptors are ready, for all tasks that want to know.
///
/// It is started with the first program and stays, asleep while nobody waits. `poll` and not `epoll` or `kqueue`,
/// because it is everywhere, and because the few descriptors of the programs that run at a time are listed in
/// microseconds.
final class Poller: Sendable {
    typealias Ticket = PollTable<Wakeup>.Ticket
    typealias Interest = PollTable<Wakeup>.Interest

    private let table = Locked(PollTable<Wakeup>())
    private let bell: PipeEnds
    private let pause: @Sendable () -> Void

    private static let running = Locked<Poller?>(nil)

    /// That of the process. It is made in the first call that can make it.
    static func shared() throws(SystemFailure) -> Poller {
        if let running = running.withLock({ $0 }) { return running }
        let mine = try Poller()
        let first = running.withLock { running in
            if running == nil { running = mine }
            return running ?? mine
        }
        // Two were first: the thread of one of them ends.
        if first !== mine { mine.close() }
        return first
    }

    /// - Parameter pause: Between a poll that failed and the next.
    init(
        start: (String?, @escaping @Sendable () -> Void) -> Bool = { name, body in PosixThread.start(name, body) },
        pause: @escaping @Sendable () -> Void = { baton_pause(10) }
    ) throws(SystemFailure) {
        self.pause = pause
        bell = try PipeEnds()
        for end in [bell.reading, bell.writing] { try end.neverWait() }
        if !start("baton-poll", { [self] in work() }) { throw SystemFailure(code: baton_again) }
    }

    /// `wakeup` ends with true when the descriptor is ready, at its end, or of no use. It must not be closed before
    /// that, or before it has been taken out.
    func add(_ wakeup: Wakeup, for interest: Interest, on descriptor: Descriptor) -> Ticket {
        let (ticket, mustWake) = table.withLock { $0.add(wakeup, for: interest, on: descriptor.number) }
        if mustWake { ring() }
        return ticket
    }

    func remove(_ ticket: Ticket) { table.withLock { $0.remove(ticket) } }

    /// The thread ends. Nobody may wait.
    func close() {
        if table.withLock({ $0.close() }) { ring() }
    }

    /// For tests.
    var waiterCount: Int { table.withLock { $0.count } }

    // MARK: The thread

    /// A full pipe rings already.
    private func ring() {
        var byte: UInt8 = 0
        _ = baton_write(bell.writing.number, &byte, 1)
    }

    private func work() {
        while let round = table.withLock({ $0.nextRound() }) {
            var watches = [baton_watch(descriptor: bell.reading.number, wanted: baton_readable, found: 0)]
            for watch in round {
                let wanted = watch.interest == .reading ? baton_readable : baton_writable
                watches.append(baton_watch(descriptor: watch.descriptor, wanted: wanted, found: 0))
            }
            // No memory, or more descriptors than the process may have by now: that may pass, and to ask at once again
            // would take a whole core.
            if baton_poll(&watches, watches.count) != 0 { pause() }
            if watches[0].found != 0 { silence() }
            let ready = zip(round, watches.dropFirst()).filter { $1.found != 0 }.map { $0.0.ticket }
            for wakeup in table.withLock({ $0.endRound(ready: ready) }) { wakeup.end(true) }
        }
    }

    private func silence() {
        withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { buffer in
            guard let start = buffer.baseAddress else { return }
            while baton_read(bell.reading.number, start, buffer.count) > 0 {}
        }
    }
}
