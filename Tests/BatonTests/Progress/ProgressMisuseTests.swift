import BatonTesting
import Testing

@testable import Baton

/// Numbers that no progress can have are reported.
@Suite(.timeLimit(.minutes(10))) struct ProgressMisuseTests {
    private let stage = TestQueue(name: "q")

    private func reports(_ body: @escaping @Sendable (ProgressReporter) -> Void) -> [String] {
        stage.run(AsyncOperation("copy") { context in body(context.progress) })
        return stage.misuses.events.map { "\($0)" }
    }

    @Test("A negative number is reported with the operation and the number")
    func negativeNumbers() {
        let advice = "it counts as 0. Use 0 or more, nil for an unknown total, and completedUnitCount to go back"
        #expect(
            reports { $0.totalUnitCount = -2 }
                == ["‘copy’: the total of its progress cannot be -2; \(advice)"])
        stage.misuses.clear()
        #expect(
            reports { $0.advance(by: -9) }
                == ["‘copy’: the number of units to advance by cannot be -9; \(advice)"])
        stage.misuses.clear()
        #expect(
            reports { $0.completedUnitCount = -1 }
                == ["‘copy’: the completed count of its progress cannot be -1; \(advice)"])
        stage.misuses.clear()
        #expect(
            reports { $0.report(completed: -3, of: 4) }
                == ["‘copy’: the completed count of its progress cannot be -3; \(advice)"])
        stage.misuses.clear()
        #expect(
            reports { $0.report(completed: 3, of: -4) }
                == ["‘copy’: the total of its progress cannot be -4; \(advice)"])
        stage.misuses.clear()
        #expect(
            reports { $0.addChild(AsyncOperation("child") {}, weight: -5) }
                == ["‘copy’: the weight of ‘child’ in its progress cannot be -5; \(advice)"])
    }

    @Test("A child that is run with a negative weight is reported, and runs")
    func weightOfAChildThatRuns() {
        let child = stage.noting("child")
        stage.run(AsyncOperation("parent") { context in try await context.run(child, weight: -1) })
        #expect(stage.ran == ["child"])
        #expect(stage.misuses.events.count == 1)
    }

    @Test("An operation is reported once, however many of its numbers are wrong")
    func reportedOnce() {
        let texts = reports { progress in
            for _ in 0..<3 { progress.advance(by: -1) }
            progress.totalUnitCount = -1
        }
        #expect(texts.count == 1)
    }

    @Test("Nothing is reported for estimates, weights of zero and reports after the end")
    func ordinaryNumbers() {
        let reporters = EventLog<ProgressReporter>()
        let texts = reports { progress in
            progress.report(completed: 7, of: 3)
            progress.totalUnitCount = nil
            progress.advance(by: 0)
            progress.addChild(AsyncOperation {}, weight: 0)
            reporters(progress)
        }
        reporters.events[0].advance(by: -1)
        reporters.events[0].addChild(AsyncOperation {}, weight: -1)
        #expect(texts == [])
        #expect(stage.misuses.events.isEmpty)
    }

    @Test("A reporter does not keep its operation alive")
    func release() {
        let reporters = EventLog<ProgressReporter>()
        weak var operation: AnyOperation?
        do {
            let copy = AsyncOperation("copy") { context in reporters(context.progress) }
            operation = copy
            stage.run(copy)
        }
        #expect(operation == nil)
        reporters.events[0].advance(by: -1)
        #expect(stage.misuses.events.isEmpty)
    }
}
