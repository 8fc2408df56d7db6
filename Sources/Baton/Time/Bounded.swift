extension Duration {
    /// 292 billion years, which can be added to any time. What is longer is taken as this.
    package static var endless: Duration { .seconds(Int64.max) }

    /// At most ``endless``, in both directions.
    package var bounded: Duration { min(max(self, .zero - .endless), .endless) }

    /// Neither negative nor longer than ``endless``.
    var isOrdinary: Bool { 0 <= attoseconds && attoseconds <= Int128(Int64.max) * 1_000_000_000_000_000_000 }
}
