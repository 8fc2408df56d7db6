import Testing

@testable import Baton

@Suite struct ProgressStateMachineTests {
    typealias Machine = ProgressStateMachine<String>

    private static func snapshot(_ version: UInt64, _ fraction: Double, _ outcome: Machine.Outcome? = nil)
        -> Machine.Snapshot
    {
        Machine.Snapshot(version: version, fraction: fraction, outcome: outcome)
    }

    enum Event {
        case completed(Int)
        case total(Int?)
        case report(Int, of: Int?)
        case advance(Int)
        case child(UInt64, weight: Int)
        case moved(UInt64, UInt64, Double, Machine.Outcome? = nil)
        case end(Machine.Outcome)
        case release
    }

    private static func apply(_ event: Event, to machine: inout Machine) -> Machine.Actions {
        switch event {
        case .completed(let count): machine.setCompleted(count)
        case .total(let count): machine.setTotal(count)
        case .report(let completed, let total): machine.report(completed: completed, of: total)
        case .advance(let count): machine.advance(by: count)
        case .child(let number, let weight): machine.addChild(number, weight: weight)
        case .moved(let number, let version, let fraction, let outcome):
            machine.childChanged(number, to: snapshot(version, fraction, outcome))
        case .end(let outcome): machine.end(outcome)
        case .release: machine.release()
        }
    }

    private static func machine(after events: [Event]) -> Machine {
        var machine = Machine()
        for event in events { _ = apply(event, to: &machine) }
        return machine
    }

    struct Row: CustomTestStringConvertible {
        let what: String
        let events: [Event]
        let value: String
        let isFinished: Bool

        init(_ what: String, _ events: [Event], _ value: String, isFinished: Bool = false) {
            (self.what, self.events, self.value, self.isFinished) = (what, events, value, isFinished)
        }

        var testDescription: String { what }
    }

    // MARK: Reports of the body

    @Test(arguments: [
        Row("nothing said", [], "0 %"),
        Row("nothing said, succeeded", [.end(.succeeded)], "100 %", isFinished: true),
        Row("nothing said, failed", [.end(.failed)], "0 %", isFinished: true),
        Row("no total", [.advance(3)], "3 (0 %)"),
        Row("no total, succeeded", [.advance(3), .end(.succeeded)], "3 (100 %)", isFinished: true),
        Row("total first", [.total(10), .completed(3)], "3 of 10 (30 %)"),
        Row("total last", [.completed(3), .total(10)], "3 of 10 (30 %)"),
        Row("both at once", [.report(3, of: 10)], "3 of 10 (30 %)"),
        Row("advanced", [.total(10), .advance(1), .advance(2)], "3 of 10 (30 %)"),
        Row("goes back", [.report(9, of: 10), .completed(3)], "3 of 10 (30 %)"),
        Row("the total grows", [.report(3, of: 5), .total(10)], "3 of 10 (30 %)"),
        Row("the total is forgotten", [.report(3, of: 10), .total(nil)], "3 (0 %)"),
        Row("done, not finished", [.report(10, of: 10)], "10 of 10 (100 %)"),
        Row("a success is complete", [.report(3, of: 10), .end(.succeeded)], "10 of 10 (100 %)", isFinished: true),
        Row("a failure stays where it was", [.report(3, of: 10), .end(.failed)], "3 of 10 (30 %)", isFinished: true),
        Row("released", [.report(3, of: 10), .release], "3 of 10 (30 %)"),
    ])
    func reportsAddUp(_ row: Row) {
        let value = Self.machine(after: row.events).value
        #expect("\(value)" == row.value)
        #expect(value.isFinished == row.isFinished)
    }

    @Test(arguments: [
        Row("more than the total", [.report(13, of: 10)], "10 of 10 (100 %)"),
        Row("more than the total, which then grows", [.report(13, of: 10), .total(26)], "13 of 26 (50 %)"),
        Row("less than nothing done", [.report(-3, of: 10)], "0 of 10 (0 %)"),
        Row("less than nothing done, without a total", [.completed(-3)], "0 %"),
        Row("less than nothing in all", [.report(3, of: -10)], "0 of 0 (0 %)"),
        Row("less than nothing in all, set by itself", [.total(-10), .advance(3)], "0 of 0 (0 %)"),
        Row("an advance below 0", [.report(3, of: 10), .advance(-2)], "3 of 10 (30 %)"),
        Row("an advance by Int.min", [.report(3, of: 10), .advance(.min)], "3 of 10 (30 %)"),
        Row("a total of 0", [.report(3, of: 0)], "0 of 0 (0 %)"),
        Row("a total of 0, failed", [.total(0), .end(.failed)], "0 of 0 (0 %)", isFinished: true),
        Row("a total of 0, succeeded", [.total(0), .end(.succeeded)], "0 of 0 (100 %)", isFinished: true),
        Row("Int.max, and more", [.completed(.max), .advance(1), .advance(.max)], "\(Int.max) (0 %)"),
        Row("Int.max of Int.max", [.report(.max, of: .max)], "\(Int.max) of \(Int.max) (100 %)"),
        Row("after a success", [.end(.succeeded), .report(3, of: 10)], "100 %", isFinished: true),
        Row("after a failure", [.advance(1), .end(.failed), .advance(1)], "1 (0 %)", isFinished: true),
        Row("a second end", [.end(.failed), .end(.succeeded)], "0 %", isFinished: true),
        Row("a child after the end", [.end(.failed), .child(1, weight: 5)], "0 %", isFinished: true),
        Row("after the release", [.release, .advance(3), .end(.succeeded)], "0 %"),
    ])
    func badInputIsTamed(_ row: Row) { reportsAddUp(row) }

    // MARK: Children

    @Test(arguments: [
        Row("nothing reached", [.total(10), .child(1, weight: 4)], "0 of 10 (0 %)"),
        Row("half of it", [.total(10), .child(1, weight: 4), .moved(1, 1, 0.5)], "0 of 10 (20 %)"),
        Row("all of it, still running", [.total(10), .child(1, weight: 4), .moved(1, 1, 1)], "0 of 10 (40 %)"),
        Row("succeeded", [.total(10), .child(1, weight: 4), .moved(1, 1, 1, .succeeded)], "4 of 10 (40 %)"),
        Row(
            "succeeded after a part",
            [.total(10), .child(1, weight: 4), .moved(1, 1, 0.5), .moved(1, 2, 1, .succeeded)],
            "4 of 10 (40 %)"),
        Row("failed", [.total(10), .child(1, weight: 4), .moved(1, 1, 0.5, .failed)], "0 of 10 (20 %)"),
        Row(
            "failed, and then the own work",
            [.total(10), .child(1, weight: 4), .moved(1, 1, 0.5, .failed), .advance(3)],
            "3 of 10 (50 %)"),
        Row("goes back", [.total(10), .child(1, weight: 4), .moved(1, 1, 0.5), .moved(1, 2, 0.25)], "0 of 10 (10 %)"),
        Row("without a total", [.child(1, weight: 3), .child(2, weight: 1), .moved(1, 1, 0.5)], "0 of 4 (37 %)"),
        Row("own units and a child", [.report(2, of: 10), .child(1, weight: 4), .moved(1, 1, 0.5)], "2 of 10 (40 %)"),
        Row("weights of nothing", [.child(1, weight: 0), .child(2, weight: -3), .moved(1, 1, 1, .succeeded)], "0 %"),
        Row(
            "weights beyond Int.max",
            [
                .child(1, weight: .max), .child(2, weight: .max), .moved(1, 1, 1, .succeeded),
                .moved(2, 1, 1, .succeeded),
            ],
            "\(Int.max) of \(Int.max) (100 %)"),
        Row("more weight than the total", [.total(2), .child(1, weight: 4), .moved(1, 1, 1)], "0 of 2 (100 %)"),
        Row("an unknown child", [.total(10), .moved(1, 1, 0.5)], "0 of 10 (0 %)"),
        Row(
            "after the parent failed",
            [.child(1, weight: 4), .moved(1, 1, 0.5), .end(.failed), .moved(1, 2, 1, .succeeded)],
            "0 of 4 (50 %)", isFinished: true),
        Row(
            "the parent succeeds with a part", [.child(1, weight: 4), .moved(1, 1, 0.5), .end(.succeeded)],
            "4 of 4 (100 %)", isFinished: true),
    ])
    func childrenCountByWeight(_ row: Row) { reportsAddUp(row) }

    @Test(arguments: [
        Row("older", [.child(1, weight: 4), .moved(1, 5, 0.5), .moved(1, 4, 0.25)], "0 of 4 (50 %)"),
        Row("the same", [.child(1, weight: 4), .moved(1, 5, 0.5), .moved(1, 5, 0.25)], "0 of 4 (50 %)"),
        Row(
            "after a success", [.child(1, weight: 4), .moved(1, 5, 1, .succeeded), .moved(1, 4, 0.25)], "4 of 4 (100 %)"
        ),
        Row(
            "twice a success", [.child(1, weight: 4), .moved(1, 5, 1, .succeeded), .moved(1, 5, 1, .succeeded)],
            "4 of 4 (100 %)"),
        Row(
            "after a failure", [.child(1, weight: 4), .moved(1, 5, 0.5, .failed), .moved(1, 4, 0.25)], "0 of 4 (50 %)"),
    ])
    func whatComesLateIsIgnored(_ row: Row) { reportsAddUp(row) }

    @Test func manyWeightsBeyondIntMaxDoNotTrap() {
        var machine = Machine()
        for number in 1...1000 as ClosedRange<UInt64> {
            _ = machine.addChild(number, weight: .max)
            _ = machine.childChanged(number, to: Self.snapshot(1, 1))
        }
        #expect(machine.value.fractionCompleted == 1)
    }

    @Test func theSumDoesNotDependOnTheOrderNorDrift() {
        var machine = Machine()
        for number in 1...100 as ClosedRange<UInt64> { _ = machine.addChild(number, weight: 1) }
        for version in 1...10 as ClosedRange<UInt64> {
            for number in 1...100 as ClosedRange<UInt64> {
                _ = machine.childChanged(number, to: Self.snapshot(version, Double(version) / 10.1))
            }
        }
        for number in (1...100 as ClosedRange<UInt64>).reversed() {
            _ = machine.childChanged(number, to: Self.snapshot(11, 0))
        }
        #expect(machine.value.fractionCompleted == 0)
    }

    // MARK: Notifications

    @Test(
        arguments: [
            ("a count without a total", [], Event.advance(1), true, false),
            ("the same again", [.report(3, of: 10)], .completed(3), false, false),
            ("a new fraction", [.report(3, of: 10)], .advance(1), true, true),
            ("a new total, nothing done", [], .total(10), true, false),
            ("more than all", [.report(10, of: 10)], .advance(1), false, false),
            ("a success", [.report(10, of: 10)], .end(.succeeded), true, true),
            ("a failure", [.report(3, of: 10)], .end(.failed), true, true),
            ("a second end", [.end(.failed)], .end(.failed), false, false),
            ("the release", [], .release, true, true),
            ("the release after the end", [.end(.failed)], .release, false, false),
            (
                "a child succeeds that was at 1", [.child(1, weight: 1), .moved(1, 1, 1)], .moved(1, 2, 1, .succeeded),
                true, false
            ),
        ] as [(String, [Event], Event, Bool, Bool)])
    func onlyChangesAreTold(_ what: String, _ before: [Event], _ event: Event, _ wakes: Bool, _ tellsParents: Bool) {
        var machine = Self.machine(after: before)
        guard case .wait(let id) = machine.next(after: machine.value) else {
            #expect(machine.hasEnded && !wakes, "\(what)")
            return
        }
        let waits = machine.wait(id, after: machine.value, "reader")
        #expect(waits, "\(what)")
        let version = machine.snapshot.version
        let actions = Self.apply(event, to: &machine)
        #expect(actions.waiters == (wakes ? ["reader"] : []), "\(what)")
        #expect(actions.changesSnapshot == tellsParents, "\(what)")
        #expect((machine.snapshot.version > version) == tellsParents, "\(what)")
    }

    @Test func theSnapshotSaysHowItEnded() {
        #expect(Self.machine(after: []).snapshot == Self.snapshot(1, 0))
        #expect(Self.machine(after: [.report(1, of: 2)]).snapshot == Self.snapshot(2, 0.5))
        #expect(Self.machine(after: [.report(1, of: 2), .end(.failed)]).snapshot == Self.snapshot(3, 0.5, .failed))
        #expect(Self.machine(after: [.report(1, of: 2), .end(.succeeded)]).snapshot == Self.snapshot(3, 1, .succeeded))
        #expect(Self.machine(after: [.report(1, of: 2), .release]).snapshot == Self.snapshot(3, 0.5, .failed))
        #expect(Machine(outcome: .succeeded).snapshot.outcome == .succeeded)
        #expect(Machine(outcome: .failed).value.isFinished)
    }

    @Test func perCentsAreRoundedDown() {
        for done in 0...100 {
            #expect("\(Self.machine(after: [.report(done, of: 100)]).value)".hasSuffix("(\(done) %)"))
        }
        #expect("\(Self.machine(after: [.report(999, of: 1000)]).value)" == "999 of 1000 (99 %)")
    }
}
