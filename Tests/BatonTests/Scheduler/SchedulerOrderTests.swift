import Testing

@testable import Baton

/// The order of priorities, of children, and of bodies that continue after a wait.
@Suite struct SchedulerOrderTests {
    /// Returns the names of everything that a queue of width 1 would run, in order.
    private func drain(_ rig: SchedulerRig) -> [String] {
        var order: [String] = []
        guard rig.assignPermit() == .startWorker else { return order }
        var turn = rig.workerStarted()
        while true {
            switch turn {
            case .run(let name): order.append(name)
            case .handOver(let name): order.append("on with \(name)")
            case .end: return order
            }
            turn = rig.nextAction()
        }
    }

    @Test func withinOnePriorityFirstInFirstOut() {
        let rig = SchedulerRig(width: 1)
        for number in 0..<5 { rig.append("\(number)") }
        #expect(drain(rig) == ["0", "1", "2", "3", "4"])
    }

    @Test func aHigherPriorityComesFirst() {
        let rig = SchedulerRig(width: 1)
        for priority in [OperationPriority.low, .veryHigh, .normal, .veryLow, .high] {
            rig.append("\(priority) 1", priority)
            rig.append("\(priority) 2", priority)
        }
        let expected = [OperationPriority.veryHigh, .high, .normal, .low, .veryLow].flatMap { ["\($0) 1", "\($0) 2"] }
        #expect(drain(rig) == expected)
    }

    @Test func childrenComeBeforeOthersOfTheirPriority() {
        let rig = SchedulerRig(width: 1)
        rig.append("ready 1")
        rig.append("child 1", isChild: true)
        rig.append("low child", .low, isChild: true)
        rig.append("high", .high)
        rig.append("child 2", isChild: true)
        rig.append("low", .low)
        #expect(drain(rig) == ["high", "child 1", "child 2", "ready 1", "low child", "low"])
    }

    @Test func aResumptionComesBeforeItsOwnAndLowerPriorities() async {
        let rig = SchedulerRig(width: 1)
        rig.append("high", .high)
        rig.append("child", isChild: true)
        rig.append("ready")
        _ = rig.assignPermit()
        await rig.appendResumption("parent")
        await rig.appendResumption("low parent", .low)
        rig.append("low", .low)
        var order: [String] = []
        var turn = rig.workerStarted()
        while turn != .end {
            order.append("\(turn)")
            turn = rig.nextAction()
        }
        #expect(
            order == [
                #"run("high")"#, #"handOver("parent")"#, #"run("child")"#, #"run("ready")"#, #"handOver("low parent")"#,
                #"run("low")"#,
            ])
    }

    @Test func aFreePermitGoesToAResumptionAtOnce() async {
        let rig = SchedulerRig(width: 2)
        rig.append("ready")
        await rig.appendResumption("parent")
        #expect(rig.assignPermit() == .resume("parent"))
        #expect(rig.assignPermit() == .startWorker)
        #expect(rig.scheduler.running == 2)
        await rig.appendResumption("late")
        #expect(rig.assignPermit() == .none, "No permit is free.")
    }

    @Test func everySeventeenthTimeAnotherOneStartsBeforeABodyGoesOn() async {
        let rig = SchedulerRig(width: 1)
        for name in ["a", "b"] { rig.append(name) }
        #expect(rig.assignPermit() == .startWorker)
        for number in 0..<20 { await rig.appendResumption("\(number)") }
        #expect(rig.workerStarted() == .handOver("0"))
        for number in 1..<16 { #expect(rig.nextAction() == .handOver("\(number)")) }
        #expect(rig.nextAction() == .run("a"))
        #expect(rig.nextAction() == .handOver("16"))
    }

    @Test func aResumptionDoesNotPassAHigherPriority() async {
        let rig = SchedulerRig(width: 1)
        rig.append("high", .high)
        await rig.appendResumption("parent")
        #expect(rig.assignPermit() == .startWorker)
        #expect(rig.workerStarted() == .run("high"))
        #expect(rig.nextAction() == .handOver("parent"))
    }

    @Test func theHintIsTheHighestThatWaits() async {
        let rig = SchedulerRig(width: 2)
        #expect(rig.scheduler.hint == 0)
        rig.append("low", .low)
        #expect(rig.scheduler.hint == OperationPriority.low.rawValue + 1)
        await rig.appendResumption("parent")
        #expect(rig.scheduler.hint == OperationPriority.normal.rawValue + 1)
        rig.append("child", .veryHigh, isChild: true)
        #expect(rig.scheduler.hint == OperationPriority.veryHigh.rawValue + 1)
        rig.scheduler.order = .firstInFirstOut
        #expect(rig.scheduler.hint == Scheduler.mustAsk, "A worker that went on would pass what waits.")
        _ = rig.assignPermit()
    }

    @Test("An operation that has ended leaves its list, whichever that is, and is never listed again")
    func whatHasEndedLeaves() {
        let rig = SchedulerRig(width: 1)
        let operations = [
            rig.append("ready"), rig.append("child", isChild: true), rig.append("low", .low),
        ]
        _ = rig.appendRequeued("requeued")
        let requeued = rig.last
        for operation in operations + [requeued] {
            #expect(rig.remove(operation))
            #expect(!rig.remove(operation), "Nobody lets go of it twice.")
        }
        #expect(rig.scheduler.hint == 0)
        let ended = rig.append("ended")
        _ = rig.assignPermit()
        #expect(rig.workerStarted() == .run("ended"))
        #expect(!rig.remove(ended), "It is the worker's.")
        rig.scheduler.append(Unretained(ended))
        let isListed = rig.scheduler.append(requeued: Unretained(requeued), hasDependencies: false)
        #expect(isListed)
        #expect(rig.nextAction() == .end)
        #expect(rig.takeEnded() == ["ended", "requeued"])
        #expect(rig.takeEnded().isEmpty)
    }
}
