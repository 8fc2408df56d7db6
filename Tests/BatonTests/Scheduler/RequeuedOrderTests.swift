import Testing

@testable import Baton

/// Operations that a worker had taken up before. Their conditions are satisfied, or they have acquired their
/// exclusions.
@Suite struct RequeuedOrderTests {
    /// Operations with dependencies come before those that were just released, and operations without dependencies
    /// after them.
    @Test("Operations that return to the queue go before others of their priority")
    func theyGoBeforeTheOthersOfTheirPriority() {
        let rig = SchedulerRig(width: 1)
        rig.append("ready")
        rig.append("child", isChild: true)
        #expect(rig.appendRequeued("back"))
        #expect(rig.appendRequeued("back, too"))
        #expect(rig.appendRequeued("deep", hasDependencies: true))
        #expect(rig.appendRequeued("child, back", isChild: true))
        rig.release("released")
        rig.append("urgent", .high)
        _ = rig.assignPermit()
        #expect(rig.workerStarted() == .run("urgent"))
        let expected = ["deep", "child, back", "child", "released", "back", "back, too", "ready"]
        #expect(expected.map { _ in rig.nextAction() } == expected.map { .run($0) })
        #expect(rig.nextAction() == .end)
    }

    @Test func childrenWaitForSixteenOfThem() {
        let rig = SchedulerRig(width: 1)
        rig.append("child", isChild: true)
        for number in 0..<20 { _ = rig.appendRequeued("\(number)", hasDependencies: true) }
        _ = rig.assignPermit()
        _ = rig.workerStarted()
        for number in 1..<16 { #expect(rig.nextAction() == .run("\(number)")) }
        #expect(rig.nextAction() == .run("child"))
        #expect(rig.nextAction() == .run("16"))
    }

    @Test func whileSuspendedChildrenAlone() {
        let rig = SchedulerRig(width: 1, isSuspended: true)
        #expect(!rig.appendRequeued("outside"))
        #expect(rig.appendRequeued("child", isChild: true))
        #expect(rig.assignPermit() == .startWorker)
        #expect(rig.workerStarted() == .run("child"))
        #expect(rig.nextAction() == .end)
    }

    @Test func aSuspensionTakesOutWhatMayNotStart() {
        let rig = SchedulerRig(width: 1)
        for name in ["a", "b"] { _ = rig.appendRequeued(name) }
        _ = rig.appendRequeued("child", isChild: true)
        _ = rig.appendRequeued("high", .high)
        rig.scheduler.isSuspended = true
        #expect(rig.takeRequeued() == ["a", "b", "high"])
        #expect(rig.takeRequeued().isEmpty)
        _ = rig.assignPermit()
        #expect(rig.workerStarted() == .run("child"))
        #expect(rig.nextAction() == .end)
    }

    @Test func aWorkerThatHasReleasedItsPermitTakesOneIfThereIsOne() {
        let rig = SchedulerRig(width: 1)
        rig.append("asks")
        rig.append("other")
        _ = rig.assignPermit()
        _ = rig.workerStarted()
        rig.scheduler.releasePermit()
        #expect(rig.assignPermit() == .startWorker)
        #expect(rig.workerStarted() == .run("other"))
        _ = rig.appendRequeued("asks")
        #expect(rig.reacquirePermit() == .end, "The other one has it.")
        #expect(rig.scheduler.parked == 0)
        #expect(rig.nextAction() == .run("asks"))
        rig.scheduler.releasePermit()
        _ = rig.appendRequeued("asks")
        #expect(rig.reacquirePermit() == .run("asks"))
        #expect(rig.scheduler.running == 1)
    }
    @Test func aWorkerGoesOnWhileWhatItHasTakenUpWaits() {
        let rig = SchedulerRig(width: 1)
        rig.append("group")
        _ = rig.assignPermit()
        _ = rig.workerStarted()
        rig.append("child")
        #expect(rig.park() == .run("child"))
        #expect(rig.scheduler.running == 1)
        #expect(rig.scheduler.begun == 2)
        #expect(rig.nextAction() == .end)
        rig.scheduler.endedWithoutPermit()
        #expect(rig.scheduler.begun == 0)
    }

    /// A worker that could continue with its operation at once puts it into the lists if another operation may come
    /// first.
    @Test(arguments: Obstacle.allCases) private func aWorkerGoesOnAtOnceUnlessSomethingComesFirst(_ obstacle: Obstacle)
        async
    {
        let rig = SchedulerRig(width: 1)
        rig.append("asks")
        _ = rig.assignPermit()
        _ = rig.workerStarted()
        rig.scheduler.releasePermit()
        switch obstacle {
        case .none: rig.append("ready")
        case .lowerPriority: _ = rig.appendRequeued("low", .low)
        case .higherPriority: rig.append("high", .high)
        case .requeuedBefore: _ = rig.appendRequeued("back")
        case .resumption: await rig.appendResumption("waited")
        case .suspension: rig.scheduler.isSuspended = true
        case .noPermit: rig.scheduler.width = 0
        }
        let goesOn = obstacle == .none || obstacle == .lowerPriority
        let parked = rig.scheduler.parked
        #expect(rig.scheduler.reacquirePermit(for: .normal) == goesOn)
        #expect(rig.scheduler.running == (goesOn ? 1 : 0))
        #expect(rig.scheduler.parked == (goesOn ? parked - 1 : parked))
    }

    private enum Obstacle: CaseIterable {
        case none, lowerPriority, higherPriority, requeuedBefore, resumption, suspension, noPermit
    }
}
