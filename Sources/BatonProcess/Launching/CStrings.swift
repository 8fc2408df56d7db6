internal import CBatonProcess

/// Texts as C wants them: each ending with a zero, the list with a null. Freed with this.
final class CStrings {
    private(set) var pointers: [UnsafeMutablePointer<CChar>?] = [nil]

    deinit {
        for pointer in pointers { pointer?.deallocate() }
    }

    convenience init(_ texts: [String]) {
        self.init()
        for text in texts { append(text) }
    }

    func append(_ text: String) { text.withCString { append($0) } }

    /// A copy of it.
    func append(_ text: UnsafePointer<CChar>) {
        var count = 1
        while text[count - 1] != 0 { count += 1 }
        let copy = UnsafeMutablePointer<CChar>.allocate(capacity: count)
        copy.initialize(from: text, count: count)
        pointers.insert(copy, at: pointers.count - 1)
    }
}
