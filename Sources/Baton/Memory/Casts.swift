/// Casts that are known to succeed, and that would take several times as long as what surrounds them if the runtime
/// checked them. A debug build checks the first one.

extension AnyOperation {
    /// This operation with its output type, which the caller knows.
    @inlinable
    @inline(__always)
    final func withOutput<Output>(_: Output.Type) -> AsyncOperation<Output> {
        unsafeDowncast(self, to: AsyncOperation<Output>.self)
    }
}

/// Returns a stored value as an `Output`. The two types are nearly always the same.
@inlinable
@inline(__always)
func cast<Stored, Output>(_ value: Stored, to _: Output.Type) -> Output {
    // Safe, because both types are one.
    Stored.self == Output.self ? unsafeBitCast(value, to: Output.self) : value as! Output
}

extension Array where Element: AnyOperation {
    /// The same array, as one of the superclass. An ordinary conversion would copy it, and retain each operation.
    var asOperations: [AnyOperation] {
        // Safe, because an array stores a reference to a subclass as it stores one to the superclass.
        unsafeBitCast(self, to: [AnyOperation].self)
    }
}

// MARK: - Addresses that live as long as the process

/// Returns the type that has this address, which is the bit pattern of its `ObjectIdentifier`. Returns nil for 0.
func metatype(at address: UInt) -> Any.Type? {
    // Safe, because a metatype is the address of the type's metadata, which is never freed.
    address == 0 ? nil : unsafeBitCast(address, to: Any.Type.self)
}

/// Returns the text of the static string at this address, or nil for 0.
func text(ofStaticStringAt address: UInt) -> String? {
    // Safe, because a static string ends with a null byte and is never freed.
    UnsafePointer<CChar>(bitPattern: address).map { String(cString: $0) }
}
