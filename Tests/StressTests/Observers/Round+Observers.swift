import Baton
import BatonTesting

extension Round {
    func beginObserving(first: Bool) {
        for note in plan.observers where note.isAddedBeforeStart == first {
            let observer = NotedObserver(note, at: site)
            switch note.subject {
            case .queue(let index):
                guard let queue = site.queue(index) else { continue }
                let observation = queue.addObserver(observer)
                observations.withLock { $0.append(Observation(observer: observer, handle: observation)) }
            case .node(let id):
                // Only the operation retains the observer.
                operation(id)?.addObserver(observer)
            }
        }
    }

    struct Observation: Sendable {
        let observer: NotedObserver
        let handle: OperationObservation
    }

    /// Checks the events of the observers. The queues are idle, but operations that observers add may still run.
    func finishObserving() async {
        for observation in observations.withLock({ $0 }) {
            if case .stuck = observation.observer.note.behaviour { continue }
            await observation.handle.delivered()
            // The end of an operation may be delivered by another thread than the one that made the queue idle.
            let deadline = ContinuousClock.now + .seconds(60)
            while site.scheduler == nil, !observation.observer.isWhole, ContinuousClock.now < deadline {
                try? await Task.sleep(for: .microseconds(200))
            }
            observation.observer.checkEnd()
        }
    }

    /// Lets observers that are stuck return.
    func letGoOfObservers() {
        let all = observations.withLock { all in
            defer { all = [] }
            return all
        }
        // A call in progress continues, and no further call follows.
        for observation in all { observation.handle.cancel() }
        site.end.open()
    }
}
