internal import Baton

/// The reason why a picture of a ``Trace`` could not be made or written.
@nonexhaustive
public enum TraceError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Graphviz is not installed. `searched` lists the paths where its program `dot` was looked for.
    case graphvizMissing(searched: [String])
    /// The program `dot` ended with this status. `message` is the text of its standard error.
    case graphvizFailed(status: Int32, message: String)
    /// The file could not be written. `reason` is the text of the system.
    case notWritten(path: String, reason: String)

    /// A message that says what happened and what to do.
    public var description: String { text.cleanLines }

    private var text: String {
        switch self {
        case .graphvizMissing(let searched):
            "There is no program ‘dot’ in \(searched.joined(separator: ", ")). Install Graphviz (apt-get install graphviz, "
                + "brew install graphviz), say where it is, or write .dot or .mermaid, which need no program."
        case .graphvizFailed(let status, let message):
            "Graphviz could not draw the graph: ‘dot’ ended with status \(status). \(message)"
        case .notWritten(let path, let reason):
            "The picture could not be written to ‘\(path)’: \(reason)"
        }
    }
}
