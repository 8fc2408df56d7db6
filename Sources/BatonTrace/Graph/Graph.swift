import Baton

/// Operations and what they wait for, as nodes and edges to draw. A pure value.
struct Graph {
    /// The state of an operation, which decides its colour.
    enum Status: String, CaseIterable {
        case success, failure, cancelled, skipped, running, waiting
        /// The operation is only known as one that another operation waits for.
        case unknown

        /// The colours of the fill and the outline. Black text is readable on the fill.
        var colours: (fill: String, line: String) {
            switch self {
            case .success: ("#d9f2e3", "#2e8b57")
            case .failure: ("#fbdcdc", "#c0392b")
            case .cancelled: ("#fdebd0", "#b9770e")
            case .skipped: ("#ececec", "#7f8c8d")
            case .running: ("#dbe9fb", "#2468b4")
            case .waiting: ("#ffffff", "#95a5a6")
            case .unknown: ("#f4ecf7", "#884ea0")
            }
        }
    }

    struct Node {
        let id: UInt64
        let name: String
        /// The second line of the label.
        let note: String
        let status: Status
        let isCritical: Bool
    }

    struct Edge {
        let source: UInt64
        let target: UInt64
        /// The text on the edge: the kind of the dependency, "runs", "produces" or an exclusion. Empty for a plain
        /// order dependency.
        let label: String
        /// True if the edge is not a dependency: the source runs or has produced the target.
        let isParentEdge: Bool
        let isCritical: Bool
    }

    var nodes: [Node] = []
    var edges: [Edge] = []
}

extension Graph {
    init(of trace: Trace) {
        let path = trace.criticalPath()
        let critical = Set(path.operations.map(\.id))
        let successors = Self.successors(on: path)
        var known = Set<UInt64>()
        for operation in trace.operations {
            known.insert(operation.id)
            nodes.append(
                Node(
                    id: operation.id, name: operation.name, note: operation.note(until: trace.end),
                    status: operation.status, isCritical: critical.contains(operation.id)))
        }
        func connect(_ source: OperationReference, _ target: TracedOperation, _ label: String, isParentEdge: Bool) {
            // The source is not in the trace: it finished before the recording began, or is in another queue.
            if known.insert(source.id).inserted {
                nodes.append(Node(id: source.id, name: source.name, note: "", status: .unknown, isCritical: false))
            }
            edges.append(
                Edge(
                    source: source.id, target: target.id, label: label, isParentEdge: isParentEdge,
                    isCritical: successors[source.id]?.contains(target.id) ?? false))
        }
        for operation in trace.operations {
            for edge in operation.edges { connect(edge.source, operation, edge.kind.label, isParentEdge: false) }
            if let parent = operation.parent { connect(parent, operation, "runs", isParentEdge: true) }
            if let producer = operation.producer { connect(producer, operation, "produces", isParentEdge: true) }
        }
    }

    /// Returns the operations that follow each one on the path. An edge between two operations of the path that do not
    /// follow each other has not determined the end.
    private static func successors(on path: CriticalPath) -> [UInt64: Set<UInt64>] {
        var successors: [UInt64: Set<UInt64>] = [:]
        // The steps return to a parent after each of its children, and leave out operations that took no time.
        for ids in [path.operations.map(\.id), path.steps.map(\.operation.id)] {
            for (source, target) in zip(ids, ids.dropFirst()) { successors[source, default: []].insert(target) }
        }
        return successors
    }

    init(of snapshot: QueueSnapshot) {
        var known = Set<UInt64>()
        for operation in snapshot.operations {
            known.insert(operation.id)
            let isRunning = operation.state == .executing || operation.state == .finishing
            nodes.append(
                Node(
                    id: operation.id, name: operation.name, note: "\(operation.state)",
                    status: isRunning ? .running : .waiting, isCritical: false))
        }
        for operation in snapshot.operations {
            for wait in operation.waitsFor {
                if known.insert(wait.source.id).inserted {
                    nodes.append(
                        Node(
                            id: wait.source.id, name: wait.source.name, note: "", status: .unknown, isCritical: false
                        ))
                }
                let exclusion = wait.exclusion.map { ExclusionText.isWidth($0) ? $0 : "exclusion \($0)" }
                let label = wait.kind == .order ? "" : exclusion ?? wait.kind.rawValue
                edges.append(
                    Edge(
                        source: wait.source.id, target: operation.id, label: label, isParentEdge: wait.kind == .child,
                        isCritical: false))
            }
        }
    }
}

extension TracedOperation {
    var status: Graph.Status {
        switch outcome {
        case .success: .success
        case .failure: .failure
        case .cancelled: .cancelled
        case .skipped: .skipped
        case nil: attempts.last.map { $0.start != nil && $0.end == nil } ?? false ? .running : .waiting
        }
    }

    /// The second line of the label, such as "1.25 s, 3 attempts".
    fileprivate func note(until end: Duration) -> String {
        var parts: [String] = []
        if attempts.contains(where: { $0.start != nil }) { parts.append(runningTime(until: end).inShort) }
        if attempts.count > 1 { parts.append("\(attempts.count) attempts") }
        if status != .success { parts.append(status.rawValue) }
        return parts.joined(separator: ", ")
    }
}

extension TracedOperation.Edge.Kind {
    fileprivate var label: String {
        switch self {
        case .input: "input"
        case .order: ""
        case .onSuccess: "on success"
        case .onNoFailure: "unless it fails"
        case .onFailure: "on failure"
        }
    }
}
