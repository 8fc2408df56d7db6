import Testing

@testable import Baton

/// Tests of the owners that block a claim.
@Suite struct ExclusionStateMachineBlockerTests {
    typealias Event = ExclusionStateMachineRig.Event

    struct Row: CustomTestStringConvertible {
        let what: String
        let events: [Event]
        let who: String
        let blockers: String
        let obstacle: String?

        init(_ what: String, _ events: [Event], _ who: String, _ blockers: String, obstacle: String?) {
            (self.what, self.events, self.who) = (what, events, who)
            (self.blockers, self.obstacle) = (blockers, obstacle)
        }

        var testDescription: String { what }
    }

    @Test(arguments: [
        Row("one that holds", [.ask("a", .all)], "a", "", obstacle: nil),
        Row("one that asks nothing", [], "a", "", obstacle: nil),
        Row("the holder", [.ask("a", .all), .ask("b", .all)], "b", "a", obstacle: "‘n’ a"),
        Row(
            "the holder and the one ahead", [.ask("a", .all), .ask("b", .all), .ask("c", .all)], "c",
            "a", obstacle: "‘n’ a"),
        Row(
            "only the next one ahead, not the first in the wait queue",
            [.ask("a", .shared), .ask("b", .all), .ask("c", .shared), .ask("d", .shared)], "d", "",
            obstacle: "‘n’ c"),
        Row(
            "all readers", [.ask("a", .shared), .ask("b", .shared), .ask("c", .all)], "c", "a b",
            obstacle: "‘n’ a"),
        Row(
            "a reader takes no unit", [.ask("a", .shared), .ask("b", .units(1)), .ask("c", .units(3))], "c",
            "b", obstacle: "‘n’ b"),
        Row(
            "the first name that cannot be had",
            [.ask("a", .otherAll), .ask("b", .shared), .ask("c", .shared, .otherAll)], "c", "a",
            obstacle: "‘m’ a"),
        Row(
            "the same one on two names, once", [.ask("a", .all, .otherAll), .ask("b", .all, .otherAll)], "b",
            "a", obstacle: "‘n’ a"),
        Row(
            "holder of one name, and ahead on the other",
            [.ask("a", .all), .ask("b", .all, .otherAll), .ask("c", .otherAll)], "c", "", obstacle: "‘m’ b"),
        Row(
            "apart from the wait queue", [.ask("a", .all), .ask("b", .all), .ask("c", .all), .leaveQueues("c")], "c",
            "a", obstacle: "‘n’ a"),
        Row(
            "not its ancestor", [.ask("a", .all), .ask("a/b", .all), .ask("a/c", .all)], "a/c", "a/b",
            obstacle: "‘n’ a/b"),
        Row(
            "not its ancestor, outside", [.ask("a", .shared), .ask("x", .shared), .ask("a/b", .all)], "a/b",
            "x", obstacle: "‘n’ x"),
        Row(
            "those within who contribute to the excess",
            [.ask("a", .units(1)), .ask("x", .units(1)), .ask("a/b", .units(2)), .ask("a/c", .units(1))], "a/c",
            "a/b x", obstacle: "‘n’ a/b"),
        Row(
            "the writer inside a reader", [.ask("a", .shared), .ask("a/b", .all), .ask("x", .shared)], "x",
            "a/b", obstacle: "‘n’ a/b"),
        Row("nobody, if it can never be had", [.ask("a", .units(4))], "a", "", obstacle: nil),
    ]) func blockersAreThoseInTheWay(_ row: Row) {
        let rig = ExclusionStateMachineRig(after: row.events)
        #expect(rig.blockers(of: row.who) == row.blockers)
        #expect(rig.obstacle(for: row.who) == row.obstacle)
    }

    @Test("A claim that waits for several names links them for the claims behind it")
    func namesAreLinked() {
        let rig = ExclusionStateMachineRig(after: [
            .ask("a", .all), .ask("b", .otherAll), .ask("c", .all, .otherAll), .ask("d", .otherAll), .ask("a/e", .all),
        ])
        #expect(rig.blockers(of: "d") == "b")
        #expect(rig.isQueuedBehindOthers("d"))
        #expect(rig.possibleBlockers(of: "d") == "a a/e b")
        #expect(rig.possiblyBlocked(by: "a") == "c d")
        rig.happen(.leaveQueues("c"))
        #expect(!rig.isQueuedBehindOthers("d"))
        #expect(rig.possibleBlockers(of: "d") == "b")
        #expect(rig.possiblyBlocked(by: "a") == "c")
    }

    @Test("No more blockers than the limit are returned, even if each of several names has a holder", arguments: 0...4)
    func blockersOfSeveralNamesAreLimited(limit: Int) {
        let rig = ExclusionStateMachineRig(after: [
            .ask("a", .shared), .ask("b", .shared), .ask("c", .otherAll), .ask("w", .all, .otherAll),
        ])
        #expect(rig.machine.blockers(of: rig.owner("w"), upTo: limit).count == min(limit, 3))
    }

    @Test("A search lists a limited number of owners, and learns that there are more")
    func searchesAreLimited() {
        let names = (10..<30).map { "\($0)" }
        let rig = ExclusionStateMachineRig(after: names.map { .ask($0, .shared) } + [.ask("w", .all)])
        var search = ExclusionTable.BlockerSearch(limit: 5)
        #expect(rig.machine.possibleBlockers(of: rig.owner("w"), within: &search).count == 5)
        #expect(search.isTruncated)
        #expect(rig.machine.blockers(of: rig.owner("w"), upTo: 3).count == 3)
        search = ExclusionTable.BlockerSearch(limit: 100)
        #expect(rig.machine.possibleBlockers(of: rig.owner("w"), within: &search).count == 20)
        #expect(!search.isTruncated)
        // The search does not list an owner twice within one search.
        #expect(rig.machine.possibleBlockers(of: rig.owner("w"), within: &search).isEmpty)
    }

    @Test("A search lists the holders of a name twice at most, however many children wait inside them")
    func holdersAreListedTwiceAtMost() {
        let names = (10..<30).map { "\($0)" }
        let rig = ExclusionStateMachineRig(
            after: names.map { .ask($0, .units(1, of: 20)) } + names.map { .ask("\($0)/child", .units(2, of: 20)) })
        var search = ExclusionTable.BlockerSearch(limit: .max)
        let found = names.map { name in
            rig.machine.possibleBlockers(of: rig.owner("\(name)/child"), within: &search).map(\.path)
        }
        #expect(found.map(\.count) == [19, 19] + Array(repeating: 0, count: 18))
        #expect(Set(found.joined()) == Set(names))
    }

    @Test func fitsBesideThoseWhoRemain() {
        let rig = ExclusionStateMachineRig(after: [
            .ask("a", .units(1)), .ask("b", .units(1)), .ask("a/c", .units(2)), .ask("d", .units(2), .otherAll),
        ])
        #expect(!rig.fits("d", beside: "a", "b", "a/c"))
        #expect(!rig.fits("d", beside: "a", "a/c"))
        #expect(!rig.fits("d", beside: "b", "a/c"))
        #expect(rig.fits("d", beside: "b"))
        #expect(rig.fits("d", beside: "a"))
        #expect(!rig.fits("a"))
    }

    @Test func fitsDoesNotLookAtLines() {
        let rig = ExclusionStateMachineRig(after: [.ask("a", .shared), .ask("b", .all), .ask("c", .shared)])
        #expect(rig.fits("c", beside: "a"))
        #expect(!rig.fits("b", beside: "a"))
    }
}
