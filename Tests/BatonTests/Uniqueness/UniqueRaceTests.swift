import BatonTesting
import Synchronization
import Testing

@testable import Baton

/// Many threads that add operations with the same key at once, round after round.
@Suite(.serialized, .timeLimit(.minutes(10))) struct UniqueRaceTests {
    private static let rounds = tries(1000)
    private static let adders = 4

    /// Counts bodies, which must not overlap.
    private final class Bodies: Sendable {
        let runs = Tally()
        let overlaps = Tally()
        private let running = Atomic<Int>(0)

        func operation(at gate: Gate?) -> AsyncOperation<Int> {
            AsyncOperation { [self] in
                runs.add()
                if running.wrappingAdd(1, ordering: .relaxed).newValue > 1 { overlaps.add() }
                await gate?.wait()
                await Task.yield()
                running.wrappingSubtract(1, ordering: .relaxed)
                return runs.count
            }
        }
    }

    private let pool = ThreadExecutor(threads: 4)
    private let queues: [AsyncOperationQueue]

    init() {
        let pool = pool
        queues = (0..<2).map { _ in AsyncOperationQueue(executor: pool) }
    }

    /// Adds the operations of all adders at the same moment, and returns when all are added.
    private func addAtOnce(_ operations: [[AnyOperation]]) async {
        let start = Barrier(threads: operations.count)
        await withTaskGroup(of: Void.self) { group in
            for (number, own) in operations.enumerated() {
                group.addTask(executorPreference: pool) { [queues] in
                    start.block()
                    for operation in own { queues[number % 2].add(operation) }
                }
            }
        }
    }

    private func operations(_ key: String, _ policy: UniquenessPolicy, _ bodies: Bodies, at gate: Gate? = nil)
        -> [[AsyncOperation<Int>]]
    {
        (0..<Self.adders).map { _ in
            (0..<2).map { _ in bodies.operation(at: gate).unique(by: key, policy: policy) }
        }
    }

    /// Awaits all operations. If one were lost, the test would hang.
    private func outcomes(of operations: [[AsyncOperation<Int>]]) async -> [Result<Int, OperationError>] {
        for operation in operations.joined() { _ = try? await operation.value }
        return operations.joined().map { $0.result! }
    }

    @Test func ofThoseThatRejectOneRuns() async {
        for round in 0..<Self.rounds {
            let (bodies, gate) = (Bodies(), Gate())
            let all = operations("\(#function) \(round)", .reject, bodies, at: gate)
            await addAtOnce(all)
            gate.open()
            let outcomes = await outcomes(of: all)
            #expect(bodies.runs.count == 1)
            #expect(outcomes.count { $0.outcome == .success } == 1)
            #expect(outcomes.count { $0.outcome == .skipped } == all.joined().count - 1)
        }
    }

    @Test("Operations that join share one run")
    func thoseThatJoinShareOneRun() async {
        for round in 0..<Self.rounds {
            let (bodies, gate) = (Bodies(), Gate())
            let all = operations("\(#function) \(round)", .join, bodies, at: gate)
            await addAtOnce(all)
            gate.open()
            let outcomes = await outcomes(of: all)
            #expect(bodies.runs.count == 1)
            #expect(outcomes.allSatisfy { (try? $0.get()) == 1 })
        }
    }

    @Test(arguments: UniquenessPolicy.allCases)
    func bodiesThatAreOverAtOnceNeverOverlap(policy: UniquenessPolicy) async {
        let bodies = Bodies()
        for _ in 0..<Self.rounds {
            let all = operations("\(#function) \(policy)", policy, bodies)
            await addAtOnce(all)
            let outcomes = await outcomes(of: all)
            #expect(outcomes.contains { $0.outcome == .success })
            if policy == .join { #expect(outcomes.allSatisfy { $0.outcome == .success }) }
        }
        #expect(bodies.overlaps.count == 0)
        for queue in queues { await queue.waitUntilIdle() }
    }

    @Test func ofThoseThatReplaceTheLastOneRunsAndNoTwoAtOnce() async {
        for round in 0..<Self.rounds {
            let (bodies, gate) = (Bodies(), Gate())
            let all = operations("\(#function) \(round)", .replace, bodies, at: gate)
            await addAtOnce(all)
            gate.open()
            let outcomes = await outcomes(of: all)
            #expect(bodies.overlaps.count == 0)
            #expect(zip(all.joined(), outcomes).count { !$0.isCancelled && $1.outcome == .success } == 1)
        }
    }

    @Test func cancelsFromAllSidesWhileItEnds() async {
        for round in 0..<Self.rounds {
            let (bodies, gate) = (Bodies(), Gate())
            let all = operations("\(#function) \(round)", .join, bodies, at: gate)
            await addAtOnce(all)
            let start = Barrier(threads: all.count)
            await withTaskGroup(of: Void.self) { group in
                for (number, own) in all.enumerated() {
                    group.addTask(executorPreference: pool) {
                        start.block()
                        if number == round % Self.adders { gate.open() }
                        for operation in own { operation.cancel() }
                    }
                }
            }
            _ = await outcomes(of: all)
            #expect(bodies.runs.count <= 1)
        }
        for queue in queues { await queue.waitUntilIdle() }
    }

    @Test func theLastOfAllInterestedCancelsTheOriginal() async {
        for round in 0..<Self.rounds {
            let (bodies, gate) = (Bodies(), Gate())
            let all = operations("\(#function) \(round)", .join, bodies, at: gate)
            await addAtOnce(all)
            let start = Barrier(threads: all.count)
            await withTaskGroup(of: Void.self) { group in
                for own in all {
                    group.addTask(executorPreference: pool) {
                        start.block()
                        for operation in own { operation.cancel() }
                    }
                }
            }
            #expect(all.joined().allSatisfy { $0.isCancelled })
            gate.open()
            _ = await outcomes(of: all)
        }
    }
}

extension Result<Int, OperationError> {
    fileprivate var outcome: OperationOutcome {
        switch self {
        case .success: .success
        case .failure(let error): error.outcome
        }
    }
}
