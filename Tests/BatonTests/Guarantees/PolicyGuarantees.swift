// The number of a guarantee begins the name of its tests.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BatonTesting
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct PolicyGuarantees {
    enum SourceEnd: String, CaseIterable {
        case success, failed, callbackDropped, dependencyFailed, cycle, cancelled, skipped
    }

    /// The policies that are met by each ending, as G5 lists them.
    static let isMet: [SourceEnd: Set<DependencyPolicy>] = [
        .success: [.success, .noFailure, .always],
        .failed: [.failure, .always],
        .callbackDropped: [.failure, .always],
        .dependencyFailed: [.failure, .always],
        .cycle: [.failure, .always],
        .cancelled: [.always],
        .skipped: [.always],
    ]

    /// Returns an operation that ends in the given way, followed by the other operations that it needs.
    private func source(_ ending: SourceEnd, _ stage: TestQueue) -> [AnyOperation] {
        let failing = AsyncOperation<Void>("failing") { throw Oops() }
        switch ending {
        case .success: return [AsyncOperation("source") {}]
        case .failed: return [AsyncOperation("source") { throw Oops() } as AsyncOperation<Void>]
        case .callbackDropped: return [AsyncOperation<Void>.callback("source") { _ in }]
        case .dependencyFailed: return [failing.then {}, failing]
        case .cycle:
            let (one, two) = (AsyncOperation("one") {}, AsyncOperation("two") {})
            one.addDependency(two)
            two.addDependency(one)
            return [one, two]
        case .cancelled:
            let source = AsyncOperation("source") {}
            source.cancel()
            return [source]
        case .skipped: return [AsyncOperation("source") {}.addDependency(failing, on: .success), failing]
        }
    }

    @Test(arguments: SourceEnd.allCases, DependencyPolicy.allCases)
    func G5_theTruthTable(ending: SourceEnd, policy: DependencyPolicy) throws {
        let stage = TestQueue()
        let source = source(ending, stage)
        let dependent = AsyncOperation("dependent") { [log = stage.log] in log("ran") }
        dependent.addDependency(source[0], on: policy)
        stage.queue.add([dependent] + source)
        stage.steps.runAll()
        let isMet = try #require(Self.isMet[ending]).contains(policy)
        #expect(stage.ran == (isMet ? ["ran"] : []))
        if isMet {
            #expect(dependent.ending == "success")
        } else {
            guard case .skipped(.edge(let reference, let outcome))? = dependent.error else {
                Issue.record("\(dependent.ending)")
                return
            }
            // With `.noFailure`, an operation that did not run because of a failure is not named. The operation that
            // failed is.
            let isLater = policy == .noFailure && (ending == .dependencyFailed || ending == .skipped)
            #expect(reference == source[isLater ? 1 : 0].reference)
            #expect(outcome == source[isLater ? 1 : 0].outcomeKind)
        }
    }

    /// The graph resembles a build: an operation that is up to date is skipped and its dependents run, but an operation
    /// that fails stops all of its dependents.
    @Test func G5_upToDateIsNoFailure() {
        let stage = TestQueue(width: 1)
        let fresh = stage.noting("fresh").addCondition("is older") { _ in .skip("up to date") }
        let broken = AsyncOperation("broken") { throw Oops() } as AsyncOperation<Void>
        let link = stage.noting("link").addDependency(fresh, on: .noFailure)
        let test = stage.noting("test").addDependency(link, on: .noFailure)
        let pack = stage.noting("pack").addDependency(test, on: .noFailure).addDependency(broken, on: .noFailure)
        let ship = stage.noting("ship").addDependency(pack, on: .noFailure)
        let fallback = stage.noting("fallback").addDependency(fresh, on: .failure)
        let after = stage.noting("after the fallback").addDependency(fallback, on: .noFailure)
        stage.run(fresh, broken, link, test, pack, ship, fallback, after)
        #expect(stage.ran == ["link", "test", "after the fallback"])
        #expect(pack.ending == "skipped, because ‘broken’ failed, and the dependency asks for a success or a skip")
        #expect(ship.ending == "skipped, because ‘broken’ failed, and the dependency asks that nothing before it fails")
        let cancelled = stage.noting("cancelled")
        cancelled.cancel()
        let next = stage.noting("next").addDependency(cancelled, on: .noFailure)
        let last = stage.noting("last").addDependency(next, on: .noFailure)
        stage.run(cancelled, next, last)
        #expect(
            last.ending
                == "skipped, because ‘cancelled’ was cancelled, and the dependency asks that nothing before it fails")
    }

    @Test func G5_anEdgeWithoutAPolicyReleasesWhateverTheOutcome() {
        for ending in SourceEnd.allCases {
            let stage = TestQueue()
            let source = source(ending, stage)
            stage.queue.add([stage.noting("dependent", after: source[0])] + source)
            stage.steps.runAll()
            #expect(stage.ran.contains("dependent"), "\(ending)")
        }
    }

    /// The error names the first dependency in the order of adding, not the one that finished first.
    @Test func G5_theFirstUnmetPolicyInTheOrderAddedIsNamed() {
        let stage = TestQueue(width: 1)
        let first = AsyncOperation("first") { throw Oops() } as AsyncOperation<Void>
        let second = AsyncOperation("second") { throw Oops() } as AsyncOperation<Void>
        let dependent = stage.noting("dependent")
        dependent.addDependency(first, on: .success)
        dependent.addDependency(second, on: .success)
        stage.run(second, first, dependent)
        #expect(dependent.ending == "skipped, because ‘first’ failed, and the dependency asks for a success")
        #expect(!dependent.isCancelled)
    }

    @Test func G5_itIsDecidedWhenAllDependenciesHaveFinished() {
        let stage = TestQueue()
        let gate = Gate()
        let failing = AsyncOperation("failing") { throw Oops() } as AsyncOperation<Void>
        let slow = stage.waiting("slow", at: gate)
        let dependent = stage.noting("dependent", after: slow)
        dependent.addDependency(failing, on: .success)
        stage.run(failing, slow, dependent)
        #expect(dependent.state == .waiting)
        gate.open()
        stage.steps.runAll()
        #expect(dependent.ending == "skipped, because ‘failing’ failed, and the dependency asks for a success")
    }

    @Test func G5_policiesComeBeforeInputs() {
        let stage = TestQueue()
        let failing = AsyncOperation<Int>("failing") { throw Oops() }
        let reader = failing.then { $0 }
        reader.addDependency(failing, on: .success)
        stage.run(failing, reader)
        #expect(reader.ending == "skipped, because ‘failing’ failed, and the dependency asks for a success")
    }

    @Test func G5_oneDependencyWithTwoPoliciesMustMeetBoth() {
        let stage = TestQueue()
        let source = stage.noting("source")
        let dependent = stage.noting("dependent")
        dependent.addDependency(source, on: .success)
        dependent.addDependency(source, on: .failure)
        #expect(dependent.dependencies.count == 1)
        stage.run(source, dependent)
        #expect(dependent.ending == "skipped, because ‘source’ succeeded, and the dependency asks for a failure")
    }

    @Test func G5_aRemovedDependencyTakesItsPolicyAlong() {
        let stage = TestQueue()
        let failing = AsyncOperation("failing") { throw Oops() } as AsyncOperation<Void>
        let dependent = stage.noting("dependent")
        dependent.addDependency(failing, on: .success)
        dependent.removeDependency(failing)
        stage.run(failing, dependent)
        #expect(stage.ran == ["dependent"])
    }

    @Test func G5_aPolicyAfterTheAddIsMisuse() {
        let stage = TestQueue(isSuspended: true)
        let operation = stage.noting("operation")
        stage.queue.add(operation)
        operation.addDependency(stage.noting("late"), on: .failure)
        #expect(stage.misuseKinds == [.changedAfterAdding("the dependency on ‘late’")])
        #expect(operation.dependencies.isEmpty)
        operation.cancel()
    }

    /// One graph contains a fallback, a clean-up and a branch.
    @Test func G5_fallbackCleanUpAndBranch() {
        for isFailing in [false, true] {
            let stage = TestQueue(width: 1)
            let primary = AsyncOperation("primary") { [log = stage.log] in
                log("primary")
                if isFailing { throw Oops() }
            }
            let next = stage.noting("next").addDependency(primary, on: .success)
            let fallback = stage.noting("fallback").addDependency(primary, on: .failure)
            let cleanUp = stage.noting("clean up").addDependency(next, on: .always)
            cleanUp.addDependency(fallback, on: .always)
            stage.run(cleanUp, fallback, next, primary)
            #expect(stage.ran == ["primary", isFailing ? "fallback" : "next", "clean up"])
        }
    }
}
