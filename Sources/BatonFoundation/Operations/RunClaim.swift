internal import Baton
internal import Foundation

/// Who adds a Foundation operation to a queue: to add one twice is an exception, so the first of those who want it run
/// does.
struct RunClaim {
    private static let claimed = Locked<Set<ObjectIdentifier>>([])

    private let operation: Foundation.Operation
    /// The caller has to add it.
    let isFirst: Bool

    init(on operation: Foundation.Operation) {
        self.operation = operation
        let id = ObjectIdentifier(operation)
        let isFirst = Self.claimed.withLock { $0.insert(id).inserted }
        // Asked after the claim: whoever had it before has added or finished it by the time that it is given back.
        let isTaken = isFirst && (operation.isFinished || operation.isExecuting || operation.isEnqueued)
        if isTaken { _ = Self.claimed.withLock { $0.remove(id) } }
        self.isFirst = isFirst && !isTaken
    }

    /// The operation has finished. It is held until now, so that no other one has its identity.
    func end() {
        if isFirst { _ = Self.claimed.withLock { $0.remove(ObjectIdentifier(operation)) } }
    }
}

enum FoundationRuns {
    /// Without a limit: the queue of ours has one.
    static let queue = {
        let queue = OperationQueue()
        queue.name = "Baton, operations that it runs"
        return queue
    }()

    /// Its run has ended, and will not begin. Cancelled and in a queue, it finishes without having begun.
    static func end(_ operation: Foundation.Operation, wasCancelled: Bool) {
        let claim = RunClaim(on: operation)
        if wasCancelled || claim.isFirst { operation.cancel() }
        guard claim.isFirst else { return }
        queue.addForSure(operation)
        _ = EndWatch(of: operation) { claim.end() }
    }
}

extension Foundation.Operation {
    /// Whether a queue has it already. False where that cannot be known.
    ///
    /// Foundation keeps it to itself. On Linux a mirror shows it; should it be renamed, this is false. It is looked for
    /// from the end: what stands before it changes under the operation's lock, and what stands behind it are plain
    /// values.
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
