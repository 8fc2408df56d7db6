extension Duration {
    /// The longest duration that is distinguished, 292 billion years: it can be added to any time without overflow.
    package static var endless: Duration { .seconds(Int64.max) }

    /// The duration, clamped to ±``endless``.
    package var bounded: Duration { min(max(self, .zero - .endless), .endless) }

    /// True if the duration is neither negative nor longer than ``endless``.
    var isOrdinary: Bool { 0 <= attoseconds && attoseconds <= Int128(Int64.max) * 1_000_000_000_000_000_000 }
}
