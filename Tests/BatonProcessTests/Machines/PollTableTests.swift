import Testing

@testable import BatonProcess

@Suite struct PollTableTests {
    private typealias Table = PollTable<String>

    @Test func aWatchIsPartOfTheNextRound() {
        var table = Table()
        let (ticket, mustWake) = table.add("a", for: .writing, on: 7)
        #expect(!mustWake)
        #expect(table.nextRound() == [Table.Watch(ticket: ticket, descriptor: 7, interest: .writing)])
        #expect(table.endRound(ready: [ticket]) == ["a"])
        #expect(table.count == 0)
    }

    @Test func whoComesInARoundWakesTheThreadOnce() {
        var table = Table()
        _ = table.nextRound()
        let wakes = [table.add("a", for: .reading, on: 7).mustWake, table.add("b", for: .reading, on: 8).mustWake]
        #expect(wakes == [true, false])
        #expect(table.endRound(ready: []) == [])
        let wakesAgain = table.add("c", for: .reading, on: 9).mustWake
        #expect(!wakesAgain)
        #expect(table.nextRound()?.count == 3)
    }

    @Test func onlyThoseThatAreReadyAreTakenOut() {
        var table = Table()
        let first = table.add("a", for: .reading, on: 7).ticket
        let second = table.add("b", for: .reading, on: 7).ticket
        _ = table.nextRound()
        #expect(table.endRound(ready: [second]) == ["b"])
        #expect(table.nextRound()?.map(\.ticket) == [first])
    }

    @Test func oneThatIsRemovedInARoundIsNotTold() {
        var table = Table()
        let ticket = table.add("a", for: .reading, on: 7).ticket
        _ = table.nextRound()
        table.remove(ticket)
        // Its descriptor may be somebody else's by now.
        let other = table.add("b", for: .reading, on: 7).ticket
        #expect(table.endRound(ready: [ticket]) == [])
        #expect(table.nextRound()?.map(\.ticket) == [other])
    }

    @Test func closedItEndsTheThread() {
        var table = Table()
        _ = table.nextRound()
        let mustWake = table.close()
        #expect(mustWake)
        _ = table.endRound(ready: [])
        #expect(table.nextRound() == nil)
    }
}
