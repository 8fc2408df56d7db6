/// A number that is large enough to overflow a stack, and to reveal quadratic time. Sanitizers are many times slower,
/// so they use a tenth of it.
#if BATON_SANITIZED
    let veryMany = 10_000
#else
    let veryMany = 100_000
#endif
