/// The wait of a body until other operations, its peers, have reached a point that comes before their ends, such as the
/// start of a program.
///
/// A peer that never reaches the point ends the wait when it ends itself. So explanations and the searches for cycles
/// and deadlocks follow the wait as if the body awaited the outcome of the peer.
///
/// The wait does not retain the peers, because a peer that is released without having been added ends it as well.
package final class PeerWait: Sendable {
    private struct Peer {
        weak var operation: AnyOperation?
        var isAwaited = true
    }

    private struct State {
        var peers: [Peer]
        /// The number of peers that are awaited.
        var left: Int
        var task: SuspendedTask?
        /// The operation whose body waits, while it waits.
        var body: AnyOperation?
        var error: OperationError?

        /// Returns the peer, if the wait for it ends with this call, and the task, if it has to be resumed.
        mutating func end(_ place: Int) -> (peer: AnyOperation?, task: SuspendedTask?) {
            if !peers[place].isAwaited { return (nil, nil) }
            peers[place].isAwaited = false
            left -= 1
            return (peers[place].operation, left == 0 ? task.take() : nil)
        }
    }

    private let state: Locked<State>

    /// Makes a wait that ends when ``end(_:)`` has been called for each peer.
    ///
    /// - Parameter peers: The peers. A peer that is nil, or is released later, is not followed by explanations and
    ///   searches. An operation may be in the array several times.
    package init(for peers: [AnyOperation?]) {
        state = Locked(State(peers: peers.map { Peer(operation: $0) }, left: peers.count))
    }

    /// Ends the wait for one peer, because it has reached the awaited point or never will. Has no effect if that
    /// wait has ended before. Called outside every lock.
    ///
    /// - Parameter place: The index of the peer.
    package func end(_ place: Int) {
        let (peer, task) = state.withLock { $0.end(place) }
        peer?.removeWaiter(informing: self, at: place)
        task?.resume()
    }

    /// Ends the wait for all peers. Called outside every lock.
    package func end() {
        for place in state.withLock({ $0.peers.indices }) { end(place) }
    }

    /// Returns when the wait has ended. If the calling task runs a body, the body releases its permit meanwhile. A
    /// cancellation does not end the wait. Call it once.
    ///
    /// - Throws: ``OperationError/dependencyCycle(_:)`` if all members of a cycle that the wait has closed have begun,
    ///   so that the wait would never end.
    package nonisolated(nonsending) func wait() async throws(OperationError) {
        let body = WorkerTaskContext.current?.running
        let listenerPlace = body.map { begin(for: $0) }
        await SuspendedTask.suspend(on: self) { task in
            state.withLock { state in
                if state.left > 0 { state.task = task }
                return state.left > 0
            }
        }
        if let body, let listenerPlace { body.stopListening(self, at: listenerPlace) }
        bodyEnded()
        if let error = state.withLock({ $0.error }) { throw error }
    }

    /// Makes the wait visible to searches, and searches for cycles that it has closed. Returns its place.
    private func begin(for body: AnyOperation) -> ListenerPlace {
        state.withLock { $0.body = body }
        let listenerPlace = body.startListening(self)
        for place in state.withLock({ $0.peers.indices }) {
            guard let peer = peer(at: place) else { continue }
            if body.currentPriority > peer.currentPriority { AnyOperation.raise([peer], to: body.currentPriority) }
            let phase = peer.addWaiter(Waiter(receiver: .listener(self, place), body: body))
            if phase == .finished {
                end(place)
            } else if self.peer(at: place) == nil {
                // The wait ended before the waiter was added.
                peer.removeWaiter(informing: self, at: place)
            } else if phase == .created {
                peer.scheduleNotAddedCheck()
            } else if let path = body.cycle(closedByWaitFor: peer) {
                ended(place, peer, .dependencyCycle(path))
            }
        }
        return listenerPlace
    }

    /// Returns the peer if it is awaited and has not been released.
    private func peer(at place: Int) -> AnyOperation? {
        state.withLock { $0.peers[place].isAwaited ? $0.peers[place].operation : nil }
    }
}

extension PeerWait: OutcomeListener {
    var waitsFor: [AnyOperation] { waitsFor(first: .max) }

    func waitsFor(first limit: Int) -> [AnyOperation] {
        // All of them leave the lock, because this may become the last reference to one.
        let awaited = state.withLock { state in
            state.peers.filter(\.isAwaited).prefix(limit).map(\.operation)
        }
        var found: [AnyOperation] = []
        for case let operation? in awaited where found.last !== operation {
            // An operation that is there several times usually follows itself.
            found.append(operation)
        }
        return found
    }

    var kindOfWait: OperationWait.Kind { .awaited }
    var body: AnyOperation? { state.withLock { $0.body } }
    var awaitsMore: Bool { false }

    func bodyEnded() {
        let body = state.withLock { $0.body.take() }
        withExtendedLifetime(body) {}
    }

    func ended(_ place: Int, _ operation: AnyOperation, _ error: OperationError?) {
        guard let error else { return end(place) }
        state.withLock { $0.error = error }
        end()
    }
}

extension AnyOperation {
    fileprivate final func removeWaiter(informing wait: PeerWait, at place: Int) {
        let removed = withLifecycle { life -> Waiter? in
            guard life.phase != .finished, let optionalState = life.optionalState,
                let index = optionalState.waiters.lastIndex(where: { $0.informs(wait, at: place) })
            else { return nil }
            return optionalState.waiters.remove(at: index)
        }
        // The removed waiter is released after unlocking.
        withExtendedLifetime(removed) {}
    }
}

extension Waiter {
    fileprivate func informs(_ wait: PeerWait, at place: Int) -> Bool {
        if case .listener(let listener, let other) = receiver { listener === wait && other == place } else { false }
    }
}
