internal import CBatonProcess

/// A null-terminated array of C strings, as `execve` takes it. The strings are freed when the object is released.
final class CStringArray {
    private(set) var pointers: [UnsafeMutablePointer<CChar>?] = [nil]

    deinit {
        for pointer in pointers { pointer?.deallocate() }
    }

    convenience init(_ texts: [String]) {
        self.init()
        for text in texts { append(text) }
    }

    func append(_ text: String) { text.withCString { append($0) } }

    /// Appends a copy of the text.
    func append(_ text: UnsafePointer<CChar>) {
        var count = 1
        while text[count - 1] != 0 { count += 1 }
        let copy = UnsafeMutablePointer<CChar>.allocate(capacity: count)
        copy.initialize(from: text, count: count)
        pointers.insert(copy, at: pointers.count - 1)
    }
}
