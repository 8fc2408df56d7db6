/// Enough to overflow a stack, and to show what is quadratic. Under a sanitizer, which takes many times as long, a
/// tenth.
#if BATON_SANITIZED
    let veryMany = 10_000
#else
    let veryMany = 100_000
#endif
