internal import Baton
internal import CBatonProcess

/// A started program, until it has been reaped.
final class RunningProgram: Sendable {
    let streams: StandardStreams
    /// The waits for the program's pipes. The scope is closed when the program has ended.
    let waits: WaitScope

    private let program: Subprocess
    private let pid: Int32
    /// A descriptor that becomes readable when the program has ended.
    private let exit: Descriptor
    /// The watchdog's entry, which ends the program's process group if this process ends first.
    private let watch: Watchdog.Entry?
    private let machine = Locked(ProgramStateMachine())
    private let termination = Locked<SubprocessTermination?>(nil)
    private let readerHadEnded = Locked(false)
    private let hasBeenReaped = Wakeup()
    private let graceTimer = Locked<AsyncOperation<Void>?>(nil)

    /// The queue of the grace timers of programs that use the continuous clock.
    private static let graceTimers = AsyncOperationQueue.serving(name: "grace of programs")

    /// Watches a started program.
    ///
    /// - Throws: A `SubprocessError` if the end of the program cannot be watched. The program is killed then.
    init(_ program: Subprocess, _ process: LaunchedProcess) throws(SubprocessError) {
        self.program = program
        pid = process.pid
        streams = process.streams
        waits = WaitScope(process.poller)
        watch = process.watch
        process.reserve.close()
        do { exit = try .opened { [pid] in baton_exit_descriptor(pid, $0) } } catch {
            streams.abandonFiles()
            // The process was reaped by other code, so its number may belong to another process by now.
            if error == .noSuchProcess { throw .statusLost(program: program.program) }
            baton_signal_group(pid, baton_sigkill)
            watch?.forget()
            var (code, isSignal): (Int32, Int32) = (0, 0)
            _ = baton_reap(pid, &code, &isSignal)
            throw .notStarted(program: program.program, reason: error)
        }
    }

    /// True if the reader of this program's output was gone when the program ended. Only known with
    /// ``BrokenPipe/successWithAnyStatus``, and only after ``ended()`` has returned.
    var readerWasFirst: Bool { readerHadEnded.withLock { $0 } }

    /// The reason for which this process ended the program, or nil if it did not.
    var endingReason: ProgramStateMachine.Reason? { machine.withLock { $0.reason } }

    // MARK: Termination

    /// Waits until the program has been reaped. Returns how the program ended, or nil if its status was lost. To be
    /// called once.
    func ended() async -> SubprocessTermination? {
        let wakeup = Wakeup()
        let ticket = waits.poller.add(wakeup, for: .reading, on: exit)
        _ = await wakeup.wait()
        waits.poller.remove(ticket)
        if let probe = streams.readerProbe {
            if probe.hasNoReader { readerHadEnded.withLock { $0 = true } }
            // The probe is closed only now: closed earlier, the end of this program's output could have made the reader
            // end.
            probe.close()
        }
        perform(machine.withLock { $0.exited() })
        // If a thread is sending a signal, that thread reaps the program afterwards.
        _ = await hasBeenReaped.wait()
        waits.close()
        cancelGraceTimer()
        return termination.withLock { $0 }
    }

    /// Ends the program and its whole process group. May be called on any thread.
    func end(_ reason: ProgramStateMachine.Reason) {
        let action = machine.withLock { $0.end(reason) }
        guard action == .signal else { return }
        if program.grace > .zero { startGraceTimer() }
        signal(program.grace > .zero ? baton_sigterm : baton_sigkill)
    }

    private func signal(_ number: Int32) {
        baton_signal_group(pid, number)
        // A stopped process does not receive the signal before it is continued.
        if number != baton_sigkill { baton_signal_group(pid, baton_sigcont) }
        perform(machine.withLock { $0.signalSent() })
    }

    private func perform(_ action: ProgramStateMachine.Action) {
        guard case .reap(let killsTheRest) = action else { return }
        if killsTheRest { baton_signal_group(pid, baton_sigkill) }
        // The watchdog forgets the group before the program is reaped and the system may reuse its number.
        watch?.forget()
        var (code, isSignal): (Int32, Int32) = (0, 0)
        if baton_reap(pid, &code, &isSignal) == 0 {
            let end: SubprocessTermination = isSignal != 0 ? .signalled(code) : .exited(code)
            termination.withLock { $0 = end }
        }
        exit.close()
        hasBeenReaped.end(true)
    }

    // MARK: Grace period

    private func startGraceTimer() {
        let graceTimer = AsyncOperation<Void>.delay(program.grace)
        graceTimer.didFinish { [weak self] result in
            if case .success = result { self?.graceIsOver() }
        }
        self.graceTimer.withLock { $0 = graceTimer }
        let queue = program.clock is ContinuousClock ? Self.graceTimers : Self.makeQueue(clock: program.clock)
        queue.add(graceTimer)
        // The program may have ended before the timer was stored, so ``ended()`` did not find it.
        if waits.isClosed { cancelGraceTimer() }
    }

    private func cancelGraceTimer() { graceTimer.withLock { $0.take() }?.cancel() }

    private static func makeQueue(clock: some Clock<Duration>) -> AsyncOperationQueue {
        .serving(name: "grace of a program", clock: clock)
    }

    private func graceIsOver() {
        if machine.withLock({ $0.graceIsOver() }) == .signal { signal(baton_sigkill) }
    }
}
