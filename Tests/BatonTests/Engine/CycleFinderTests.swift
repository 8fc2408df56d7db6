import Testing

@testable import Baton

/// Tests of the search itself, with operations of a suspended queue.
@Suite struct CycleFinderTests {
    private let stage = TestQueue(isSuspended: true)

    @Test func aGraphWithoutACycleIsLeftAlone() {
        let top = stage.noting("top")
        let left = stage.noting("left", after: top)
        let right = stage.noting("right", after: top)
        let bottom = stage.noting("bottom", after: left, right)
        stage.queue.add(bottom, right, left, top)
        for operation in [top, left, right, bottom] {
            #expect(CycleFinder.search([CycleFinder.Suspect(operation: operation)], .unlimited) == .free)
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

    /// Two cycles share one operation, so all three operations wait for themselves.
    @Test func bothCyclesOfAFigureEightAreBroken() {
        let shared = stage.noting("m")
        let left = stage.noting("l", after: shared)
        let right = stage.noting("r", after: shared)
        shared.addDependency(left)
        shared.addDependency(right)
        stage.queue.add(left, right, shared)
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(left.failure?.cycleNames == ["l", "m"])
        #expect(right.failure?.cycleNames == ["m", "r"])
        #expect(shared.failure?.cycleNames != nil)
    }

    @Test func aShortestCycleIsNamed() {
        let a = stage.noting("a")
        let b = stage.noting("b", after: a)
        let c = stage.noting("c", after: b)
        let d = stage.noting("d", after: c, b)
        a.addDependency(d)
        stage.queue.add(d, c, b, a)
        #expect(a.failure?.cycleNames == ["a", "d", "b"])
    }

    /// Dependencies of an operation that was not added can still be removed.
    @Test func anOperationThatWasNotAddedClosesNoCycle() {
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

    @Test("A search gives up when its budget is spent, and says so")
    func aSearchGivesUp() {
        let bottom = stage.noting("bottom")
        let middle = stage.noting("middle", after: bottom)
        var top = [stage.noting("top", after: middle)]
        for index in 0..<1_000 { top.append(stage.noting("top \(index)", after: top[index])) }
        var source = bottom
        for index in 0..<1_000 {
            let next = stage.noting("source \(index)")
            source.addDependency(next)
            source = next
        }
        stage.queue.add(top + [middle, bottom])
        let suspect = CycleFinder.Suspect(operation: middle)
        // The sources have not been added, so the search in their direction ends within the budget.
        #expect(CycleFinder.search([suspect], CycleFinder.Budget(links: 0, hasPostponedSearch: false)) == .free)
        var upstream: [AnyOperation] = []
        var next: AnyOperation? = bottom.dependencies.first
        while let operation = next {
            upstream.append(operation)
            next = operation.dependencies.first
        }
        stage.queue.add(upstream)
        #expect(CycleFinder.search([suspect], CycleFinder.Budget(links: 0, hasPostponedSearch: false)) == .undecided)
        #expect(CycleFinder.search([suspect], .unlimited) == .free)
    }

    @Test func aCycleIsBrokenBeforeADependentOfItIsReleased() {
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
