extension Trace {
    /// A format in which a trace can be written.
    @nonexhaustive
    public enum Picture: Sendable, Hashable, CaseIterable {
        /// An HTML page; see ``Trace/timeline(stage:)``.
        case timeline
        /// JSON for trace viewers; see ``Trace/chromeTrace()``.
        case chromeTrace
        /// The graph as text for Graphviz; see ``Trace/dot()``.
        case dot
        /// The graph as text for Mermaid; see ``Trace/mermaid()``.
        case mermaid
        /// The graph as an SVG picture, for which Graphviz has to be installed; see ``Trace/svg(dot:)``.
        case svg
    }

    /// Writes the trace to a file, on a thread of its own.
    ///
    /// The file is written atomically: afterwards it is complete, or does not exist. An existing file is replaced. If
    /// the path names something else than a regular file, such as a device, that is written to.
    ///
    /// - Parameters:
    ///   - picture: The format of the file.
    ///   - path: The path of the file.
    /// - Throws: ``TraceError/notWritten(path:reason:)`` if the file cannot be written, and the errors of
    ///   ``svg(dot:)``.
    public func write(_ picture: Picture, to path: String) async throws {
        let svg = picture == .svg ? try await svg() : ""
        try await BlockingThread.run {
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
