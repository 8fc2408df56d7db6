internal import Baton
internal import Foundation

/// The right to add a Foundation operation to a queue. Adding one twice raises an exception, so of several claims only
/// the first one succeeds.
struct RunClaim {
    private static let claimed = Locked<Set<ObjectIdentifier>>([])

    private let operation: Foundation.Operation
    /// A Boolean value that indicates whether the claim succeeded, so that the caller has to add the operation.
    let isGranted: Bool

    init(on operation: Foundation.Operation) {
        self.operation = operation
        let id = ObjectIdentifier(operation)
        let isFirst = Self.claimed.withLock { $0.insert(id).inserted }
        // The operation is checked after the claim: a former holder has added or finished it before giving the claim
        // back.
        let isTaken = isFirst && (operation.isFinished || operation.isExecuting || operation.isEnqueued)
        if isTaken { _ = Self.claimed.withLock { $0.remove(id) } }
        isGranted = isFirst && !isTaken
    }

    /// Ends the claim when the operation has finished. The claim retains the operation until now, so that no other
    /// operation can have the same identifier.
    func end() {
        if isGranted { _ = Self.claimed.withLock { $0.remove(ObjectIdentifier(operation)) } }
    }
}

/// Keeps a Foundation operation that is added to a queue from starting, through one more dependency. The queue ends the
/// operation nevertheless if it is cancelled.
struct PostponedStart {
    private let operation: Foundation.Operation
    private let permission = BlockOperation()

    /// Adds the dependency. Must be called before the operation is added to a queue.
    init(of operation: Foundation.Operation) {
        self.operation = operation
        permission.name = "a permit of Baton"
        operation.addDependency(permission)
    }

    /// Lets the operation start.
    func allow() { permission.start() }

    /// Removes the dependency when the operation has finished. On Linux, a dependency that has not finished would
    /// access the operation later.
    func forget() { operation.removeDependency(permission) }
}

enum FoundationQueue {
    /// A queue without a limit, because the `AsyncOperationQueue` that runs the procedures has one.
    static let shared = {
        let queue = OperationQueue()
        queue.name = "Baton, operations that it runs"
        return queue
    }()

    /// Finishes an operation whose run has ended without beginning. A cancelled operation in a queue finishes without
    /// running.
    static func end(_ operation: Foundation.Operation, wasCancelled: Bool) {
        let claim = RunClaim(on: operation)
        if wasCancelled || claim.isGranted { operation.cancel() }
        guard claim.isGranted else { return }
        shared.addWithDependencies(operation)
        _ = CompletionWatch(of: operation) { claim.end() }
    }
}

extension Foundation.Operation {
    /// A Boolean value that indicates whether the operation is in a queue. It is false where that cannot be found out.
    ///
    /// The state is private to Foundation. On Linux, a mirror shows it; if Foundation renames it, this property is
    /// false. The state is searched from the end of the properties: those before it change under the operation's lock,
    /// and must not be read here, while those after it are plain values.
    var isEnqueued: Bool {
        #if canImport(ObjectiveC)
            return false
        #else
            var next: Mirror? = Mirror(reflecting: self)
            while let mirror = next {
                if mirror.subjectType == Foundation.Operation.self {
                    let state = AnyBidirectionalCollection(mirror.children)?.last { $0.label == "__state" }
                    return state.map { "\($0.value)" != "initialized" } ?? false
                }
                next = mirror.superclassMirror
            }
            return false
        #endif
    }
}
