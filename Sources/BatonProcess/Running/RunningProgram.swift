internal import Baton
internal import CBatonProcess

/// A program that was started, until it has been reaped.
final class RunningProgram: Sendable {
    let wiring: Wiring
    /// Of its pipes. Closed when it has ended.
    let waits: WaitScope

    private let program: Subprocess
    private let pid: Int32
    private let exit: Descriptor
    private let life = LockedState(ProgramLife())
    private let termination = LockedState<SubprocessTermination?>(nil)
    private let hasBeenReaped = Wakeup()
    private let alarm = LockedState<AsyncOperation<Void>?>(nil)

    /// For the alarms of programs whose clock is the system's.
    private static let alarms = AsyncOperationQueue(
        name: "grace of programs", maxConcurrentOperationCount: AsyncOperationQueue.unlimited)

    /// If its end cannot be watched, it is ended at once.
    init(_ program: Subprocess, _ pid: Int32, _ wiring: Wiring, _ waits: WaitScope) throws(SubprocessError) {
        self.program = program
        self.pid = pid
        self.wiring = wiring
        self.waits = waits
        do { exit = try .opened { baton_exit_descriptor(pid, $0) } } catch {
            // Its number may be somebody else's by now.
            if error == .noSuchProcess { throw .statusLost(program: program.program) }
            baton_signal_group(pid, baton_sigkill)
            var (code, isSignal): (Int32, Int32) = (0, 0)
            _ = baton_reap(pid, &code, &isSignal)
            throw .notStarted(program: program.program, reason: error)
        }
    }

    /// Why it was ended from here; nil if it was not.
    var endingReason: ProgramLife.Reason? { life.withLock { $0.reason } }

    // MARK: Its end

    /// Returns how it ended, when it has been reaped; nil if nobody knows. To be called once.
    func ended() async -> SubprocessTermination? {
        let wakeup = Wakeup()
        let ticket = waits.poller.add(wakeup, for: .reading, on: exit)
        _ = await wakeup.wait()
        waits.poller.remove(ticket)
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
        AsyncOperationQueue(name: "grace of a program", clock: clock)
    }

    private func graceIsOver() {
        if life.withLock({ $0.graceIsOver() }) == .signal { signal(baton_sigkill) }
    }
}
