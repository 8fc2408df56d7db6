public import Baton

extension LiveView {
    /// The options of a live view.
    ///
    /// ```swift
    /// var options = LiveView.Options()
    /// options.style = .lines
    /// options.failureCount = 10
    /// let view = LiveView(of: queue, options: options)
    /// ```
    public struct Options: Sendable {
        /// A way to show the operations.
        @nonexhaustive
        public enum Style: Sendable, Hashable {
            /// Redraws in place if the output is a terminal that can do that, otherwise writes plain lines.
            case automatic
            /// Redraws in place.
            case redrawn
            /// Writes a plain line for each change.
            case lines
        }

        /// The file descriptor to write to. The default is standard error. The view does not close it.
        public var output: CInt = 2
        /// The way to show the operations. The default depends on the output.
        public var style = Style.automatic
        /// The shortest time between two redraws. The default is 100 ms. Plain lines are written ten times less often.
        public var interval = Duration.milliseconds(100)
        /// The number of recent failures that are shown with their errors when redrawing. The default is 3.
        ///
        /// A terminal with few rows shows fewer, and plain lines show all. Operations that failed because an operation
        /// that they needed had failed are only counted.
        public var failureCount = 3
        /// True if all operations have been added, or will be soon. Otherwise there are no bars, and the time left is
        /// "?".
        public var knowsTotals = true
        /// Returns the name of the stage that an operation belongs to. The default is ``Trace/stageName(of:)``.
        ///
        /// The closure is called once for each operation, on a thread of the view, and never concurrently.
        public var stage: @Sendable (OperationReference) -> String = { Trace.stageName(of: $0) }

        /// Makes options with the default values.
        public init() {}
    }
}
