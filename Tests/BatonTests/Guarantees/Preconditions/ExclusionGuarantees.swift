import BatonTesting
import Testing

@testable import Baton

/// Counts who is inside a critical section, and records whether a limit was ever exceeded.
private final class Room: Sendable {
    private struct Inside {
        var exclusive = 0
        var shared = 0
        var units = 0
        var wasBroken = false
    }

    private let limit: Int
    private let inside = Locked(Inside())

    init(limit: Int = .max) { self.limit = limit }

    var wasBroken: Bool { inside.withLock { $0.wasBroken } }

    func enter(exclusive: Int = 0, shared: Int = 0, units: Int = 0) {
        inside.withLock { inside in
            inside.exclusive += exclusive
            inside.shared += shared
            inside.units += units
            let others = inside.shared + inside.units
            if inside.exclusive > 1 || inside.exclusive == 1 && others > 0 || inside.units > limit {
                inside.wasBroken = true
            }
        }
    }
}

@Suite(.timeLimit(.minutes(10))) struct ExclusionGuarantees {
    @Test func G12_neverTwoHoldersOnAnyQueueUnderThreads() async {
        let name = Names()
        let room = Room(limit: 3)
        let queues = [1, 2, 64].map { AsyncOperationQueue(maxConcurrentOperationCount: $0) }
        for number in 0..<6_000 {
            let operation: AsyncOperation<Void>
            switch number % 3 {
            case 0:
                operation = AsyncOperation {
                    room.enter(exclusive: 1)
                    if number.isMultiple(of: 7) { await Task.yield() }
                    room.enter(exclusive: -1)
                }.addCondition(.mutuallyExclusive(name("x")))
            case 1:
                operation = AsyncOperation {
                    room.enter(shared: 1)
                    if number.isMultiple(of: 7) { await Task.yield() }
                    room.enter(shared: -1)
                }.addCondition(.mutuallyExclusive(name("x"), mode: .shared))
            default:
                let weight = 1 + number % 2
                operation = AsyncOperation {
                    room.enter(units: weight)
                    if number.isMultiple(of: 7) { await Task.yield() }
                    room.enter(units: -weight)
                }.addCondition(.limited(name("x"), to: 3, weight: weight))
            }
            queues[number % queues.count].add(operation)
        }
        for queue in queues { await queue.waitUntilIdle() }
        #expect(!room.wasBroken)
    }

    @Test func G12_neverTwoHoldersUnderSeeds() async throws {
        let name = Names()
        try await exploring(schedules: tries(300)) { scheduler in
            let queues = (1...2).map { AsyncOperationQueue(maxConcurrentOperationCount: $0, executor: scheduler) }
            let rooms = (0..<3).map { _ in Room() }
            let names = (0..<3).map { name("\($0)") }
            for number in 0..<20 {
                let wanted = (0..<3).filter { _ in scheduler.random(in: 0...1) == 0 }
                let operation = AsyncOperation {
                    for place in wanted { rooms[place].enter(exclusive: 1) }
                    await Task.yield()
                    for place in wanted { rooms[place].enter(exclusive: -1) }
                }
                for place in wanted.reversed() { operation.addCondition(.mutuallyExclusive(names[place])) }
                queues[number % 2].add(operation)
                if scheduler.random(in: 0...9) == 0 { operation.cancel() }
            }
            for queue in queues { await queue.waitUntilIdle() }
            try #require(rooms.allSatisfy { !$0.wasBroken })
        }
    }

    /// The operation of a condition and its evaluation run while the condition's names are held. Between the phases no
    /// name is held.
    @Test func G12_threePhases() {
        struct Under: OperationCondition {
            let exclusions: [Exclusion]
            let gate: Gate
            let stage: TestQueue
            func dependency(for operation: AnyOperation) -> AnyOperation? { stage.waiting("request", at: gate) }
            func evaluate(for operation: AnyOperation) async throws -> ConditionResult {
                stage.log("evaluation")
                return .satisfied
            }
        }
        let name = Names()
        let stage = TestQueue()
        let gate = Gate()
        let x = Exclusion.mutuallyExclusive(name("x"))
        stage.run(stage.noting("body").addCondition(Under(exclusions: [x], gate: gate, stage: stage)))
        stage.run(stage.noting("between").addCondition(x))
        #expect(stage.ran == ["request"])
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["request", "between", "evaluation", "body"])
    }

    @Test func G12_inTheOrderOfArrivalPerName() {
        let name = Names()
        let stage = TestQueue()
        let gate = Gate()
        stage.run(stage.waiting("holder", at: gate).addCondition(.mutuallyExclusive(name("x"))))
        for number in 0..<50 {
            let operation = stage.noting("\(number)").addCondition(.mutuallyExclusive(name("x")))
            operation.priority = number.isMultiple(of: 2) ? .veryHigh : .veryLow
            stage.run(operation)
        }
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["holder"] + (0..<50).map { "\($0)" })
    }

    /// Parents hold random names, and their children request others. Every operation finishes.
    @Test func G13_nothingIsStuckWhateverChildrenAskFor() async throws {
        let name = Names()
        try await exploring(schedules: tries(500)) { scheduler in
            let queue = AsyncOperationQueue(
                maxConcurrentOperationCount: scheduler.random(in: 1...4), executor: scheduler)
            func pick() -> [Exclusion] {
                (0..<3).filter { _ in scheduler.random(in: 0...2) == 0 }.map { place in
                    switch scheduler.random(in: 0...2) {
                    case 0: .mutuallyExclusive(name("\(place)"))
                    case 1: .mutuallyExclusive(name("\(place)"), mode: .shared)
                    default: .limited(name("\(place)"), to: 2, weight: scheduler.random(in: 1...2))
                    }
                }
            }
            func make(depth: Int) -> AsyncOperation<Void> {
                let children = depth == 0 ? [] : (0..<scheduler.random(in: 1...2)).map { _ in make(depth: depth - 1) }
                let operation: AsyncOperation<Void> =
                    scheduler.random(in: 0...1) == 0
                    ? GroupOperation(children)
                    : AsyncOperation { context in
                        for child in children { try? await context.run(child) }
                    }
                for exclusion in pick() { operation.addCondition(exclusion) }
                return operation
            }
            let all = (0..<6).map { _ in make(depth: 2) }
            queue.add(all)
            await queue.waitUntilIdle()
            for operation in all {
                switch operation.error {
                case nil, .groupFailed, .exclusionDeadlock: break
                case let error?: throw error
                }
            }
        }
    }

    @Test func G13_theErrorNamesThePath() {
        let name = Names()
        let (x, y) = (Exclusion.mutuallyExclusive(name("x")), Exclusion.mutuallyExclusive(name("y")))
        let stage = TestQueue()
        let gate = Gate()
        let inner = [stage.noting("wants y").addCondition(y), stage.noting("wants x").addCondition(x)]
        for (title, held, child) in [("holds x", x, inner[0]), ("holds y", y, inner[1])] {
            stage.run(
                AsyncOperation(title) { context in
                    await gate.wait()
                    try await context.run(child)
                }.addCondition(held))
        }
        gate.open()
        stage.steps.runAll()
        guard case .exclusionDeadlock(let path)? = inner[1].error else {
            Issue.record("\(inner[1].ending)")
            return
        }
        #expect(path.map(\.name) == ["wants x", "holds x", "wants y", "holds y"])
        #expect(inner[1].error?.stage == .condition)
        #expect(inner[0].ending == "success")
    }
}
