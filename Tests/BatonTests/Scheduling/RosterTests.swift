import Testing

@testable import Baton

@Suite struct RosterTests {
    private let operations = (0..<6).map { AsyncOperation("\($0)") {} as AnyOperation }

    private func names(_ roster: Roster) -> [String] { roster.members().map { $0.name! }.sorted() }

    @Test func knowsWhoIsThere() {
        var roster = Roster()
        for operation in operations { roster.enter(.passUnretained(operation)) }
        #expect(roster.count == 6)
        #expect(names(roster) == ["0", "1", "2", "3", "4", "5"])
        roster.leave(operations[2])
        roster.leave(operations[5])
        roster.leave(operations[0])
        #expect(roster.count == 3)
        #expect((roster.entered, roster.left) == (6, 3))
        #expect(names(roster) == ["1", "3", "4"])
    }

    @Test func freePlacesAreUsedAgain() {
        var roster = Roster()
        for operation in operations[..<4] { roster.enter(.passUnretained(operation)) }
        roster.leave(operations[1])
        roster.leave(operations[2])
        roster.enter(.passUnretained(operations[4]))
        roster.enter(.passUnretained(operations[5]))
        #expect(operations[4].rosterIndex == 2)
        #expect(operations[5].rosterIndex == 1)
        #expect(names(roster) == ["0", "3", "4", "5"])
    }

    @Test func emptiedItBeginsAnew() {
        var roster = Roster()
        for _ in 0..<3 {
            for operation in operations { roster.enter(.passUnretained(operation)) }
            #expect(operations[0].rosterIndex == 0)
            for operation in operations { roster.leave(operation) }
            #expect(roster.count == 0)
            #expect(roster.members().isEmpty)
        }
    }

    @Test func reservingChangesNothing() {
        var roster = Roster()
        roster.enter(.passUnretained(operations[0]))
        roster.reserve(1_000)
        #expect(names(roster) == ["0"])
    }
}
