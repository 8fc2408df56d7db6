extension Trace {
    /// What a trace can be written as.
    @nonexhaustive
    public enum Picture: Sendable, Hashable, CaseIterable {
        /// A page to look at; see ``Trace/timeline(stage:)``.
        case timeline
        /// For tracing views; see ``Trace/chromeTrace()``.
        case chromeTrace
        /// For Graphviz; see ``Trace/dot()``.
        case dot
        /// For Mermaid; see ``Trace/mermaid()``.
        case mermaid
        /// A picture of the graph, for which Graphviz has to be installed; see ``Trace/svg(dot:)``.
        case svg
    }

    /// Writes a file, on a thread of its own: there is a whole one afterwards, or none; one that was there is replaced.
    /// What was there and is no file, such as a device, is written to.
    ///
    /// - Throws: ``TraceError/notWritten(path:reason:)`` if that does not work, and what ``svg(dot:)`` throws.
    public func write(_ picture: Picture, to path: String) async throws {
        let svg = picture == .svg ? try await svg() : ""
        try await OwnThread.run {
            let bytes =
                switch picture {
                case .timeline: timelineBytes()
                case .chromeTrace: chromeTraceBytes()
                case .dot: Array(dot().utf8)
                case .mermaid: Array(mermaid().utf8)
                case .svg: Array(svg.utf8)
                }
            try PictureFile.write(bytes, to: path)
        }
    }
}
