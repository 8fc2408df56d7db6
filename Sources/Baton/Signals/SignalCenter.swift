internal import CBaton

/// Delivers the signals that the process receives to subscribers.
///
/// The system may call a signal handler on any thread at any time, so the handler only writes the number of the signal
/// to a pipe. A thread reads the pipe and notifies the subscribers. The pipe and the thread are made for the first
/// subscriber of the process, and stay until it ends. A signal is caught while it has subscribers; after that, its
/// previous disposition is restored.
final class SignalCenter: Sendable {
    static let shared = SignalCenter()

    private struct State {
        var subscriptions = SignalSubscriptions<SignalShutdown>()
        var isReading = false
    }

    private let state = Locked(State())

    /// Subscribes to a signal. A subscriber that subscribes twice is notified once.
    ///
    /// - Returns: The reason why the signal cannot be caught, or nil on success.
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

    /// The number of subscribers, for tests.
    func subscriberCount(of signal: ShutdownSignal) -> Int {
        state.withLock { $0.subscriptions.subscribers(of: signal).count }
    }

    /// Makes the pipe and starts the thread. Returns the reason if it fails, or nil on success.
    private func startReading() -> String? {
        var reading: Int32 = -1
        let error = baton_open_signal_pipe(&reading)
        if error != 0 { return "the system gives no pipe for it, with error \(error)" }
        let pipe = reading
        if PosixThread.start("baton-signals", { self.read(pipe) }) { return nil }
        baton_close_signal_pipe(pipe)
        return "the system gives no thread for it"
    }

    /// The body of the thread, which ends only if the pipe breaks.
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

/// Keeps the subscribers of each signal, and decides which signals are caught. A pure value.
struct SignalSubscriptions<Subscriber: AnyObject> {
    enum Action {
        case none
        /// The signal has its first subscriber.
        case catchSignal
        /// The last subscriber of the signal has gone.
        case releaseSignal
    }

    /// The subscribers by signal. No list is empty.
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

    /// The subscribers of a signal, in the order in which they subscribed.
    func subscribers(of signal: ShutdownSignal) -> [Subscriber] { subscribers[signal, default: []] }
}
