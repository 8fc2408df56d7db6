import Baton
import BatonTesting

extension Round {
    func beginObserving(first: Bool) {
        for note in plan.observers where note.isThereFirst == first {
            let observer = NotedObserver(note, at: site)
            switch note.subject {
            case .queue(let index):
                guard let queue = site.queue(index) else { continue }
                let observation = queue.addObserver(observer)
                observations.withLock { $0.append(Observation(observer: observer, handle: observation)) }
            case .node(let id):
                // Nobody keeps it but the operation.
                operation(id)?.addObserver(observer)
            }
        }
    }

    struct Observation: Sendable {
        let observer: NotedObserver
        let handle: OperationObservation
    }

    /// The queues are idle. What observers add meanwhile is not.
    func finishObserving() async {
        for observation in observations.withLock({ $0 }) {
            if case .stuck = observation.observer.note.character { continue }
            await observation.handle.delivered()
            // The thread that tells an end may be another one than that on which the queue has become idle.
            let deadline = ContinuousClock.now + .seconds(60)
            while site.scheduler == nil, !observation.observer.isWhole, ContinuousClock.now < deadline {
                try? await Task.sleep(for: .microseconds(200))
            }
            observation.observer.checkEnd()
        }
    }

    /// Whoever is stuck goes on.
    func letGoOfObservers() {
        let all = observations.withLock { all in
            defer { all = [] }
            return all
        }
        // A call that is under way goes on; there is no other one.
        for observation in all { observation.handle.cancel() }
        site.end.open()
    }
}
