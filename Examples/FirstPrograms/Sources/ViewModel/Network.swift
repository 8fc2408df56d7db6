import Baton
import Synchronization

/// Whether there is a network, as somebody says.
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

    /// The present state, and then each change.
    var changes: AsyncStream<Bool> {
        AsyncStream { watcher in
            state.withLock { state in
                state.watchers.append(watcher)
                watcher.yield(state.isReachable)
            }
        }
    }
}

/// Holds an operation back until there is a network; it takes no permit of its queue meanwhile.
struct IsReachable: OperationCondition {
    let network: Network

    func evaluate(for operation: AnyOperation) async throws -> ConditionResult {
        for await isReachable in network.changes where isReachable { return .satisfied }
        throw CancellationError()  // the sequence has ended, because the operation was cancelled
    }
}
