/// Why an operation has not finished: what it waits for, and what is at the root of that. A snapshot, for people and logs.
public struct Explanation: Sendable, CustomStringConvertible {
    /// What keeps an operation that waits for no other operation.
    public enum Cause: Sendable, Hashable {
        /// Nobody has added it to a queue.
        case notAdded
        /// Its queue is suspended.
        case queueSuspended
        /// So many bodies run in its queue, which is its width, or operations that come first wait there.
        case queueFull(width: Int)
        /// It is about to start.
        case starting
        /// This condition is evaluated, or these, and has not answered.
        case evaluating(conditions: [String])
        /// Another operation holds an exclusion that it needs, or came before it in the line for it.
        case excluded(by: OperationReference, exclusion: String)
        /// Its body runs.
        case executing
        /// Its outcome is decided, and its `willFinish` handlers run.
        case finishing
        /// Its body has waited for another operation, and needs a slot of its queue to go on.
        case waitingForSlot(width: Int)
        /// It has finished, with this outcome.
        case finished(OperationOutcome)
    }

    /// An operation that waits for no other one, and what keeps it.
    public struct Root: Sendable {
        /// Which one.
        public let operation: OperationReference
        /// What keeps it.
        public let cause: Cause
    }

    /// What is explained.
    public let operation: OperationReference
    /// Its state.
    public let state: OperationState
    /// The operations that it waits for itself: unfinished dependencies, or what its body awaits.
    public let waitsFor: [OperationReference]
    /// What keeps it in the end: itself if it waits for no operation, else all at the far ends of what it waits for.
    public let roots: [Root]
    /// Its error, if it has finished with one.
    public let error: OperationError?

    /// A few sentences: what it waits for, what is at the root, and what to do about it.
    public var description: String {
        if let error { return "\(operation) has finished without an output: \(error)." }
        if waitsFor.isEmpty { return roots.map(Self.sentence).joined(separator: " ") }
        let direct = "\(operation) waits for \(Self.list(waitsFor.map(\.description)))."
        let causes = roots.prefix(Self.listed).map(Self.sentence)
        let more = roots.count > Self.listed ? ["And \(roots.count - Self.listed) more."] : []
        return ([direct] + causes + more).joined(separator: " ")
    }

    private static let listed = 5

    private static func list(_ names: [String]) -> String {
        let more = names.count - listed
        return names.prefix(listed).joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
    }

    private static func sentence(_ root: Root) -> String {
        switch root.cause {
        case .notAdded: "\(root.operation) was not added to any queue: add it, or use `run` or `add(to:)`."
        case .queueSuspended: "\(root.operation) is ready, and its queue is suspended."
        case .queueFull(let width): "\(root.operation) is ready, and waits for its turn in a queue of width \(width)."
        case .starting: "\(root.operation) is about to start."
        case .evaluating(let conditions):
            "\(root.operation) waits for the answer of \(list(conditions.map { "the condition ‘\($0)’" }))."
        case .excluded(let holder, let exclusion):
            "\(root.operation) waits for the exclusion \(exclusion), after \(holder)."
        case .executing: "\(root.operation) is executing."
        case .finishing: "\(root.operation) waits for its willFinish handlers."
        case .waitingForSlot(let width): "\(root.operation) can go on when its queue of width \(width) has a free slot."
        case .finished(let outcome): "\(root.operation) has finished: \(outcome)."
        }
    }
}
