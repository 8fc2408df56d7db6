/// A queue at one moment, with its operations and what each of them waits for: for logs, pictures and other programs.
///
/// ``AsyncOperationQueue/snapshot()`` makes one. A snapshot can be encoded and decoded, and keeps nothing alive: it
/// identifies operations by their ids and names.
public struct QueueSnapshot: Sendable, Codable {
    /// An operation of the queue that has not finished.
    public struct Operation: Sendable, Codable, Identifiable {
        /// The id of the operation, unique in the process; see ``OperationReference/id``.
        public let id: UInt64
        /// The name of the operation.
        public let name: String
        /// The state of the operation.
        public let state: OperationState
        /// The priority of the operation, which decides which one of several ready operations starts first.
        public let priority: OperationPriority
        /// The number of the current or last run of the body; 0 before the first run.
        public let attempt: Int
        /// The operation that runs this one, if it belongs to the same queue.
        public let parent: OperationReference?
        /// The unfinished operations that this operation waits for directly.
        public let waitsFor: [OperationWait]
        /// The reason why the operation has not finished, in a few sentences on one line.
        ///
        /// If the operation waits for others, the text names only the operations that it waits for directly. To find
        /// the operation at the end of the chain, follow ``waitsFor``, or call ``AnyOperation/explain()``.
        public let cause: String
    }

    /// The name of the queue, if it has one.
    public let name: String?
    /// The number of the queue, unique in the process; see ``QueueReference/number``.
    public let number: UInt32
    /// The maximum number of bodies that run at a time.
    public let width: Int
    /// True if the queue is suspended, so that it starts no operation.
    public let isSuspended: Bool
    /// The number of permits in use, at most ``width`` unless the width was reduced.
    public let running: Int
    /// The time since the queue was made, on its clock. Negative if the clock has gone back. Encoded in seconds.
    public let time: Duration
    /// The unfinished operations, children included, in no particular order.
    public let operations: [Operation]
}

extension QueueSnapshot {
    private enum CodingKeys: String, CodingKey {
        case name, number, width, isSuspended, running, seconds, operations
    }

    /// Decodes a snapshot.
    ///
    /// - Parameter decoder: The decoder to read from.
    /// - Throws: `DecodingError` if the data is not a snapshot, or its time is longer than 292 billion years.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        name = try values.decodeIfPresent(String.self, forKey: .name)
        number = try values.decode(UInt32.self, forKey: .number)
        width = try values.decode(Int.self, forKey: .width)
        isSuspended = try values.decode(Bool.self, forKey: .isSuspended)
        running = try values.decode(Int.self, forKey: .running)
        let seconds = try values.decode(Double.self, forKey: .seconds)
        guard abs(seconds) < Duration.endless / .seconds(1) else {
            throw DecodingError.dataCorruptedError(
                forKey: .seconds, in: values, debugDescription: "\(seconds) seconds is not a valid age of a queue")
        }
        time = .seconds(seconds)
        operations = try values.decode([Operation].self, forKey: .operations)
    }

    /// Encodes the snapshot.
    ///
    /// - Parameter encoder: The encoder to write to.
    /// - Throws: The error of the encoder.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(name, forKey: .name)
        try values.encode(number, forKey: .number)
        try values.encode(width, forKey: .width)
        try values.encode(isSuspended, forKey: .isSuspended)
        try values.encode(running, forKey: .running)
        try values.encode(time / .seconds(1), forKey: .seconds)
        try values.encode(operations, forKey: .operations)
    }
}

/// Encodes values as the names of their cases, which people and other programs can read.
enum CaseName {
    static func encode(_ value: some CaseIterable, to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode("\(value)")
    }

    static func decode<Value: CaseIterable>(_ type: Value.Type, from decoder: any Decoder) throws -> Value {
        let container = try decoder.singleValueContainer()
        let name = try container.decode(String.self)
        if let value = Value.allCases.first(where: { "\($0)" == name }) { return value }
        throw DecodingError.dataCorruptedError(in: container, debugDescription: "there is no \(type) ‘\(name)’")
    }
}

extension OperationState: Codable {
    /// Decodes a state from its name.
    ///
    /// - Parameter decoder: The decoder to read from.
    /// - Throws: `DecodingError` if no state has this name.
    public init(from decoder: any Decoder) throws { self = try CaseName.decode(Self.self, from: decoder) }

    /// Encodes the name of the state.
    ///
    /// - Parameter encoder: The encoder to write to.
    /// - Throws: The error of the encoder.
    public func encode(to encoder: any Encoder) throws { try CaseName.encode(self, to: encoder) }
}

extension OperationPriority: Codable {
    /// Decodes a priority from its name.
    ///
    /// - Parameter decoder: The decoder to read from.
    /// - Throws: `DecodingError` if no priority has this name.
    public init(from decoder: any Decoder) throws { self = try CaseName.decode(Self.self, from: decoder) }

    /// Encodes the name of the priority.
    ///
    /// - Parameter encoder: The encoder to write to.
    /// - Throws: The error of the encoder.
    public func encode(to encoder: any Encoder) throws { try CaseName.encode(self, to: encoder) }
}

extension AsyncOperationQueue {
    /// Returns the operations of the queue at this moment, each with its waits and the reason why it has not finished.
    ///
    /// ```swift
    /// let json = try JSONEncoder().encode(queue.snapshot())
    /// ```
    ///
    /// The operations go on while they are inspected one after another. The snapshot leaves out operations that finish
    /// meanwhile, and all waits for them.
    ///
    /// - Returns: The snapshot, with the unfinished operations in no particular order.
    /// - Complexity: O(*n*), where *n* is the number of operations and dependencies in the queue. An operation that was
    ///   added after cancelled barriers, and still waits for an earlier one, takes time in proportion to their number.
    public func snapshot() -> QueueSnapshot { core.holding { core.snapshot() } }
}

extension QueueCore {
    fileprivate func snapshot() -> QueueSnapshot {
        let now = time.now
        let (members, width, isSuspended, running) = state.withLock { state in
            (state.registry.members(), state.scheduler.width, state.scheduler.isSuspended, state.scheduler.running)
        }
        var inspector = StateInspector()
        let views = members.map { SnapshotView(at: $0, &inspector) }
        // An operation may have finished after another one was seen to wait for it.
        let finished = Set(views.filter { $0.state == .finished }.map(\.reference))
        let unfinished = views.filter { $0.state != .finished }
        var parents: [UInt64: OperationReference] = [:]
        for view in unfinished {
            for wait in view.waits where wait.kind == .child { parents[wait.source.id] = view.reference }
        }
        return QueueSnapshot(
            name: name, number: number, width: width, isSuspended: isSuspended, running: running, time: now,
            operations: unfinished.map { $0.snapshot(without: finished, parent: parents[$0.reference.id]) })
    }
}

/// The state of one operation that the snapshot reads before it knows which operations have finished meanwhile.
private struct SnapshotView {
    let reference: OperationReference
    let priority: OperationPriority
    let attempt: Int
    let waits: [OperationWait]
    /// The cause, or `nil` if the operation waits for other operations.
    let cause: Explanation.Cause?
    /// Read last: an operation that is unfinished here was unfinished while everything else was read.
    let state: OperationState

    init(at operation: AnyOperation, _ inspector: inout StateInspector) {
        reference = operation.reference
        let found = inspector.waits(of: operation)
        waits = found.map(\.publicValue)
        if let exclusion = waits.first?.exclusion {
            cause = .excluded(by: waits[0].source, exclusion: exclusion)
        } else {
            cause = found.isEmpty ? inspector.cause(of: operation) : nil
        }
        (priority, attempt) = operation.withLifecycle { life in
            (operation.currentPriority, life.hasBegun ? Int(life.optionalState?.timing?.attempt ?? 1) : 0)
        }
        state = operation.state
    }

    func snapshot(without finished: Set<OperationReference>, parent: OperationReference?) -> QueueSnapshot.Operation {
        let waits = finished.isEmpty ? waits : waits.filter { !finished.contains($0.source) }
        return QueueSnapshot.Operation(
            id: reference.id, name: reference.name, state: state, priority: priority, attempt: attempt, parent: parent,
            waitsFor: waits, cause: sentence(waits).singleLine)
    }

    private func sentence(_ waits: [OperationWait]) -> String {
        if let cause { return ExplanationFormatter.sentence(for: cause, of: reference) }
        // All operations that it waited for have finished meanwhile.
        if waits.isEmpty { return ExplanationFormatter.sentence(for: .starting, of: reference) }
        return ExplanationFormatter.sentences(for: waits, of: reference).joined(separator: " ")
    }
}
