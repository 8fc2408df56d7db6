internal import CBaton

/// Tells subscribers of the signals that come to the process.
///
/// The system calls a handler of signals on any thread, in the middle of anything, so the handler does next to nothing:
/// it writes the number of the signal to a pipe. A thread reads the pipe and tells the subscribers. Pipe and thread are
/// made for the first subscriber of the process, and stay. A signal is caught while it has subscribers; then what was
/// to happen before happens again.
final class SignalCenter: Sendable {
    static let shared = SignalCenter()

    private struct State {
        var subscriptions = SignalSubscriptions<SignalShutdown>()
        var isReading = false
    }

    private let state = Locked(State())

    /// Whoever subscribes to a signal twice is told once.
    ///
    /// - Returns: Why the signal cannot be waited for; nil if it is.
    func subscribe(_ subscriber: SignalShutdown, to signal: ShutdownSignal) -> String? {
        switch baton_use_of_signal(signal.rawValue) {
        case baton_signal_can_be_caught: break
        case baton_signal_never_caught: return "the system lets no program catch it"
        case baton_signal_is_fault: return "it tells of a fault of this program, after which a thread cannot go on"
        default: return "there is no such signal"
        }
        return state.withLock { state in
            if !state.isReading {
                if let problem = startReading() { return problem }
                state.isReading = true
            }
            switch state.subscriptions.add(subscriber, to: signal) {
            case .catchSignal:
                let error = baton_catch_signal(signal.rawValue)
                if error == 0 { return nil }
                _ = state.subscriptions.remove(subscriber, from: signal)
                return "the system refuses to catch it, with error \(error)"
            case .none, .releaseSignal: return nil
            }
        }
    }

    func unsubscribe(_ subscriber: SignalShutdown, from signal: ShutdownSignal) {
        state.withLock { state in
            switch state.subscriptions.remove(subscriber, from: signal) {
            case .releaseSignal: baton_release_signal(signal.rawValue)
            case .none, .catchSignal: break
            }
        }
    }

    /// For tests.
    func subscriberCount(of signal: ShutdownSignal) -> Int {
        state.withLock { $0.subscriptions.subscribers(of: signal).count }
    }

    /// Returns why it cannot; nil if it does.
    private func startReading() -> String? {
        var reading: Int32 = -1
        let error = baton_open_signal_pipe(&reading)
        if error != 0 { return "the system gives no pipe for it, with error \(error)" }
        let pipe = reading
        if PosixThread.start("baton-signals", { self.read(pipe) }) { return nil }
        baton_close_signal_pipe(pipe)
        return "the system gives no thread for it"
    }

    /// The thread runs this, and ends only if somebody closes the pipe.
    private func read(_ pipe: Int32) {
        while true {
            let number = baton_next_signal(pipe)
            if number < 0 { return }
            let signal = ShutdownSignal(rawValue: number)
            for subscriber in state.withLock({ $0.subscriptions.subscribers(of: signal) }) {
                subscriber.signalArrived(signal)
            }
        }
    }
}

/// Knows which subscribers are told of which signal, and which signals are caught. Pure.
struct SignalSubscriptions<Subscriber: AnyObject> {
    enum Action {
        case none
        /// It has its first subscriber.
        case catchSignal
        /// Its last subscriber has gone.
        case releaseSignal
    }

    /// No signal has an empty list.
    private var subscribers: [ShutdownSignal: [Subscriber]] = [:]

    mutating func add(_ subscriber: Subscriber, to signal: ShutdownSignal) -> Action {
        let former = subscribers[signal, default: []]
        if former.contains(where: { $0 === subscriber }) { return .none }
        subscribers[signal] = former + [subscriber]
        return former.isEmpty ? .catchSignal : .none
    }

    mutating func remove(_ subscriber: Subscriber, from signal: ShutdownSignal) -> Action {
        let former = subscribers[signal, default: []]
        let left = former.filter { $0 !== subscriber }
        if left.count == former.count { return .none }
        subscribers[signal] = left.isEmpty ? nil : left
        return left.isEmpty ? .releaseSignal : .none
    }

    /// In the order in which they came.
    func subscribers(of signal: ShutdownSignal) -> [Subscriber] { subscribers[signal, default: []] }
}
