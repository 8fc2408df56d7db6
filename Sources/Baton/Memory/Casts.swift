/// Casts that are known to succeed, and that would take several times as long as what surrounds them if the runtime
/// checked them. A debug build checks the first one.
///
/// `_openExistential` and `_isPOD` are not documented parts of the standard library. This file is the only one that
/// calls them.

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

/// Returns the value in an existential as an `Output`. The existential has to be opened, because `Stored` would
/// otherwise be `any Sendable` itself.
@inlinable
@inline(__always)
func castStored<Output>(_ value: any Sendable, to type: Output.Type) -> Output {
    func opened<Stored>(_ value: Stored) -> Output { cast(value, to: type) }
    return _openExistential(value, do: opened)
}

/// Returns true if releasing a value of this type does nothing, because the type contains no references. A conformance
/// to `BitwiseCopyable` says the same, but cannot be looked up at run time.
@inlinable
@inline(__always)
func isPlainData<Value>(_: Value.Type) -> Bool { _isPOD(Value.self) }

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
