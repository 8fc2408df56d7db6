internal import Baton

/// The waits for one program's pipes, all of which end when the program has ended.
final class WaitScope: Sendable {
    private struct State {
        var isClosed = false
        var wakeups: [ObjectIdentifier: Wakeup] = [:]
    }

    private let state = Locked(State())
    let poller: Poller

    init(_ poller: Poller) { self.poller = poller }

    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Suspends until the descriptor is ready. Returns false if the program has ended first.
    func untilReady(_ descriptor: Descriptor, for interest: Poller.Interest) async -> Bool {
        let wakeup = Wakeup()
        guard add(wakeup) else { return false }
        let ticket = poller.add(wakeup, for: interest, on: descriptor)
        let isReady = await wakeup.wait()
        poller.remove(ticket)
        remove(wakeup)
        return isReady
    }

    /// Registers a wait that ends when the scope is closed. Returns false if the scope is closed already.
    func add(_ wakeup: Wakeup) -> Bool {
        state.withLock { state in
            if !state.isClosed { state.wakeups[ObjectIdentifier(wakeup)] = wakeup }
            return !state.isClosed
        }
    }

    func remove(_ wakeup: Wakeup) {
        // The removed value is released after unlocking.
        _ = state.withLock { $0.wakeups.removeValue(forKey: ObjectIdentifier(wakeup)) }
    }

    /// Ends all waits, because the program has ended.
    func close() {
        let wakeups = state.withLock { state in
            state.isClosed = true
            defer { state.wakeups = [:] }
            return Array(state.wakeups.values)
        }
        for wakeup in wakeups { wakeup.end(false) }
    }
}
