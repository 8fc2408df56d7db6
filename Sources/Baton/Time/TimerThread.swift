internal import CBaton

/// One thread that waits for points in time, for everything in the process that uses the continuous clock.
///
/// A task that sleeps wakes on a thread of an executor, and bodies may block all of those threads. This thread runs no
/// user code: it resumes tasks of the ``ServiceExecutor``, and calls short closures of Baton's own.
final class TimerThread: Sendable {
    static let shared = TimerThread()

    typealias Ticket = TimerHeap<Int64, @Sendable () -> Void>.Ticket

    private struct State {
        var timers = TimerHeap<Int64, @Sendable () -> Void>()
        /// True if the thread was started.
        var isRunning = false
    }

    /// The longest wait, in nanoseconds: the system's wait may stand still while the machine sleeps, although the clock
    /// goes on.
    private static let longest: Int64 = 10_000_000_000

    private let state = Monitor(State())
    private let startThread: @Sendable (_ body: @escaping @Sendable () -> Void) -> Bool

    /// - Parameter startThread: Starts a thread, and returns false if the system provides no more threads.
    init(
        startThread: @escaping @Sendable (@escaping @Sendable () -> Void) -> Bool = {
            PosixThread.start("baton-timer", $0)
        }
    ) {
        self.startThread = startThread
    }

    /// The current time in nanoseconds, on the clock of `ContinuousClock`, which is that of the deadlines.
    static var now: Int64 { baton_continuous_time() }

    func call(after delay: Duration, _ closure: @escaping @Sendable () -> Void) {
        call(at: Self.now + delay.wholeNanoseconds, closure)
    }

    /// - Parameters:
    ///   - time: The time of the call, in nanoseconds.
    ///   - closure: Called on the thread, without a lock. It must neither block nor run user code.
    @discardableResult
    func call(at time: Int64, _ closure: @escaping @Sendable () -> Void) -> Ticket {
        var ticket: Ticket?
        var startsThread = false
        state.change { state in
            let former = state.timers.next
            ticket = state.timers.add(closure, at: time)
            startsThread = !state.isRunning
            state.isRunning = true
            return former.map { time < $0 } ?? true ? .one : .nobody
        }
        if startsThread, !startThread({ self.work(untilEmpty: false) }) {
            // The system provides no more threads. A thread of the global executor waits while there are timers.
            TaskFactory(executor: nil, priority: nil).spawn { self.work(untilEmpty: true) }
        }
        return ticket!
    }

    /// Removes a call. Returns false if its time has come, or if it was removed before.
    func remove(_ ticket: Ticket) -> Bool {
        var closure: (@Sendable () -> Void)?
        state.change { state in
            closure = state.timers.remove(ticket)
            return .nobody
        }
        return closure != nil
    }

    /// - Parameter untilEmpty: True if the calls return when there is no timer left, so that the next timer tries to
    ///   start a thread again.
    private func work(untilEmpty: Bool) {
        while true {
            let due = state.wait { state -> Monitor<State>.Step<[@Sendable () -> Void]> in
                let now = Self.now
                let due = state.timers.takeDue(at: now)
                if !due.isEmpty { return .done(due) }
                if untilEmpty, state.timers.next == nil {
                    state.isRunning = false
                    return .done([])
                }
                return .wait(nanoseconds: state.timers.next.map { min($0 - now, Self.longest) })
            }
            if due.isEmpty { return }
            for closure in due { closure() }
        }
    }
}

extension TimerThread {
    /// Returns at `time`, or throws when the calling task is cancelled.
    func sleep(until time: Int64) async throws(CancellationError) {
        let sleep = TimerSleep()
        let isOver = await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                sleep.start(continuation) { self.call(at: time) { sleep.end(isOver: true) } }
            }
        } onCancel: {
            sleep.end(isOver: false)
        }
        TSanAnnotations.didAwait(sleep)
        if !isOver { throw CancellationError() }
    }
}

/// Calls of Baton's own that come later.
package enum LateCall {
    /// Calls a closure after a time of the continuous clock, on a task that no body can block.
    package static func schedule(after delay: Duration, _ closure: @escaping @Sendable () async -> Void) {
        TimerThread.shared.call(after: delay) { TaskFactory.services.spawn(closure) }
    }
}

/// One sleep of a task. The first of two events resumes the task: its time comes, or it is cancelled.
private final class TimerSleep: Sendable {
    private enum State {
        case new
        case sleeping(UnsafeContinuation<Bool, Never>, TimerThread.Ticket?)
        case ended
    }

    private let state = Locked(State.new)

    func start(_ continuation: UnsafeContinuation<Bool, Never>, setTimer: () -> TimerThread.Ticket) {
        let isCancelled = state.withLock { state in
            if case .ended = state { return true }
            state = .sleeping(continuation, nil)
            return false
        }
        if isCancelled { return resume(continuation, isOver: false) }
        let ticket = setTimer()
        let wasCancelled = state.withLock { state in
            guard case .sleeping = state else { return true }
            state = .sleeping(continuation, ticket)
            return false
        }
        // The sleep was cancelled before the ticket was stored, or its time has come, and nothing is left to remove.
        if wasCancelled { _ = TimerThread.shared.remove(ticket) }
    }

    /// Ends the sleep. Resuming comes last, because the task may run at once and release this object.
    func end(isOver: Bool) {
        let former = state.withLock { state in
            defer { state = .ended }
            return state
        }
        guard case .sleeping(let continuation, let ticket) = former else { return }
        if !isOver, let ticket { _ = TimerThread.shared.remove(ticket) }
        resume(continuation, isOver: isOver)
    }

    private func resume(_ continuation: UnsafeContinuation<Bool, Never>, isOver: Bool) {
        TSanAnnotations.willResume(self)
        continuation.resume(returning: isOver)
    }
}
