import BatonTesting
import Testing

@testable import Baton

/// In these tests a body begins to wait for an operation that an add has adopted, and has not yet linked to its
/// dependencies. The body's search for a cycle cannot see these edges from both sides, so the add has to search again.
@Suite(.timeLimit(.minutes(10))) struct AwaitedWhileAddedTests {
    private let stage = TestQueue()
    private let gate = Gate()
    /// Additional dependencies that make the search in one direction longer than in the other.
    private let others = (0..<4).map { AsyncOperation("other \($0)") {} }

    /// Adds both operations. The second one is added twice. The misuse is reported when `awaited` has been adopted, and
    /// the report lets the body of `holder` continue.
    private func add(_ awaited: AnyOperation, whenClaimed holder: AnyOperation) {
        let (steps, gate) = (stage.steps, gate)
        stage.queue.onMisuse = { _ in
            gate.open()
            steps.runAll()
        }
        stage.queue.add([awaited, holder])
        stage.steps.runAll()
    }

    @Test func aCycleIsFound() {
        let awaited = AsyncOperation("awaited") {}
        let holder = AsyncOperation("holder") { [gate] in
            await gate.wait()
            _ = try? await awaited.value
        }
        let between = AsyncOperation("between") {}.addDependency(holder)
        for source in others + [between] { awaited.addDependency(source) }
        stage.run(holder, between)
        add(awaited, whenClaimed: holder)
        #expect(awaited.ending.contains("cycle"))
        #expect(holder.hasFinished)
    }

    @Test func aDeadlockIsFound() {
        let awaited = AsyncOperation("awaited") {}
        let holder = AsyncOperation("holder") { [gate] in
            await gate.wait()
            _ = try? await awaited.value
        }
        .addCondition(.mutuallyExclusive("AwaitedWhileAddedTests"))
        let between = AsyncOperation("between") {}.addCondition(.mutuallyExclusive("AwaitedWhileAddedTests"))
        for source in others + [between] { awaited.addDependency(source) }
        stage.run(holder, between)
        add(awaited, whenClaimed: holder)
        #expect(between.ending.contains("deadlock"))
        awaited.cancel()
        stage.steps.runAll()
        #expect(holder.hasFinished)
    }
}
