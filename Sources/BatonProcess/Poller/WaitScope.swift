internal import Baton

/// The waits for one program's pipes, all of which end when the program has ended.
final class WaitScope: Sendable {
    private struct State {
        var isClosed = false
        var waits: [ObjectIdentifier: any ScopedWait] = [:]
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
    func add(_ wait: any ScopedWait) -> Bool {
        state.withLock { state in
            if !state.isClosed { state.waits[ObjectIdentifier(wait)] = wait }
            return !state.isClosed
        }
    }

    func remove(_ wait: any ScopedWait) {
        // The removed value is released after unlocking.
        _ = state.withLock { $0.waits.removeValue(forKey: ObjectIdentifier(wait)) }
    }

    /// Ends all waits, because the program has ended.
    func close() {
        let waits = state.withLock { state in
            state.isClosed = true
            defer { state.waits = [:] }
            return Array(state.waits.values)
        }
        for wait in waits { wait.scopeClosed() }
    }
}

/// A wait that ends at the latest when the program has ended.
protocol ScopedWait: AnyObject, Sendable {
    func scopeClosed()
}

extension Wakeup: ScopedWait {
    func scopeClosed() { end(false) }
}

extension PeerWait: ScopedWait {
    func scopeClosed() { end() }
}
