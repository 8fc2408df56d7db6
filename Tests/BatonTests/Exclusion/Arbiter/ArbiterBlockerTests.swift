import Testing

@testable import Baton

/// Who stands in whose way.
@Suite struct ArbiterBlockerTests {
    typealias Event = ArbiterRig.Event

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
        Row("the holder", [.ask("a", .all), .ask("b", .all)], "b", "holder:a", obstacle: "‘n’ a"),
        Row(
            "the holder and the one ahead", [.ask("a", .all), .ask("b", .all), .ask("c", .all)], "c",
            "holder:a line:b", obstacle: "‘n’ a"),
        Row(
            "only the next one ahead, not the first in line",
            [.ask("a", .shared), .ask("b", .all), .ask("c", .shared), .ask("d", .shared)], "d", "line:c",
            obstacle: "‘n’ c"),
        Row(
            "all readers", [.ask("a", .shared), .ask("b", .shared), .ask("c", .all)], "c", "holder:a holder:b",
            obstacle: "‘n’ a"),
        Row(
            "a reader takes no unit", [.ask("a", .shared), .ask("b", .units(1)), .ask("c", .units(3))], "c",
            "holder:b", obstacle: "‘n’ b"),
        Row(
            "the first name that cannot be had",
            [.ask("a", .otherAll), .ask("b", .shared), .ask("c", .shared, .otherAll)], "c", "holder:a",
            obstacle: "‘m’ a"),
        Row(
            "the same one on two names, once", [.ask("a", .all, .otherAll), .ask("b", .all, .otherAll)], "b",
            "holder:a", obstacle: "‘n’ a"),
        Row(
            "holder of one name, and ahead on the other",
            [.ask("a", .all), .ask("b", .all, .otherAll), .ask("c", .otherAll)], "c", "line:b", obstacle: "‘m’ b"),
        Row(
            "apart from the line", [.ask("a", .all), .ask("b", .all), .ask("c", .all), .leaveLine("c")], "c",
            "holder:a", obstacle: "‘n’ a"),
        Row(
            "not its ancestor", [.ask("a", .all), .ask("a/b", .all), .ask("a/c", .all)], "a/c", "holder:a/b",
            obstacle: "‘n’ a/b"),
        Row(
            "not its ancestor, outside", [.ask("a", .shared), .ask("x", .shared), .ask("a/b", .all)], "a/b",
            "holder:x", obstacle: "‘n’ x"),
        Row(
            "those within who contribute to the excess",
            [.ask("a", .units(1)), .ask("x", .units(1)), .ask("a/b", .units(2)), .ask("a/c", .units(1))], "a/c",
            "holder:x holder:a/b", obstacle: "‘n’ x"),
        Row(
            "the writer inside a reader", [.ask("a", .shared), .ask("a/b", .all), .ask("x", .shared)], "x",
            "holder:a/b", obstacle: "‘n’ a/b"),
        Row("nobody, if it can never be had", [.ask("a", .units(4))], "a", "", obstacle: nil),
    ]) func blockersAreThoseInTheWay(_ row: Row) {
        let rig = ArbiterRig(after: row.events)
        #expect(rig.blockers(of: row.who) == row.blockers)
        #expect(rig.obstacle(for: row.who) == row.obstacle)
    }

    @Test func blockedAreAllWhoWaitForIt() {
        let rig = ArbiterRig(after: [
            .ask("a", .all), .ask("b", .all, .otherAll), .ask("c", .all), .ask("d", .otherAll), .ask("a/e", .all),
        ])
        #expect(rig.blocked(by: "a") == "holder:b holder:c")
        #expect(rig.blocked(by: "b") == "line:c line:d")
        #expect(rig.blocked(by: "d") == "")
        rig.happen(.leaveLine("c"))
        #expect(rig.blocked(by: "a") == "holder:b holder:c")
        #expect(rig.blocked(by: "b") == "line:d")
        #expect(rig.blocked(by: "c") == "")
    }

    @Test func fitsWhenThoseInTheWayAreGone() {
        let rig = ArbiterRig(after: [
            .ask("a", .units(1)), .ask("b", .units(1)), .ask("a/c", .units(2)), .ask("d", .units(2), .otherAll),
        ])
        #expect(!rig.fits("d"))
        #expect(!rig.fits("d", without: "b"))
        #expect(!rig.fits("d", without: "a"))
        #expect(rig.fits("d", without: "a/c", "a"))
        #expect(rig.fits("d", without: "a/c", "b"))
        #expect(!rig.fits("a"))
    }

    @Test func fitsDoesNotLookAtLines() {
        let rig = ArbiterRig(after: [.ask("a", .shared), .ask("b", .all), .ask("c", .shared)])
        #expect(rig.fits("c"))
        #expect(!rig.fits("b"))
    }
}
