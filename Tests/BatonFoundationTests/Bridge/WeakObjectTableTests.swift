import Baton
import Testing

@testable import BatonFoundation

@Suite struct WeakObjectTableTests {
    private final class Object: Sendable {}

    @Test func aKeptObjectIsFoundAgain() {
        let table = WeakObjectTable<Object>()
        let (operation, other) = (AsyncOperation {}, AsyncOperation {})
        let first = table.find(for: operation) { Object() }
        let again = table.find(for: operation) { Object() }
        #expect(first.isNew && !again.isNew)
        #expect(first.object === again.object)
        #expect(table.find(for: other) { Object() }.isNew)
        withExtendedLifetime(first.object) {}
    }

    @Test func aReleasedObjectIsMadeAgain() {
        let table = WeakObjectTable<Object>()
        let operation = AsyncOperation {}
        #expect(table.find(for: operation) { Object() }.isNew)
        let second = table.find(for: operation) { Object() }
        #expect(second.isNew)
        #expect(table.count == 1)
        withExtendedLifetime(second.object) {}
    }

    @Test func forgettingAnObjectLeavesItsSuccessor() {
        let table = WeakObjectTable<Object>()
        let operation = AsyncOperation {}
        let object = table.find(for: operation) { Object() }.object
        table.forget(ObjectIdentifier(operation), of: operation.reference.id)
        #expect(table.count == 1)
        table.forget(object, of: operation)
        #expect(table.count == 0)
    }
}
