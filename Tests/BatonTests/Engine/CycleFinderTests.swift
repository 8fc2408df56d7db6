import Testing

@testable import Baton

/// The search itself, through operations on a suspended queue.
@Suite struct CycleFinderTests {
    private let stage = Stage(isSuspended: true)

    @Test func aGraphWithoutACircleIsLeftAlone() {
        let top = stage.noting("top")
        let left = stage.noting("left", after: top)
        let right = stage.noting("right", after: top)
        let bottom = stage.noting("bottom", after: left, right)
        stage.queue.add(bottom, right, left, top)
        for operation in [top, left, right, bottom] {
            #expect(CycleFinder.breakCycles(through: operation) == nil)
        }
        #expect(top.ending == "ready")
        #expect(bottom.ending == "waiting")
    }

    @Test func thePathLeadsFromEachMemberToWhatItWaitsFor() {
        let a = stage.noting("a")
        let b = stage.noting("b", after: a)
        let c = stage.noting("c", after: b)
        a.addDependency(c)
        stage.queue.add(a, b, c)
        #expect(a.failure?.cycleNames == ["a", "c", "b"])
        #expect(b.failure?.cycleNames == ["a", "c", "b"])
        #expect(c.failure?.cycleNames == ["a", "c", "b"])
    }

    /// Two circles that share one operation: it is on the path of the first that is found, the others on their own.
    @Test func bothCirclesOfAFigureEightAreBroken() {
        let shared = stage.noting("m")
        let left = stage.noting("l", after: shared)
        let right = stage.noting("r", after: shared)
        shared.addDependency(left)
        shared.addDependency(right)
        stage.queue.add(left, right, shared)
        stage.queue.isSuspended = false
        stage.steps.runAll()
        let broken = [left, right, shared].filter { $0.failure?.cycleNames != nil }
        #expect(broken.contains { $0 === shared })
        #expect(broken.count >= 2)
        for operation in [left, right, shared] { #expect(operation.state == .finished) }
    }

    @Test func aShortestCircleIsNamed() {
        let a = stage.noting("a")
        let b = stage.noting("b", after: a)
        let c = stage.noting("c", after: b)
        let d = stage.noting("d", after: c, b)
        a.addDependency(d)
        stage.queue.add(d, c, b, a)
        #expect(a.failure?.cycleNames == ["a", "d", "b"])
    }

    /// Dependencies of one that nobody has added may still be taken back.
    @Test func whatWasNotAddedClosesNoCircle() {
        let a = stage.noting("a")
        let b = stage.noting("b", after: a)
        a.addDependency(b)
        stage.queue.add(a)
        #expect(a.ending == "waiting")
        b.removeDependency(a)
        stage.queue.add(b)
        #expect(a.ending == "waiting")
        #expect(b.ending == "ready")
    }

    @Test func aCircleIsBrokenBeforeADependentOfItIsReleased() {
        let a = stage.noting("a")
        let b = stage.noting("b", after: a)
        a.addDependency(b)
        let outside = stage.noting("outside", after: a, b)
        stage.queue.add(outside, a, b)
        #expect(outside.ending == "ready")
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(stage.ran == ["outside"])
    }
}
