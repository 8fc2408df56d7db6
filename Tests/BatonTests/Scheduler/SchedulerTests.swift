import Testing

@testable import Baton

/// Permits, the starting worker, suspension and width.
@Suite struct SchedulerTests {
    @Test func nothingIsStartedForNothing() {
        let rig = SchedulerRig(width: 2)
        #expect(rig.assignPermit() == .none)
        #expect(rig.scheduler.running == 0)
        #expect(rig.scheduler.hint == 0)
    }

    @Test("One worker starts at a time")
    func oneWorkerStartsAtATime() {
        let rig = SchedulerRig(width: 4)
        for name in ["a", "b", "c"] { rig.append(name) }
        #expect(rig.assignPermit() == .startWorker)
        #expect(rig.assignPermit() == .none, "One is starting.")
        #expect(rig.workerStarted() == .run("a"))
        #expect(rig.assignPermit() == .startWorker, "It starts the next.")
        #expect(rig.scheduler.running == 2)
        #expect(rig.workerStarted() == .run("b"))
    }

    @Test(arguments: [1, 2, 3]) func neverMorePermitsThanTheWidth(width: Int) {
        let rig = SchedulerRig(width: width)
        for number in 0..<10 { rig.append("\(number)") }
        for number in 0..<width {
            #expect(rig.assignPermit() == .startWorker)
            #expect(rig.workerStarted() == .run("\(number)"))
        }
        #expect(rig.assignPermit() == .none)
        #expect(rig.scheduler.running == width)
    }

    @Test func aWorkerGoesOnAndThenReturnsItsPermit() {
        let rig = SchedulerRig(width: 1)
        rig.append("a")
        rig.append("b")
        _ = rig.assignPermit()
        #expect(rig.workerStarted() == .run("a"))
        #expect(rig.nextAction() == .run("b"))
        #expect(rig.nextAction() == .end)
        #expect(rig.scheduler.running == 0)
    }

    @Test func aPermitThatIsReturnedIsGivenAgain() {
        let rig = SchedulerRig(width: 1)
        rig.append("a")
        rig.append("b")
        _ = rig.assignPermit()
        _ = rig.workerStarted()
        rig.scheduler.returnPermit()
        #expect(rig.assignPermit() == .startWorker)
    }

    @Test func aWorkerWhoseOperationWasTakenReturnsItsPermit() {
        let rig = SchedulerRig(width: 1)
        let taken = rig.append("a")
        _ = rig.assignPermit()
        _ = rig.scheduler.remove(Unretained(taken))
        #expect(rig.workerStarted() == .end)
        #expect(rig.scheduler.running == 0)
        #expect(!rig.scheduler.isStarting)
    }

    @Test func suspendedNothingNewStarts() {
        let rig = SchedulerRig(width: 2, isSuspended: true)
        rig.append("a")
        #expect(rig.assignPermit() == .none)
        #expect(rig.scheduler.hint == Scheduler.mustAsk)
        rig.scheduler.isSuspended = false
        #expect(rig.assignPermit() == .startWorker)
        rig.scheduler.isSuspended = true
        #expect(rig.workerStarted() == .end, "Suspended while it was starting.")
    }

    @Test func suspendedChildrenAndResumptionsGoOn() async {
        let rig = SchedulerRig(width: 1, isSuspended: true)
        rig.append("ready")
        rig.append("child", isChild: true)
        #expect(rig.assignPermit() == .startWorker)
        #expect(rig.workerStarted() == .run("child"))
        await rig.appendResumption("parent")
        #expect(rig.nextAction() == .handOver("parent"))
        #expect(rig.nextAction() == .end)
    }

    @Test func aWiderQueueStartsMore() {
        let rig = SchedulerRig(width: 1)
        rig.append("a")
        rig.append("b")
        _ = rig.assignPermit()
        _ = rig.workerStarted()
        #expect(rig.assignPermit() == .none)
        rig.scheduler.width = 2
        #expect(rig.assignPermit() == .startWorker)
    }

    @Test func aNarrowerQueueEndsWorkersThatAsk() {
        let rig = SchedulerRig(width: 2)
        for name in ["a", "b", "c"] { rig.append(name) }
        for _ in 0..<2 {
            _ = rig.assignPermit()
            _ = rig.workerStarted()
        }
        rig.scheduler.width = 1
        #expect(rig.scheduler.hint == Scheduler.mustAsk)
        #expect(rig.nextAction() == .end)
        #expect(rig.scheduler.running == 1)
        #expect(rig.nextAction() == .run("c"))
    }

    @Test func aSliceEndsTheWorkerOnlyForOneThatStarts() {
        let rig = SchedulerRig(width: 2)
        for name in ["a", "b", "c"] { rig.append(name) }
        _ = rig.assignPermit()
        #expect(rig.workerStarted() == .run("a"))
        #expect(!rig.endSlice(), "Nobody waits for its thread.")
        #expect(rig.scheduler.running == 1)
        #expect(rig.assignPermit() == .startWorker)
        #expect(rig.endSlice())
        #expect(rig.scheduler.running == 1, "That of the worker that starts.")
    }

    @Test func anOperationThatAWorkerReturnsComesLast() {
        let rig = SchedulerRig(width: 1)
        rig.append("a")
        rig.append("b")
        _ = rig.assignPermit()
        _ = rig.workerStarted()
        rig.append("follower")
        #expect(!rig.endSlice())
        #expect(rig.nextAction() == .run("b"))
        #expect(rig.nextAction() == .run("follower"))
    }
}
