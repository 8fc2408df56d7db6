import Baton
import Synchronization

/// The reachability of the network, which is set from outside.
final class Network: Sendable {
    private let state = Mutex((isReachable: false, watchers: [AsyncStream<Bool>.Continuation]()))

    var isReachable: Bool {
        get { state.withLock { $0.isReachable } }
        set {
            state.withLock { state in
                state.isReachable = newValue
                for watcher in state.watchers { watcher.yield(newValue) }
            }
        }
    }

    /// A sequence of the current state and each later change.
    var changes: AsyncStream<Bool> {
        AsyncStream { watcher in
            state.withLock { state in
                state.watchers.append(watcher)
                watcher.yield(state.isReachable)
            }
        }
    }
}

/// A condition that waits until the network is reachable. Meanwhile, the operation takes no permit of its queue.
struct IsReachable: OperationCondition {
    let network: Network

    func evaluate(for operation: AnyOperation) async throws -> ConditionResult {
        for await isReachable in network.changes where isReachable { return .satisfied }
        throw CancellationError()  // the sequence has ended, because the operation was cancelled
    }
}
