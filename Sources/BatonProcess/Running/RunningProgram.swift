internal import Baton
internal import CBatonProcess

/// A program that was started, until it has been reaped.
final class RunningProgram: Sendable {
    let wiring: StandardStreams
    /// Of its pipes. Closed when it has ended.
    let waits: WaitScope

    private let program: Subprocess
    private let pid: Int32
    /// Can be read when it has ended.
    private let exit: Descriptor
    /// Has its group ended if this process ends first.
    private let watch: Watchdog.Entry?
    private let life = Locked(ProgramLife())
    private let termination = Locked<SubprocessTermination?>(nil)
    private let readerHadEnded = Locked(false)
    private let hasBeenReaped = Wakeup()
    private let alarm = Locked<AsyncOperation<Void>?>(nil)

    /// For the alarms of programs whose clock is the system's.
    private static let alarms = AsyncOperationQueue.serving(name: "grace of programs")

    /// If its end cannot be watched, it is ended at once.
    init(_ program: Subprocess, _ start: Start) throws(SubprocessError) {
        self.program = program
        pid = start.pid
        wiring = start.wiring
        waits = WaitScope(start.poller)
        watch = start.watch
        start.reserve.close()
        do { exit = try .opened { [pid] in baton_exit_descriptor(pid, $0) } } catch {
            wiring.abandonFiles()
            // Its number may be somebody else's by now.
            if error == .noSuchProcess { throw .statusLost(program: program.program) }
            baton_signal_group(pid, baton_sigkill)
            watch?.forget()
            var (code, isSignal): (Int32, Int32) = (0, 0)
            _ = baton_reap(pid, &code, &isSignal)
            throw .notStarted(program: program.program, reason: error)
        }
    }

    /// Whether nobody read what this one writes when it ended, if its end depends on that. To be asked after
    /// ``ended()``.
    var readerWasFirst: Bool { readerHadEnded.withLock { $0 } }

    /// Why it was ended from here; nil if it was not.
    var endingReason: ProgramLife.Reason? { life.withLock { $0.reason } }

    // MARK: Its end

    /// Returns how it ended, when it has been reaped; nil if nobody knows. To be called once.
    func ended() async -> SubprocessTermination? {
        let wakeup = Wakeup()
        let ticket = waits.poller.add(wakeup, for: .reading, on: exit)
        _ = await wakeup.wait()
        waits.poller.remove(ticket)
        if let probe = wiring.readerProbe {
            if probe.hasNoReader { readerHadEnded.withLock { $0 = true } }
            // Not before: without it, the end of this program could be what has ended the reader.
            probe.close()
        }
        take(life.withLock { $0.exited() })
        // A signal may be on its way: then whoever sends it reaps.
        _ = await hasBeenReaped.wait()
        waits.close()
        stopAlarm()
        return termination.withLock { $0 }
    }

    /// Ends it, with its whole group. Called on any thread.
    func end(_ reason: ProgramLife.Reason) {
        let step = life.withLock { $0.end(reason) }
        guard step == .signal else { return }
        if program.grace > .zero { setAlarm() }
        signal(program.grace > .zero ? baton_sigterm : baton_sigkill)
    }

    private func signal(_ number: Int32) {
        baton_signal_group(pid, number)
        // One that was stopped would not see it.
        if number != baton_sigkill { baton_signal_group(pid, baton_sigcont) }
        take(life.withLock { $0.signalSent() })
    }

    private func take(_ step: ProgramLife.Step) {
        guard case .reap(let killsTheRest) = step else { return }
        if killsTheRest { baton_signal_group(pid, baton_sigkill) }
        // Before its number may be somebody else's.
        watch?.forget()
        var (code, isSignal): (Int32, Int32) = (0, 0)
        if baton_reap(pid, &code, &isSignal) == 0 {
            let end: SubprocessTermination = isSignal != 0 ? .signalled(code) : .exited(code)
            termination.withLock { $0 = end }
        }
        exit.close()
        hasBeenReaped.end(true)
    }

    // MARK: Its grace

    private func setAlarm() {
        let alarm = AsyncOperation<Void>.delay(program.grace)
        alarm.didFinish { [weak self] result in
            if case .success = result { self?.graceIsOver() }
        }
        self.alarm.withLock { $0 = alarm }
        let queue = program.clock is ContinuousClock ? Self.alarms : Self.makeQueue(clock: program.clock)
        queue.add(alarm)
        // Its end may have come in between, and would not have found it.
        if waits.isClosed { stopAlarm() }
    }

    private func stopAlarm() { alarm.withLock { $0.take() }?.cancel() }

    private static func makeQueue(clock: some Clock<Duration>) -> AsyncOperationQueue {
        .serving(name: "grace of a program", clock: clock)
    }

    private func graceIsOver() {
        if life.withLock({ $0.graceIsOver() }) == .signal { signal(baton_sigkill) }
    }
}
