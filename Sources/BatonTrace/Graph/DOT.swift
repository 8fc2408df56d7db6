public import Baton

extension Trace {
    /// The operations and their dependencies in the DOT language of Graphviz, coloured by outcome; the critical path is
    /// bold.
    ///
    /// Any name gives a valid text: control characters become spaces, all others stay what they are. Of a name with
    /// more than a thousand the rest is cut, because Graphviz refuses long ones.
    public func dot() -> String { Graph(of: self).dot(named: queueName ?? "trace") }

    /// The same as a flowchart in the language of Mermaid, which GitHub shows in a code block named `mermaid`.
    public func mermaid() -> String { Graph(of: self).mermaid() }
}

extension QueueSnapshot {
    /// What is in the queue at this moment and what it waits for, in the DOT language of Graphviz.
    public func dot() -> String { Graph(of: self).dot(named: name ?? "queue") }

    /// The same as a flowchart in the language of Mermaid.
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
            let (fill, line) = node.condition.colours
            // Never empty: Graphviz would show nothing at all.
            let label = Self.label(node.name.isEmpty ? " " : node.name)
            let note = node.note.isEmpty ? "" : "\\n" + Self.label(node.note)
            let width = node.isCritical ? " penwidth=3" : ""
            lines.append("  n\(node.id) [label=\"\(label)\(note)\" fillcolor=\"\(fill)\" color=\"\(line)\"\(width)];")
        }
        for edge in edges {
            var attributes: [String] = []
            if !edge.label.isEmpty { attributes.append("label=\"\(Self.label(edge.label))\"") }
            if edge.isOrigin { attributes.append("style=dashed") }
            if edge.isCritical { attributes.append("penwidth=3") }
            let list = attributes.isEmpty ? "" : " [\(attributes.joined(separator: " "))]"
            lines.append("  n\(edge.source) -> n\(edge.target)\(list);")
        }
        return lines.joined(separator: "\n") + "\n}\n"
    }

    /// As an ID, in which only the quote is special. A backslash before a quote could not be told from an escape.
    private static func quoted(_ text: String) -> String {
        "\"\(spelled(text) { $0 == "\"" || $0 == "\\" || $0 == "\n" ? " " : nil })\""
    }

    /// In a label a backslash begins an escape, and `&` an HTML entity.
    private static func label(_ text: String) -> String {
        spelled(text) { scalar in
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
