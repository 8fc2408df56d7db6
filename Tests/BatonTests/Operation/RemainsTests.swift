import Testing

@testable import Baton

@Suite("What an operation leaves behind")
struct RemainsTests {
    /// A field that is missing here is new. If what it holds can hold an operation, it belongs to
    /// ``AnyOperation/Remains``, too.
    @Test("Every stored property of an operation is released in a loop, or can hold no operation")
    func everyProperty() {
        let released: Set = ["body", "edges", "life", "outcome"]
        let harmless: Set = [
            "lock", "dependencyCounter", "queueNumber", "registryIndex", "priorityStorage", "goesFirst", "hasFailed",
            "requiresInputOutputs",
            "isChild", "outcomeOwns", "listing", "unretainedCore", "link", "backLink", "fallbackName",
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

    /// Linux hands out blocks in steps of 16 bytes, of which it keeps eight: with one more, each operation would take
    /// 16 more.
    @Test("A bare operation takes no more than 168 bytes") func size() {
        #expect(instanceSize(of: AsyncOperation<Void>.self) <= 168)
        #expect(instanceSize(of: AsyncOperation<String>.self) <= 168)
    }
}

/// The function of the standard library that makes the buffers of arrays; it is not public.
@_silgen_name("$ss36_class_getInstancePositiveExtentSizeySiyXlXpF")
private func instanceSize(of type: AnyClass) -> Int
