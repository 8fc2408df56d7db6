public import Baton

extension Trace {
    /// Returns the graph as an SVG picture, drawn by Graphviz, which has to be installed.
    ///
    /// Graphviz takes about a second for a few thousand operations, and much longer for more. To stop it, cancel the
    /// task, or give the operation that calls this method a `timeout`. The method waits for Graphviz on a thread of its
    /// own, so it blocks no thread of the concurrency pool.
    ///
    /// - Parameter program: The path of Graphviz's `dot`, or nil for the first program of that name in the directories
    ///   of `PATH`.
    /// - Returns: The text of the SVG file.
    /// - Throws: ``TraceError``, or `CancellationError` if the task was cancelled.
    public func svg(dot program: String? = nil) async throws -> String {
        try await Graph(of: self).svg(named: queueName ?? "trace", program)
    }
}

extension QueueSnapshot {
    /// Returns the operations in the queue and what they wait for as an SVG picture, drawn by Graphviz, which has to be
    /// installed.
    ///
    /// - Parameter program: The path of Graphviz's `dot`, or nil for the first program of that name in the directories
    ///   of `PATH`.
    /// - Returns: The text of the SVG file.
    /// - Throws: ``TraceError``, or `CancellationError` if the task was cancelled.
    public func svg(dot program: String? = nil) async throws -> String {
        try await Graph(of: self).svg(named: name ?? "queue", program)
    }
}

extension Graph {
    fileprivate func svg(named name: String, _ program: String?) async throws -> String {
        let process = try GraphvizProcess(program: program)
        try Task.checkCancellation()
        let dot = dot(named: name)
        return try await withTaskCancellationHandler {
            try await BlockingThread.run { try process.svg(of: dot) }
        } onCancel: {
            process.cancel()
        }
    }
}
