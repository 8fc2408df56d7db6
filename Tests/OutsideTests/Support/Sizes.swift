/// Returns a size, or a tenth of it under a sanitizer, which makes programs many times slower.
func reduced(_ size: Int) -> Int {
    #if BATON_SANITIZED
        max(1, size / 10)
    #else
        size
    #endif
}
