// Statements of AOperation, ‘Basics’, and its page on unique operations
//
// Test names begin with the number of their statement in Documentation/Precedents.md.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BatonTesting
import Testing

@testable import Baton

/// The example of the page: one alert at a time.
private struct Alert: Procedure {
    let text: String
    let log: EventLog<String>
    var isDismissed = Gate()

    func execute(in context: OperationContext) async throws -> String {
        log("shows \(text)")
        await isDismissed.wait()
        return text
    }
}

/// A procedure of another type, with the same key.
private struct Sound: Procedure {
    let log: EventLog<String>

    func execute(in context: OperationContext) async throws { log("sound") }
}

@Suite(.timeLimit(.minutes(10))) struct AOperation_Unique {
    private let stage = TestQueue()
    private let dismissal = Gate()

    private func alert(_ text: String, _ id: String = #function) -> AsyncOperation<String> {
        AsyncOperation(Alert(text: text, log: stage.log, isDismissed: dismissal)).unique(by: id)
    }

    @Test func AOperationPages_5_aSecondOneWithTheSameIdentityDoesNotRun() {
        let first = alert("first")
        let second = alert("second")
        stage.run(first)
        stage.run(second)
        #expect(stage.ran == ["shows first"])
        guard case .skipped(.duplicate(of: first.reference))? = second.error else {
            Issue.record("\(second.ending)")
            return
        }
        dismissal.open()
        stage.steps.runAll()
        #expect(stage.ran == ["shows first"])
        #expect(stage.misuseKinds == [], "It is not a mistake.")
    }

    @Test func AOperationPages_5_afterTheFinishTheIdentityIsFree() {
        dismissal.open()
        stage.run(alert("first"))
        stage.run(alert("second"))
        #expect(stage.ran == ["shows first", "shows second"])
    }

    /// The first operation counts while it is in a queue, whether it has started or not, and whichever queue the
    /// second one is added to.
    @Test func AOperationPages_5_itCountsFromTheAddOnInAllQueues() {
        let other = TestQueue(isSuspended: true, on: stage.steps)
        other.queue.add(alert("first"))
        let second = alert("second")
        stage.run(second)
        #expect(stage.ran == [])
        #expect(second.hasFinished)
        dismissal.open()
        other.queue.isSuspended = false
        stage.steps.runAll()
        #expect(stage.ran == ["shows first"])
    }

    /// In AOperation the second operation never finishes, and its dependents hang.
    @Test func AOperationPages_5_theOneThatIsIgnoredFinishes() {
        let second = alert("second").didFinish { [log = stage.log] _ in log("did finish") }
        stage.run(alert("first"))
        stage.run(stage.noting("dependent", after: second), second)
        #expect(Set(stage.ran) == ["shows first", "did finish", "dependent"])
        dismissal.open()
        stage.steps.runAll()
        #expect(stage.queue.operationCount == 0)
    }

    /// In AOperation all types share one set of identities.
    @Test func AOperationPages_5_eachTypeHasItsOwnIdentities() {
        stage.run(alert("first"))
        stage.run(AsyncOperation(Sound(log: stage.log)).unique(by: #function))
        #expect(stage.ran == ["shows first", "sound"])
        dismissal.open()
        stage.steps.runAll()
    }
}
