/// A queue at one moment, with its operations and what each of them waits for: for logs, pictures and other programs.
///
/// It can be written and read. It keeps nothing alive: operations are named by their ids and names.
public struct QueueSnapshot: Sendable, Codable {
    /// An operation that was added and has not finished.
    public struct Operation: Sendable, Codable, Identifiable {
        /// Unique in the process; see ``OperationReference/id``.
        public let id: UInt64
        /// What it is called.
        public let name: String
        /// Where it is in its life.
        public let state: OperationState
        /// Which of several ready ones starts first.
        public let priority: OperationPriority
        /// The run of its body that goes on or was the last; 0 before the first.
        public let attempt: Int
        /// What runs it, if that is an operation of the same queue.
        public let parent: OperationReference?
        /// What it waits for itself, and has not finished.
        public let waitsFor: [OperationWait]
        /// What keeps it, in one sentence or a few on one line: what it waits for, or else what ``Explanation/Cause``
        /// says of it.
        ///
        /// Of one that waits for others this is not the root; follow ``waitsFor`` to that, or ask
        /// ``AnyOperation/explain()``.
        public let cause: String
    }

    /// The name of the queue, if it has one.
    public let name: String?
    /// Tells queues of the process apart; see ``QueueReference/number``.
    public let number: UInt32
    /// How many bodies may run at a time.
    public let width: Int
    /// Whether it starts nothing new.
    public let isSuspended: Bool
    /// How many permits are taken, of so many as it is wide.
    public let running: Int
    /// How long the queue has been there, on its clock. Written in seconds.
    public let time: Duration
    /// Those that have not finished, children included, in no particular order.
    public let operations: [Operation]
}

extension QueueSnapshot {
    private enum CodingKeys: String, CodingKey {
        case name, number, width, isSuspended, running, seconds, operations
    }

    /// Reads one that was written.
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
                forKey: .seconds, in: values, debugDescription: "\(seconds) seconds are no time since a queue was made")
        }
        time = .seconds(seconds)
        operations = try values.decode([Operation].self, forKey: .operations)
    }

    /// Writes it.
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

/// Written as the names of their cases, which people and other programs can read.
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
    /// Reads the name of a state.
    public init(from decoder: any Decoder) throws { self = try CaseName.decode(Self.self, from: decoder) }

    /// Writes the name of the state.
    public func encode(to encoder: any Encoder) throws { try CaseName.encode(self, to: encoder) }
}

extension OperationPriority: Codable {
    /// Reads the name of a priority.
    public init(from decoder: any Decoder) throws { self = try CaseName.decode(Self.self, from: decoder) }

    /// Writes the name of the priority.
    public func encode(to encoder: any Encoder) throws { try CaseName.encode(self, to: encoder) }
}

extension AsyncOperationQueue {
    /// What is in the queue at this moment, what each operation waits for, and why it has not finished.
    ///
    /// ```swift
    /// let json = try JSONEncoder().encode(queue.snapshot())
    /// ```
    ///
    /// Nothing is stopped for it: the operations are looked at one after another, while they go on. What finishes
    /// meanwhile is left out, and nothing is said to wait for it. Takes as long as there are operations and
    /// dependencies in the queue.
    public func snapshot() -> QueueSnapshot { core.snapshot() }
}

extension QueueCore {
    fileprivate func snapshot() -> QueueSnapshot {
        let now = time.now
        let (members, width, isSuspended, running) = state.withLock { state in
            (state.members(), state.scheduler.width, state.scheduler.isSuspended, state.scheduler.running)
        }
        var inspection = StateInspector()
        let looks = members.map { SnapshotLook(at: $0, &inspection) }
        // A look that came later may have found finished what an earlier one has seen waited for.
        let finished = Set(looks.filter { $0.state == .finished }.map(\.reference))
        let unfinished = looks.filter { $0.state != .finished }
        var parents: [UInt64: OperationReference] = [:]
        for look in unfinished {
            for wait in look.waits where wait.kind == .child { parents[wait.source.id] = look.reference }
        }
        return QueueSnapshot(
            name: name, number: number, width: width, isSuspended: isSuspended, running: running, time: now,
            operations: unfinished.map { $0.told(without: finished, parent: parents[$0.reference.id]) })
    }
}

/// What is seen of one operation.
private struct SnapshotLook {
    let reference: OperationReference
    let priority: OperationPriority
    let attempt: Int
    let waits: [OperationWait]
    /// Of one that waits for no other one.
    let cause: Explanation.Cause?
    /// Looked at last: who is unfinished here was so all the time.
    let state: OperationState

    init(at operation: AnyOperation, _ inspection: inout StateInspector) {
        reference = operation.reference
        let found = inspection.waits(of: operation)
        waits = found.map(\.told)
        if let exclusion = waits.first?.exclusion {
            cause = .excluded(by: waits[0].source, exclusion: exclusion)
        } else {
            cause = found.isEmpty ? inspection.cause(of: operation) : nil
        }
        (priority, attempt) = operation.withLife { life in
            (operation.level, life.hasBegun ? Int(life.optionalState?.timing?.attempt ?? 1) : 0)
        }
        state = operation.state
    }

    func told(without finished: Set<OperationReference>, parent: OperationReference?) -> QueueSnapshot.Operation {
        let waits = finished.isEmpty ? waits : waits.filter { !finished.contains($0.source) }
        return QueueSnapshot.Operation(
            id: reference.id, name: reference.name, state: state, priority: priority, attempt: attempt, parent: parent,
            waitsFor: waits, cause: sentence(waits).singleLine)
    }

    private func sentence(_ waits: [OperationWait]) -> String {
        if let cause { return ExplanationFormatter.sentence(for: cause, of: reference) }
        // All that it waited for has finished in between.
        if waits.isEmpty { return ExplanationFormatter.sentence(for: .starting, of: reference) }
        return ExplanationFormatter.sentences(for: waits, of: reference).joined(separator: " ")
    }
}
