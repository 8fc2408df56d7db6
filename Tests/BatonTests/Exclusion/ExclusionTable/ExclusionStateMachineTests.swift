import Testing

@testable import Baton

@Suite struct ExclusionStateMachineTests {
    typealias Event = ExclusionStateMachineRig.Event

    struct Row: CustomTestStringConvertible {
        let what: String
        let before: [Event]
        let event: Event
        /// The owners whose claims are granted, in the order in which the state machine reports them.
        let granted: String

        init(_ what: String, _ before: [Event], then event: Event, grants granted: String) {
            (self.what, self.before, self.event, self.granted) = (what, before, event, granted)
        }

        var testDescription: String { what }
    }

    private func check(_ row: Row) {
        let rig = ExclusionStateMachineRig(after: row.before)
        #expect(rig.happen(row.event) == row.granted)
    }

    @Test(arguments: [
        Row("nobody else", [], then: .ask("a", .all), grants: "a"),
        Row("nothing asked", [.ask("a", .all)], then: .ask("b", []), grants: "b"),
        Row("a writer is alone", [.ask("a", .all)], then: .ask("b", .all), grants: ""),
        Row("a writer keeps readers out", [.ask("a", .all)], then: .ask("b", .shared), grants: ""),
        Row("a reader keeps writers out", [.ask("a", .shared)], then: .ask("b", .all), grants: ""),
        Row("readers share", [.ask("a", .shared)], then: .ask("b", .shared), grants: "b"),
        Row("another name", [.ask("a", .all)], then: .ask("b", .otherAll), grants: "b"),
        Row("up to the limit", [.ask("a", .units(2))], then: .ask("b", .units(1)), grants: "b"),
        Row("not beyond the limit", [.ask("a", .units(2))], then: .ask("b", .units(2)), grants: ""),
        Row("a reader takes no unit", [.ask("a", .units(3))], then: .ask("b", .shared), grants: "b"),
        Row("a unit keeps writers out", [.ask("a", .units(1))], then: .ask("b", .all), grants: ""),
        Row("a writer keeps units out", [.ask("a", .all)], then: .ask("b", .units(1)), grants: ""),
        Row(
            "the smallest limit of holders", [.ask("a", .units(1, of: 2))], then: .ask("b", .units(2, of: 9)),
            grants: ""),
        Row("the asker's limit", [.ask("a", .units(1, of: 9))], then: .ask("b", .units(2, of: 2)), grants: ""),
        Row(
            "the limit of one that has gone",
            [.ask("a", .units(1, of: 2)), .ask("b", .units(1, of: 9)), .release("a")],
            then: .ask("c", .units(8, of: 9)),
            grants: "c"),
        Row("all or nothing", [.ask("a", .all)], then: .ask("b", .otherAll, .all), grants: ""),
        Row(
            "nothing is held by one that waits for another name", [.ask("a", .all), .ask("b", .all, .otherAll)],
            then: .release("a"), grants: "b"),
        Row("more than there is", [], then: .ask("a", .units(4)), grants: ""),
        Row("no limit", [], then: .ask("a", .units(1, of: 0)), grants: ""),
        Row("a weight below 0 makes no room", [.ask("a", .units(3))], then: .ask("b", .units(.min)), grants: "b"),
        Row(
            "weights beyond Int.max", [.ask("a", .units(.max, of: .max))], then: .ask("b", .units(.max, of: .max)),
            grants: ""),
    ]) func holdersTolerateOneAnother(_ row: Row) { check(row) }

    @Test func weightsBelowOneGiveNobodyElseRoom() {
        let rig = ExclusionStateMachineRig(after: [.ask("a", .units(3)), .ask("b", .units(-1))])
        #expect(rig.happen(.ask("c", .units(1))) == "")
        #expect(rig.happen(.release("b")) == "")
        #expect(rig.happen(.release("a")) == "c")
    }

    @Test(arguments: [
        Row(
            "one after another", [.ask("a", .all), .ask("b", .all), .ask("c", .all)], then: .release("a"), grants: "b"),
        Row(
            "a reader does not pass a writer", [.ask("a", .shared), .ask("b", .all)], then: .ask("c", .shared),
            grants: ""),
        Row(
            "a small weight does not pass a great one", [.ask("a", .units(2)), .ask("b", .units(3))],
            then: .ask("c", .units(1)), grants: ""),
        Row(
            "readers at the head go together",
            [.ask("a", .all), .ask("b", .shared), .ask("c", .shared), .ask("d", .all), .ask("e", .shared)],
            then: .release("a"), grants: "b c"),
        Row(
            "one that waits for another name holds its place",
            [.ask("a", .all), .ask("b", .all, .otherAll)], then: .ask("c", .otherAll), grants: ""),
        Row(
            "the first on both names", [.ask("a", .all), .ask("b", .all, .otherAll), .ask("c", .otherAll)],
            then: .release("a"), grants: "b"),
        Row(
            "first on one name, second on the other",
            [.ask("a", .all), .ask("b", .otherAll), .ask("c", .otherAll), .ask("d", .all, .otherAll)],
            then: .release("a"), grants: ""),
        Row(
            "a withdrawal from the head lets the next go", [.ask("a", .shared), .ask("b", .all), .ask("c", .shared)],
            then: .release("b"), grants: "c"),
        Row(
            "a withdrawal from the head on one of two names",
            [.ask("a", .all), .ask("b", .all, .otherAll), .ask("c", .otherAll)], then: .release("b"), grants: "c"),
        Row(
            "a withdrawal from the middle",
            [.ask("a", .all), .ask("b", .all), .ask("c", .all), .ask("d", .all), .release("c"), .release("a")],
            then: .release("b"), grants: "d"),
        Row(
            "told in the order of arrival, over all names",
            [.ask("a", .all, .otherAll), .ask("b", .otherAll), .ask("c", .all)], then: .release("a"), grants: "b c"),
        Row(
            "a grant that frees a wait queue",
            [
                .ask("a", .all), .ask("b", .otherShared), .ask("c", .all, .otherShared), .ask("d", .otherShared),
            ], then: .release("a"), grants: "c d"),
    ]) func linesAreFirstComeFirstServed(_ row: Row) { check(row) }

    @Test(arguments: [
        Row(
            "it goes before the queued owners",
            [.ask("a", .all), .ask("b", .all), .ask("c", .all), .leaveQueues("c")], then: .release("a"), grants: "c"),
        Row(
            "it goes when holders allow", [.ask("a", .shared), .ask("b", .all), .ask("c", .shared)],
            then: .leaveQueues("c"), grants: "c"),
        Row(
            "those behind it go on", [.ask("a", .shared), .ask("b", .all), .ask("c", .shared)],
            then: .leaveQueues("b"), grants: "c"),
        Row(
            "it holds up no newcomer", [.ask("a", .shared), .ask("b", .all), .leaveQueues("b")],
            then: .ask("c", .shared), grants: "c"),
        Row(
            "it gets all names at once",
            [.ask("a", .all), .ask("b", .otherAll), .ask("c", .all, .otherAll), .leaveQueues("c"), .release("a")],
            then: .release("b"), grants: "c"),
        Row(
            "two of them in the order of arrival",
            [
                .ask("a", .all), .ask("b", .all), .ask("c", .all), .ask("d", .all), .leaveQueues("d"),
                .leaveQueues("c"),
            ], then: .release("a"), grants: "c"),
        Row("one that holds", [.ask("a", .all), .ask("b", .all)], then: .leaveQueues("a"), grants: ""),
        Row(
            "a withdrawal", [.ask("a", .all), .ask("b", .all), .leaveQueues("b"), .release("b"), .ask("c", .all)],
            then: .release("a"), grants: "c"),
    ]) func oneThatLeftTheLineWaitsForHoldersAlone(_ row: Row) { check(row) }

    @Test func standingsFollowTheEvents() {
        let rig = ExclusionStateMachineRig(after: [
            .ask("a", .all), .ask("b", .all), .ask("c", .all), .leaveQueues("c"),
        ])
        let owners = ["a", "b", "c", "d"].map { rig.owner($0) }
        #expect(
            owners.map { rig.machine.claimState(of: $0) }
                == [.held, .waiting(isQueued: true), .waiting(isQueued: false), .none])
        let answers = owners.map { rig.machine.release($0).claim }
        // The third owner was granted what the first one released.
        #expect(answers == [.held, .waiting, .held, .none])
        #expect(rig.machine.isEmpty)
    }

    @Test func aSecondRequestChangesNothing() {
        let rig = ExclusionStateMachineRig(after: [.ask("a", .all), .ask("b", .all)])
        #expect(rig.happen(.ask("a", .otherAll)) == "a")
        #expect(rig.happen(.ask("b", .otherAll)) == "")
        #expect(rig.happen(.ask("c", .otherAll)) == "c")
        for path in ["a", "b", "c"] { rig.happen(.release(path)) }
        #expect(rig.machine.isEmpty)
    }

    @Test func anotherLimitIsFoundWhileSomebodyIsPresent() throws {
        let rig = ExclusionStateMachineRig(after: [.ask("a", .units(1, of: 3)), .ask("b", .units(3, of: 3))])
        let demands = ExclusionSet([.otherAll, .units(1, of: 4)])
        rig.happen(.release("a"))
        let conflict = try #require(rig.machine.conflictingLimit(for: demands))
        #expect("\(conflict.conflict.name)" == "‘n’")
        #expect((conflict.conflict.limit.limit, conflict.conflict.other.limit) == (4, 3))
        #expect(conflict.owner === rig.owner("b"))
        #expect(rig.machine.conflictingLimit(for: ExclusionSet([.units(2, of: 3), .otherAll])) == nil)
        #expect(rig.machine.conflictingLimit(for: ExclusionSet([.all])) == nil)
        rig.happen(.ask("c", .all))
        rig.happen(.release("b"))
        #expect(rig.machine.conflictingLimit(for: demands) == nil)
    }

    @Test func aLimitIsFoundBehindOneThatAgrees() {
        let rig = ExclusionStateMachineRig(after: [.ask("a", .units(1, of: 3)), .ask("b", .units(1, of: 5))])
        #expect(rig.machine.conflictingLimit(for: ExclusionSet([.units(1, of: 3)]))?.conflict.other.limit == 5)
        #expect(rig.machine.conflictingLimit(for: ExclusionSet([.units(1, of: 5)]))?.conflict.other.limit == 3)
    }

    @Test func aHundredThousandInOneLineAreServedInOrder() {
        final class Owner {}
        let owners = (0..<100_000).map { _ in Owner() }
        var machine = ExclusionStateMachine<Owner>()
        let demands = ExclusionSet([.all])
        for owner in owners { _ = machine.request(owner, demands, inside: []) }
        // Every third claim is withdrawn from the middle of the queue.
        for number in stride(from: 1, to: owners.count, by: 3) { _ = machine.release(owners[number]) }
        var holder = 0
        while true {
            let granted = machine.release(owners[holder]).granted
            let next = holder + (holder % 3 == 0 ? 2 : 1)
            guard next < owners.count else { break }
            guard granted.count == 1, granted[0] === owners[next] else {
                Issue.record("\(next) was to follow \(holder)")
                return
            }
            holder = next
        }
        #expect(machine.isEmpty)
    }

    /// The table examines a claim once, not once for each of its names.
    @Test("A claim that waits for many names is one candidate")
    func oneThatWaitsForManyNamesIsOneCandidate() {
        final class Owner {}
        let owners = [Owner(), Owner()]
        let ids = owners.map { ObjectIdentifier($0) }
        let demands = ExclusionSet((0..<100).map { .mutuallyExclusive("name \($0)") })
        var table = ExclusionTable()
        let claims = ids.map { table.insert($0, demands, inside: [])! }
        table.grant(claims[0])
        #expect(table.candidates.count == 1)
        #expect(table.grantCandidates().isEmpty)
        table.remove(claims[0])
        #expect(table.candidates.count == 1)
        #expect(table.grantCandidates() == [claims[1]])
    }

    @Test func ownersAreKeptWhileTheyWaitOrHold() {
        final class Owner {}
        var machine = ExclusionStateMachine<Owner>()
        var owners = [Owner(), Owner()]
        for owner in owners { _ = machine.request(owner, ExclusionSet([.all]), inside: []) }
        weak let first = owners[0]
        weak let second = owners[1]
        owners = []
        #expect(first != nil && second != nil)
        for owner in [first, second] { if let owner { _ = machine.release(owner) } }
        #expect(first == nil && second == nil)
    }
}
