import Testing

@testable import Baton

@Suite("What an operation leaves behind")
struct RemainsTests {
    /// A field that is missing here is new. If what it holds can hold an operation, it belongs to ``AnyOperation/Remains``, too.
    @Test("Every stored property of an operation is released in a loop, or can hold no operation")
    func everyProperty() {
        let released: Set = ["body", "edges", "life", "outcome"]
        let harmless: Set = [
            "lock", "countdown", "queueNumber", "rosterIndex", "levelStorage", "goesFirst", "hasFailed", "needsInputs",
            "isChild", "outcomeOwns", "listing", "home", "link", "backLink", "runNumber", "fallbackName",
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
}
