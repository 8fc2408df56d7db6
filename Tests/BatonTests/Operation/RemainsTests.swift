import Testing

@testable import Baton

@Suite("The release of an operation, and its size")
struct RemainsTests {
    /// A property that is missing here is new. If its value can retain an operation, it also belongs to
    /// ``AnyOperation/Remains``.
    @Test("Every stored property of an operation is released in a loop, or can hold no operation")
    func everyProperty() {
        let released: Set = ["body", "edges", "life", "outcome"]
        let harmless: Set = [
            "lock", "dependencyCounter", "queueNumber", "registryIndex", "priorityStorage", "goesFirst", "hasFailed",
            "requiresInputOutputs",
            "kinship", "outcomeOwns", "membership", "unretainedCore", "next", "previous", "fallbackName",
        ]
        let operation: AnyOperation = AsyncOperation {}
        var mirror: Mirror? = Mirror(reflecting: operation)
        var found: Set<String> = []
        while let level = mirror {
            found.formUnion(level.children.compactMap(\.label))
            mirror = level.superclassMirror
        }
        #expect(found == released.union(harmless))
    }

    /// Linux allocates blocks in steps of 16 bytes, of which the allocator uses eight. With one byte more, each
    /// operation would take 16 bytes more.
    @Test("A bare operation takes no more than 168 bytes") func size() {
        #expect(instanceSize(of: AsyncOperation<Void>.self) <= 168)
        #expect(instanceSize(of: AsyncOperation<String>.self) <= 168)
    }
}

/// The function of the standard library that allocates the buffers of arrays. It is not public.
@_silgen_name("$ss36_class_getInstancePositiveExtentSizeySiyXlXpF")
private func instanceSize(of type: AnyClass) -> Int
