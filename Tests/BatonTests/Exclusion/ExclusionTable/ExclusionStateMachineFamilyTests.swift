import Testing

@testable import Baton

/// Tests of requests by descendants of holders. `a/b` is a child of `a`.
@Suite struct ExclusionStateMachineFamilyTests {
    typealias Row = ExclusionStateMachineTests.Row

    private func check(_ row: Row) {
        let rig = ExclusionStateMachineRig(after: row.before)
        #expect(rig.happen(row.event) == row.granted)
    }

    @Test(arguments: [
        Row("a child takes from its parent", [.ask("a", .all)], then: .ask("a/b", .all), grants: "a/b"),
        Row("a grandchild does", [.ask("a", .all)], then: .ask("a/b/c", .all), grants: "a/b/c"),
        Row("children exclude one another", [.ask("a", .all), .ask("a/b", .all)], then: .ask("a/c", .all), grants: ""),
        Row("children share", [.ask("a", .all), .ask("a/b", .shared)], then: .ask("a/c", .shared), grants: "a/c"),
        Row(
            "the nearest ancestor counts", [.ask("a", .all), .ask("a/b", .shared), .ask("a/c", .shared)],
            then: .ask("a/b/d", .shared), grants: "a/b/d"),
        Row("another's child", [.ask("a", .all)], then: .ask("b/c", .all), grants: ""),
        Row(
            "a child of one that holds another name", [.ask("a", .otherAll), .ask("b", .all)], then: .ask("a/c", .all),
            grants: ""),
        Row("children share the permits", [.ask("a", .units(2))], then: .ask("a/b", .units(2)), grants: "a/b"),
        Row(
            "children exceed the permits if others allow", [.ask("a", .units(2)), .ask("a/b", .units(2))],
            then: .ask("a/c", .units(1)), grants: "a/c"),
        Row(
            "children do not exceed the permits if others do not allow",
            [.ask("a", .units(2)), .ask("x", .units(1)), .ask("a/b", .units(2))], then: .ask("a/c", .units(1)),
            grants: ""),
        Row(
            "what children have in excess is gone for others",
            [.ask("a", .units(1)), .ask("a/b", .units(3))], then: .ask("x", .units(1)), grants: ""),
        Row(
            "a reader's child that writes keeps others out", [.ask("a", .shared), .ask("a/b", .all)],
            then: .ask("x", .shared), grants: ""),
        Row(
            "a reader's child writes only when no other reads", [.ask("a", .shared), .ask("x", .shared)],
            then: .ask("a/b", .all), grants: ""),
        Row(
            "two levels up", [.ask("a", .shared), .ask("a/b", .shared), .ask("x", .shared)],
            then: .ask("a/b/c", .all), grants: ""),
        Row(
            "excess of a grandchild, two levels up",
            [.ask("a", .units(1)), .ask("a/b", .units(1)), .ask("x", .units(1)), .ask("a/b/c", .units(2))],
            then: .ask("y", .units(1)), grants: ""),
        Row(
            "a smaller limit inside", [.ask("a", .units(1, of: 9)), .ask("x", .units(1, of: 9))],
            then: .ask("a/b", .units(1, of: 1)), grants: ""),
        Row(
            "a limit counts around one that has all",
            [.ask("a", .units(2, of: 2)), .ask("a/b", .all)], then: .ask("a/b/c", .units(3, of: 4)), grants: ""),
    ]) func descendantsTakeFromWhatIsHeld(_ row: Row) { check(row) }

    @Test(arguments: [
        Row(
            "a child does not stand behind strangers", [.ask("a", .all), .ask("x", .all)], then: .ask("a/b", .all),
            grants: "a/b"),
        Row(
            "children have a wait queue of their own",
            [.ask("a", .all), .ask("x", .all), .ask("a/b", .all), .ask("a/c", .all), .ask("a/d", .all)],
            then: .release("a/b"), grants: "a/c"),
        Row(
            "children are served before strangers",
            [.ask("a", .units(1)), .ask("y", .units(2)), .ask("x", .units(2)), .ask("a/b", .units(2))],
            then: .release("y"), grants: "a/b"),
        Row(
            "told in the order of arrival all the same",
            [.ask("a", .units(1)), .ask("y", .units(2)), .ask("x", .units(1)), .ask("a/b", .units(2))],
            then: .release("y"), grants: "x a/b"),
        Row(
            "when a child gives back its excess, strangers go on",
            [.ask("a", .units(1)), .ask("a/b", .units(3)), .ask("x", .units(2))], then: .release("a/b"), grants: "x"),
        Row(
            "when a stranger gives back, a child two levels in goes on",
            [.ask("a", .shared), .ask("a/b", .shared), .ask("x", .shared), .ask("a/b/c", .all)], then: .release("x"),
            grants: "a/b/c"),
        Row(
            "a child leaves its wait queue",
            [.ask("a", .shared), .ask("x", .shared), .ask("a/b", .all), .ask("a/c", .shared)],
            then: .leaveQueues("a/b"), grants: "a/c"),
    ]) func descendantsHaveLinesOfTheirOwn(_ row: Row) { check(row) }

    @Test(arguments: [
        Row(
            "what is inside goes on holding", [.ask("a", .all), .ask("a/b", .all), .ask("x", .all)],
            then: .release("a"), grants: ""),
        Row(
            "only what is inside counts then", [.ask("a", .units(3)), .ask("a/b", .units(1)), .ask("x", .units(2))],
            then: .release("a"), grants: "x"),
        Row(
            "and it is given back",
            [.ask("a", .all), .ask("a/b", .all), .ask("x", .all), .release("a")], then: .release("a/b"), grants: "x"),
        Row(
            "owners that wait inside join the outer wait queue by arrival",
            [
                .ask("a", .all), .ask("a/b", .all), .ask("x", .all), .ask("a/c", .all), .ask("y", .all), .release("a"),
                .release("a/b"), .release("x"),
            ], then: .release("a/c"), grants: "y"),
        Row(
            "the scopes inside hang on",
            [
                .ask("a", .all), .ask("a/b", .all), .ask("a/b/c", .all), .ask("a/b/d", .all), .release("a"),
            ], then: .release("a/b/c"), grants: "a/b/d"),
    ]) func anAncestorMayGoFirst(_ row: Row) { check(row) }

    @Test(arguments: [
        Row(
            "a queued owner comes inside",
            [.ask("x", .shared), .ask("a", .all), .ask("y", .all), .ask("a/b", .all)], then: .release("x"),
            grants: "a a/b"),
        Row(
            "one apart comes inside", [.ask("x", .all), .ask("a", .all), .ask("a/b", .all), .leaveQueues("a/b")],
            then: .release("x"), grants: "a/b"),
    ]) func anAncestorMayAskLater(_ row: Row) { check(row) }

    @Test func aDeepFamilyIsNoDeeperOnTheStack() {
        final class Owner {}
        var machine = ExclusionStateMachine<Owner>()
        var family: [Owner] = []
        for _ in 0..<2000 {
            let owner = Owner()
            let parent = family.last
            // The nearest holder is enough, so the other ancestors are not passed.
            _ = machine.request(owner, ExclusionSet([.units(1)]), inside: parent.map { [$0] } ?? [])
            family.append(owner)
        }
        let stranger = Owner()
        let answer = machine.request(stranger, ExclusionSet([.units(3)]), inside: [])
        #expect(answer == .waiting)
        #expect(machine.blockers(of: stranger).count == family.count)
        #expect(machine.fits(stranger, beside: []))
        #expect(!machine.fits(stranger, beside: [ObjectIdentifier(family[1999])]))
        var granted: [Owner] = []
        for owner in family.dropFirst().reversed() { granted += machine.release(owner).granted }
        #expect(granted.isEmpty)
        granted = machine.release(family[0]).granted
        #expect(granted.first === stranger)
        _ = machine.release(stranger)
        #expect(machine.isEmpty)
    }
}
