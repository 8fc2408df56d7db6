public import Baton

extension LiveView {
    /// What a live view shows, and where.
    public struct Options: Sendable {
        /// How it is shown.
        @nonexhaustive
        public enum Style: Sendable, Hashable {
            /// Redrawn on a terminal that can do that, else plain lines.
            case automatic
            /// Redrawn in place.
            case redrawn
            /// Plain lines, one for each thing worth saying.
            case lines
        }

        /// The file descriptor to write to: standard error. It stays open, and is the program's.
        public var output: CInt = 2
        /// How it is shown: by default as suits the output.
        public var style = Style.automatic
        /// The least time between two redraws: 100 ms. Plain lines come ten times less often.
        public var interval = Duration.milliseconds(100)
        /// How many of the last failures are shown in place, with their errors: 3. A low terminal shows fewer, plain
        /// lines show all. Operations that failed because one that they needed had failed are only counted.
        public var failureCount = 3
        /// Whether everything has been added, or will be soon. If not there are no bars, and the time left is "?".
        public var knowsTotals = true
        /// Which operations belong together: by default those that are one stage for ``Trace/stageName(of:)``, too.
        ///
        /// Called once for each operation, on a thread of the view, never at the same time.
        public var stage: @Sendable (OperationReference) -> String = { Trace.stageName(of: $0) }

        /// What is said at each property.
        public init() {}
    }
}
