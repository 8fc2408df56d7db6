extension Duration {
    /// The longest duration that is distinguished, 292 billion years: it can be added to any time without overflow.
    package static var endless: Duration { .seconds(Int64.max) }

    /// The duration, clamped to ±``endless``.
    package var bounded: Duration { min(max(self, .zero - .endless), .endless) }

    /// True if the duration is neither negative nor longer than ``endless``.
    var isOrdinary: Bool { 0 <= attoseconds && attoseconds <= Int128(Int64.max) * 1_000_000_000_000_000_000 }

    /// The duration in nanoseconds, rounded up, and clamped to the 292 years that an `Int64` can represent.
    var wholeNanoseconds: Int64 {
        let (whole, rest) = attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return Int64(clamping: whole + (rest > 0 ? 1 : 0))
    }
}
