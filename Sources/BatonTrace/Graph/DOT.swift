public import Baton

extension Trace {
    /// Returns the operations and their dependencies in the DOT language of Graphviz, coloured by outcome.
    ///
    /// The critical path is bold. Every name gives valid DOT: control characters become spaces, and all other
    /// characters stay as they are. A name is cut after a thousand characters, because Graphviz refuses long names.
    ///
    /// - Complexity: O(*n* log *n*), where *n* is the number of events in the trace.
    public func dot() -> String { Graph(of: self).dot(named: queueName ?? "trace") }

    /// Returns the same graph as a flowchart in the language of Mermaid, which GitHub shows in a code block named
    /// `mermaid`.
    ///
    /// - Complexity: O(*n* log *n*), where *n* is the number of events in the trace.
    public func mermaid() -> String { Graph(of: self).mermaid() }
}

extension QueueSnapshot {
    /// Returns the operations in the queue and what they wait for, in the DOT language of Graphviz.
    ///
    /// - Complexity: O(*n*), where *n* is the number of operations and waits.
    public func dot() -> String { Graph(of: self).dot(named: name ?? "queue") }

    /// Returns the operations in the queue and what they wait for as a flowchart in the language of Mermaid.
    ///
    /// - Complexity: O(*n*), where *n* is the number of operations and waits.
    public func mermaid() -> String { Graph(of: self).mermaid() }
}

extension Graph {
    func dot(named name: String) -> String {
        var lines = [
            "digraph \(Self.quoted(name)) {",
            "  rankdir=LR; bgcolor=\"transparent\";",
            "  node [shape=box style=\"rounded,filled\" fontname=\"Helvetica,Arial,sans-serif\" fontsize=11];",
            "  edge [color=\"#7f8c8d\" fontname=\"Helvetica,Arial,sans-serif\" fontsize=9];",
        ]
        for node in nodes {
            let (fill, line) = node.status.colours
            // A node with an empty label has no size in Graphviz.
            let label = Self.label(node.name.isEmpty ? " " : node.name)
            let note = node.note.isEmpty ? "" : "\\n" + Self.label(node.note)
            let width = node.isCritical ? " penwidth=3" : ""
            lines.append("  n\(node.id) [label=\"\(label)\(note)\" fillcolor=\"\(fill)\" color=\"\(line)\"\(width)];")
        }
        for edge in edges {
            var attributes: [String] = []
            if !edge.label.isEmpty { attributes.append("label=\"\(Self.label(edge.label))\"") }
            if edge.isParentEdge { attributes.append("style=dashed") }
            if edge.isCritical { attributes.append("penwidth=3") }
            let list = attributes.isEmpty ? "" : " [\(attributes.joined(separator: " "))]"
            lines.append("  n\(edge.source) -> n\(edge.target)\(list);")
        }
        return lines.joined(separator: "\n") + "\n}\n"
    }

    /// Returns the text as a quoted ID, in which only the quote is special. A backslash becomes a space, because one
    /// before the closing quote could not be told from an escape.
    private static func quoted(_ text: String) -> String {
        "\"\(escaped(text) { $0 == "\"" || $0 == "\\" || $0 == "\n" ? " " : nil })\""
    }

    /// Returns the text as it is written in a label, where a backslash begins an escape and `&` begins an HTML entity.
    private static func label(_ text: String) -> String {
        escaped(text) { scalar in
            switch scalar {
            case "\\": "\\\\"
            case "\"": "\\\""
            case "&": "&amp;"
            case "\n": "\\n"
            default: nil
            }
        }
    }
}
