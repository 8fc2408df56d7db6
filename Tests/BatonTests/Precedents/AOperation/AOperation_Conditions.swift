// Statements of AOperation, ‘Basics’, and the pages on conditions that it links to
//
// Test names begin with the number of their statement in Documentation/Precedents.md.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BatonTesting
import Testing

@testable import Baton

/// The user who decides whether the program may read the contacts.
private final class User: Capability {
    /// Requests for one name run one at a time in the whole process, so each test that asks uses its own name.
    let name: String
    let log = EventLog<String>()
    let thinks = Gate()
    private let answer: CapabilityStatus
    private let known: Locked<CapabilityStatus>

    init(
        _ name: String = "contacts", answer: CapabilityStatus = .authorized, known: CapabilityStatus = .notDetermined
    ) {
        self.name = name
        self.answer = answer
        self.known = Locked(known)
    }

    func status() async -> CapabilityStatus { known.withLock { $0 } }

    func requestAuthorization() async throws {
        log("asked")
        await thinks.wait()
        log("answered")
        known.withLock { $0 = answer }
    }
}

/// A condition with the parts of AOperation's `AOperationCondition`.
private struct HasAccess: OperationCondition {
    let request: AsyncOperation<Void>?
    var exclusions: [Exclusion] = []

    func dependency(for operation: AnyOperation) -> AnyOperation? { request }

    func evaluate(for operation: AnyOperation) async throws -> ConditionResult { .satisfied }
}

@Suite(.timeLimit(.minutes(10))) struct AOperation_Conditions {
    @Test func AOperation_13_itIsCheckedBeforeTheOperationExecutes() {
        let stage = TestQueue()
        let operation = stage.noting("operation").addCondition("no") { _ in throw Oops() }
        operation.didFinish { [log = stage.log] result in
            guard case .failure(.conditionFailed("no", let cause)) = result else { return }
            log("finished: \(cause)")
        }
        stage.run(operation)
        #expect(stage.ran == ["finished: oops"])
    }

    @Test func AOperation_14_itsOperationRunsFirstAndFailsItByDefault() {
        let stage = TestQueue()
        let good = stage.noting("operation").addCondition(HasAccess(request: stage.noting("request")))
        stage.run(good)
        #expect(stage.ran == ["request", "operation"])
        let bad = stage.noting("not run")
            .addCondition(HasAccess(request: AsyncOperation("request") { throw Oops() }))
        stage.run(bad)
        #expect(bad.ending == "condition HasAccess: oops")
        #expect(stage.ran == ["request", "operation"])
    }

    @Test func AOperation_15_whatItBringsAlongMayDependOnTheOperation() {
        struct Prepares: OperationCondition {
            let log: EventLog<String>
            func dependency(for operation: AnyOperation) -> AnyOperation? {
                guard let name = operation.name, name != "simple" else { return nil }
                return AsyncOperation { [log] in log("prepare \(name)") }
            }

            func evaluate(for operation: AnyOperation) async throws -> ConditionResult { .satisfied }
        }
        let stage = TestQueue()
        stage.run(stage.noting("simple").addCondition(Prepares(log: stage.log)))
        stage.run(stage.noting("hard").addCondition(Prepares(log: stage.log)))
        #expect(stage.ran == ["simple", "prepare hard", "hard"])
    }

    @Test func AOperation_16_theEvaluationMayBeOnesOwn() {
        struct Lenient: OperationCondition {
            let log: EventLog<String>
            func dependency(for operation: AnyOperation) -> AnyOperation? {
                AsyncOperation<Void>("request") { throw Oops() }
            }
            func evaluate(
                for operation: AnyOperation, after dependency: AnyOperation?
            ) async throws -> ConditionResult {
                log("\(dependency?.error?.underlyingError as? Oops == Oops())")
                return .satisfied
            }

            func evaluate(for operation: AnyOperation) async throws -> ConditionResult {
                try await evaluate(for: operation, after: nil)
            }
        }
        let stage = TestQueue()
        stage.run(stage.noting("operation").addCondition(Lenient(log: stage.log)))
        #expect(stage.ran == ["true", "operation"])
    }

    @Test func AOperation_17_twoThatExcludeEachOtherNeverRunTheirOperationsAtOnce() {
        let stage = TestQueue()
        let gate = Gate()
        for number in 1...2 {
            let condition = HasAccess(
                request: stage.waiting("request \(number)", at: gate), exclusions: [.mutuallyExclusive(HasAccess.self)])
            stage.run(stage.noting("operation \(number)").addCondition(condition))
        }
        #expect(stage.ran == ["request 1"])
        gate.open()
        stage.steps.runAll()
        #expect(Set(stage.ran) == ["request 1", "request 2", "operation 1", "operation 2"])
    }

    @Test func AOperation_17_norAreTheyEvaluatedAtOnce() {
        struct Slow: OperationCondition {
            let log: EventLog<String>
            let gate: Gate
            var exclusions: [Exclusion] { [.mutuallyExclusive(Slow.self)] }
            func evaluate(for operation: AnyOperation) async throws -> ConditionResult {
                log("begins")
                await gate.wait()
                log("ends")
                return .satisfied
            }
        }
        let stage = TestQueue()
        let gates = [Gate(), Gate()]
        for gate in gates {
            stage.run(AsyncOperation("operation") {}.addCondition(Slow(log: stage.log, gate: gate)))
        }
        #expect(stage.ran == ["begins"])
        gates[0].open()
        stage.steps.runAll()
        #expect(stage.ran == ["begins", "ends", "begins"])
        gates[1].open()
        stage.steps.runAll()
        #expect(stage.queue.operationCount == 0)
    }

    @Test func AOperation_18_theErrorSaysWhetherTheConditionOrTheOperationFailed() {
        let stage = TestQueue()
        let condition = stage.noting("one").addCondition(HasAccess(request: AsyncOperation("request") { throw Oops() }))
        let execution = AsyncOperation<Void>("two") { throw Oops() }
        stage.run(condition, execution)
        #expect(condition.error?.stage == .condition)
        #expect(condition.error?.publisher == "HasAccess")
        #expect(execution.error?.stage == .execution)
        #expect(execution.error?.publisher == nil)
    }

    /// Ready operations are served in order. An operation that waits for its dependencies has no place in that order
    /// yet.
    @Test func AOperationPages_8_exclusionServesInTheOrderOfAdding() {
        enum Printer {}
        let stage = TestQueue()
        let other = TestQueue(on: stage.steps)
        for number in 0..<10 {
            let queue = number.isMultiple(of: 2) ? stage.queue : other.queue
            queue.add(stage.noting("\(number)").addCondition(.mutuallyExclusive(Printer.self)))
            stage.steps.runAll()
        }
        #expect(stage.ran == (0..<10).map { "\($0)" })
    }

    @Test func AOperationPages_8_noCancelledDependencies() {
        let stage = TestQueue()
        let cancelled = stage.noting("cancelled")
        cancelled.cancel()
        let failed = AsyncOperation<Void>("failed") { throw Oops() }
        let strict = stage.noting("strict", after: cancelled).addCondition(NoCancelledDependencies())
        let lenient = stage.noting("lenient", after: failed).addCondition(NoCancelledDependencies())
        stage.run(failed, strict, lenient)
        #expect(strict.ending == "condition NoCancelledDependencies: ‘cancelled’: cancelled on request")
        #expect(stage.ran == ["lenient"])
    }

    @Test func AOperationPages_8_noFailedDependencies() {
        let stage = TestQueue()
        let cancelled = stage.noting("cancelled")
        cancelled.cancel()
        let failed = AsyncOperation<Void>("failed") { throw Oops() }
        let skipped = stage.noting("skipped").addCondition("no") { _ in .skip("no") }
        let cases: [(AnyOperation, NoFailedDependencies, runs: Bool)] = [
            (failed, NoFailedDependencies(), false),
            (failed, NoFailedDependencies(ignoringCancellations: true), false),
            (cancelled, NoFailedDependencies(), false),
            (cancelled, NoFailedDependencies(ignoringCancellations: true), true),
            (skipped, NoFailedDependencies(), true),
            (stage.noting("good"), NoFailedDependencies(), true),
        ]
        stage.queue.add([failed, skipped, cases[5].0])
        for (source, condition, runs) in cases {
            let operation = AsyncOperation("operation") {}.addCondition(condition)
            operation.addDependency(source)
            stage.run(operation)
            #expect(operation.ending.hasPrefix(runs ? "success" : "condition NoFailedDependencies"))
            if source === failed { #expect(operation.error?.underlyingError is Oops) }
        }
    }

    @Test func AOperationPages_8_silentAndNegated() {
        let stage = TestQueue()
        let silent = HasAccess(request: stage.noting("never")).silent
        stage.run(stage.noting("one").addCondition(silent))
        let negated = stage.noting("two").addCondition(HasAccess(request: nil).negated)
        stage.run(negated)
        #expect(stage.ran == ["one"])
        #expect(negated.ending == "condition not HasAccess: ‘HasAccess’ is satisfied")
    }

    /// Like `ReachabilityCondition(waitToConnect:)` of AOperation: the operation that the condition brings along waits
    /// for the connection. Without such an operation the condition checks the connection once.
    @Test(arguments: [true, false]) func AOperationPages_8_aConditionMayWaitForWhatItWantsOrLookOnce(waits: Bool) {
        struct IsConnected: OperationCondition {
            let connection: Gate
            func dependency(for operation: AnyOperation) -> AnyOperation? {
                AsyncOperation("connect") { [connection] in try await connection.waitUnlessCancelled() }
            }
            func evaluate(for operation: AnyOperation) async throws -> ConditionResult {
                if connection.isOpen { return .satisfied }
                throw Oops(text: "not connected")
            }
        }
        let stage = TestQueue()
        let condition = IsConnected(connection: Gate())
        let operation = stage.noting("operation")
        if waits { operation.addCondition(condition) } else { operation.addCondition(condition.silent) }
        stage.run(operation)
        #expect(operation.ending == (waits ? "evaluating" : "condition IsConnected: not connected"))
        condition.connection.open()
        stage.steps.runAll()
        #expect(stage.ran == (waits ? ["operation"] : []))
    }

    @Test func AOperationPages_10_aPermissionIsAskedForInTheConditionsOwnOperation() {
        let stage = TestQueue()
        let user = User("contacts of somebody else")
        let first = AsyncOperation("first") { user.log("first") }.addCondition(.authorized(for: user))
        let second = AsyncOperation("second") { user.log("second") }.addCondition(.authorized(for: user))
        stage.run(first, second)
        #expect(user.log.events == ["asked"])
        user.thinks.open()
        stage.steps.runAll()
        // The user is asked once, although both operations were about to ask.
        #expect(user.log.events.prefix(2) == ["asked", "answered"])
        #expect(Set(user.log.events.suffix(2)) == ["first", "second"])
        #expect(user.log.count == 4)
    }

    @Test func AOperationPages_10_aPermissionThatIsDenied() {
        let stage = TestQueue()
        let user = User(answer: .denied)
        user.thinks.open()
        let operation = stage.noting("operation").addCondition(.authorized(for: user))
        stage.run(operation)
        #expect(operation.ending == "condition authorized for contacts: ‘contacts’ is denied")
        #expect(operation.error?.stage == .condition)
        let asking = stage.noting("asking").addCondition(.authorized(for: User(known: .notDetermined)).silent)
        stage.run(asking)
        #expect(asking.ending == "condition authorized for contacts: ‘contacts’ is not determined")
        #expect(stage.ran.isEmpty)
    }

    @Test func AOperationPages_10_aRequestThatFails() {
        struct Broken: Capability {
            let name = "broken"
            func status() async -> CapabilityStatus { .notDetermined }
            func requestAuthorization() async throws { throw Oops() }
        }
        let stage = TestQueue()
        let operation = stage.noting("operation").addCondition(.authorized(for: Broken()))
        stage.run(operation)
        #expect(operation.ending == "condition authorized for broken: oops")
    }
}
