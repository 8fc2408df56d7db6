import Baton

extension Graph {
    func mermaid() -> String {
        var lines = ["flowchart LR"]
        for node in nodes {
            let name = node.name.isEmpty ? " " : node.name
            let text = Self.text(name) + (node.note.isEmpty ? "" : "<br/>" + Self.text(node.note))
            lines.append("  n\(node.id)[\"\(text)\"]:::\(node.status.rawValue)")
        }
        for edge in edges {
            let arrow = edge.isParentEdge ? "-.->" : edge.isCritical ? "==>" : "-->"
            let label = edge.label.isEmpty ? "" : "|\"\(Self.text(edge.label))\"|"
            lines.append("  n\(edge.source) \(arrow)\(label) n\(edge.target)")
        }
        for status in Status.allCases {
            let (fill, line) = status.colours
            lines.append("  classDef \(status.rawValue) fill:\(fill),stroke:\(line),color:#111")
        }
        for node in nodes where node.isCritical { lines.append("  style n\(node.id) stroke-width:4px") }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Returns the text as it is written in a label. Letters, digits, spaces and characters outside ASCII stay as they
    /// are. All other characters become character codes in the form of Mermaid, because they may have a meaning there.
    private static func text(_ text: String) -> String {
        escaped(text) { scalar in
            let character = Character(scalar)
            if character.isNewline { return "<br/>" }
            let isPlain =
                !scalar.isASCII || character.isLetter || character.isNumber || " .,:-_/+".contains(character)
            return isPlain ? nil : "#\(scalar.value);"
        }
    }
}
