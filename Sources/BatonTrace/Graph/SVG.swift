public import Baton

extension Trace {
    /// The graph as an SVG picture, drawn by Graphviz, which has to be installed.
    ///
    /// Graphviz takes a second for some thousand operations, and much longer for more: cancel the task, or give the
    /// operation that calls this a `timeout`, and it is stopped. It runs on a thread of its own, not on one that others
    /// need.
    ///
    /// - Parameter program: What draws; nil: the first one named `dot` in the places of `PATH`.
    /// - Throws: ``TraceError``, or `CancellationError` if the task was cancelled.
    public func svg(dot program: String? = nil) async throws -> String {
        try await Graph(of: self).svg(named: queueName ?? "trace", program)
    }
}

extension QueueSnapshot {
    /// What is in the queue and what it waits for as an SVG picture, drawn by Graphviz, which has to be installed.
    ///
    /// - Parameter program: What draws; nil: the first one named `dot` in the places of `PATH`.
    /// - Throws: ``TraceError``, or `CancellationError` if the task was cancelled.
    public func svg(dot program: String? = nil) async throws -> String {
        try await Graph(of: self).svg(named: name ?? "queue", program)
    }
}

extension Graph {
    fileprivate func svg(named name: String, _ program: String?) async throws -> String {
        let run = try GraphvizRun(program: program)
        try Task.checkCancellation()
        let dot = dot(named: name)
        return try await withTaskCancellationHandler {
            try await OwnThread.run { try run.svg(of: dot) }
        } onCancel: {
            run.cancel()
        }
    }
}
