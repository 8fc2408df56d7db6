import Baton
import Testing

@testable import BatonFoundation

@Suite struct CounterpartsTests {
    private final class Made: Sendable {}

    @Test func whatIsKeptIsFoundAgain() {
        let table = Counterparts<Made>()
        let (operation, other) = (AsyncOperation {}, AsyncOperation {})
        let first = table.find(for: operation) { Made() }
        let again = table.find(for: operation) { Made() }
        #expect(first.isNew && !again.isNew)
        #expect(first.made === again.made)
        #expect(table.find(for: other) { Made() }.isNew)
        withExtendedLifetime(first.made) {}
    }

    @Test func whatHasGoneIsMadeAnew() {
        let table = Counterparts<Made>()
        let operation = AsyncOperation {}
        #expect(table.find(for: operation) { Made() }.isNew)
        let second = table.find(for: operation) { Made() }
        #expect(second.isNew)
        #expect(table.count == 1)
        withExtendedLifetime(second.made) {}
    }

    @Test func whatIsForgottenIsThatOneAndNotItsSuccessor() {
        let table = Counterparts<Made>()
        let operation = AsyncOperation {}
        let made = table.find(for: operation) { Made() }.made
        table.forget(ObjectIdentifier(operation), of: operation.reference.id)
        #expect(table.count == 1)
        table.forget(made, of: operation)
        #expect(table.count == 0)
    }
}
