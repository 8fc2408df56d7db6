import Testing

@testable import Baton

@Suite struct OperationRegistryTests {
    private let operations = (0..<6).map { AsyncOperation("\($0)") {} as AnyOperation }

    private func names(_ registry: OperationRegistry) -> [String] { registry.members().map { $0.name! }.sorted() }

    @Test func knowsWhoIsThere() {
        var registry = OperationRegistry()
        for operation in operations { registry.insert(Unretained(operation)) }
        #expect(registry.count == 6)
        #expect(names(registry) == ["0", "1", "2", "3", "4", "5"])
        registry.remove(operations[2])
        registry.remove(operations[5])
        registry.remove(operations[0])
        #expect(registry.count == 3)
        #expect((registry.insertedCount, registry.removedCount) == (6, 3))
        #expect(names(registry) == ["1", "3", "4"])
    }

    @Test func freePlacesAreUsedAgain() {
        var registry = OperationRegistry()
        for operation in operations[..<4] { registry.insert(Unretained(operation)) }
        registry.remove(operations[1])
        registry.remove(operations[2])
        registry.insert(Unretained(operations[4]))
        registry.insert(Unretained(operations[5]))
        #expect(operations[4].registryIndex == 2)
        #expect(operations[5].registryIndex == 1)
        #expect(names(registry) == ["0", "3", "4", "5"])
    }

    @Test func emptiedItBeginsAnew() {
        var registry = OperationRegistry()
        for _ in 0..<3 {
            for operation in operations { registry.insert(Unretained(operation)) }
            #expect(operations[0].registryIndex == 0)
            for operation in operations { registry.remove(operation) }
            #expect(registry.count == 0)
            #expect(registry.members().isEmpty)
        }
    }

    @Test("Operations are found by their places, each once, and free places hold none")
    func membersAtPlaces() {
        var registry = OperationRegistry()
        for operation in operations { registry.insert(Unretained(operation)) }
        registry.remove(operations[1])
        #expect(registry.members(at: [4, 1, 0, 4, 99]).map { $0.name! } == ["0", "4"])
    }

    @Test("An entry finds its operation until that operation is removed")
    func entries() {
        var registry = OperationRegistry()
        for operation in operations[..<3] { registry.insert(Unretained(operation)) }
        let entry = OperationRegistry.Entry(of: operations[1])
        #expect(registry.member(at: entry) === operations[1])
        registry.remove(operations[1])
        #expect(registry.member(at: entry) == nil)
        registry.insert(Unretained(operations[3]))
        #expect(registry.member(at: entry) == nil, "Another operation has its place.")
        registry.remove(operations[0])
        registry.remove(operations[2])
        registry.remove(operations[3])
        #expect(registry.member(at: entry) == nil, "The registry has no places any more.")
    }

    @Test func reservingChangesNothing() {
        var registry = OperationRegistry()
        registry.insert(Unretained(operations[0]))
        registry.reserve(1_000)
        #expect(names(registry) == ["0"])
    }
}
