import Baton
import BatonTesting

/// A queue with independent operations, some of which act on the queue. Under a seed one event happens after another,
/// so operations that begin can be compared with those that wait (G23, G24), and the counts of the queue with its
/// operations.
final class PlainRound: Sendable {
    private enum Deed: CaseIterable {
        case yield, suspend, addUrgent, cancelAnother, runChild, fail, changeWidth, count, awaitAnother
    }

    private struct State {
        var added: [AsyncOperation<Void>] = []
        var children: Set<ObjectIdentifier> = []
        var starts: [ObjectIdentifier: Int] = [:]
        /// The number of bodies that have suspended the queue and not yet resumed it. The last of them resumes it.
        var suspenders = 0
        /// The number of operations that bodies may still add.
        var spare = 20
        var faults: [String] = []
    }

    private struct Failed: Error {}

    private let seed: UInt64
    private let isSeeded: Bool
    private let queue: AsyncOperationQueue
    private let state = Locked(State())

    init(seed: UInt64, scheduler: SeededScheduler?) {
        var random = SeededRandom(seed: seed)
        self.seed = seed
        isSeeded = scheduler != nil
        queue = AsyncOperationQueue(
            name: "plain", maxConcurrentOperationCount: random.number(1...4), executor: scheduler)
    }

    func play() async {
        var random = SeededRandom(seed: seed &+ 1)
        for _ in 0..<random.number(1...6) {
            add((0..<random.number(1...40)).flatMap { _ in family(&random) })
            for _ in 0..<random.number(0...3) { await Task.yield() }
        }
        await queue.waitUntilIdle()
    }

    /// Creates an operation, and sometimes a few that depend on it.
    private func family(_ random: inout SeededRandom) -> [AsyncOperation<Void>] {
        let first = make(random.isLucky(percent: 25) ? random.pick(Deed.allCases) : nil, random.number(0...1_000))
        let dependents = random.isLucky(percent: 10) ? (0..<random.number(1...3)).map { _ in make() } : []
        for operation in [first] + dependents where random.isLucky(percent: dependents.isEmpty ? 10 : 50) {
            operation.priority = random.pick([.low, .high])
        }
        for dependent in dependents { dependent.addDependency(first) }
        return [first] + dependents
    }

    private func make(_ deed: Deed? = nil, _ number: Int = 0) -> AsyncOperation<Void> {
        AsyncOperation { context in
            self.began(context.operation)
            if let deed { try await self.perform(deed, number, context) }
        }
    }

    private func add(_ operations: [AsyncOperation<Void>]) {
        queue.add(operations)
        state.withLock { $0.added += operations }
    }

    private func perform(_ deed: Deed, _ number: Int, _ context: OperationContext) async throws {
        switch deed {
        case .yield: await pause(number)
        case .suspend:
            state.withLock { $0.suspenders += 1 }
            queue.isSuspended = true
            await pause(number)
            let isLast = state.withLock { state in
                state.suspenders -= 1
                return state.suspenders == 0
            }
            if isLast { queue.isSuspended = false }
        case .addUrgent:
            if let urgent = spareOne() {
                urgent.priority = .veryHigh
                add([urgent])
                await pause(number)
            }
        case .cancelAnother: state.withLock { $0.added.isEmpty ? nil : $0.added[number % $0.added.count] }?.cancel()
        case .runChild:
            let child = make()
            state.withLock { state in
                state.children.insert(ObjectIdentifier(child))
                state.added.append(child)
            }
            try await context.run(child)
        case .fail: throw Failed()
        case .changeWidth: queue.maxConcurrentOperationCount = 1 + number % 4
        case .count: count()
        case .awaitAnother:
            if let awaited = spareOne() {
                add([awaited])
                try await awaited.value
            }
        }
    }

    private func pause(_ number: Int) async { for _ in 0..<number % 5 { await Task.yield() } }

    private func spareOne() -> AsyncOperation<Void>? {
        let hasOne = state.withLock { state in
            state.spare -= 1
            return state.spare >= 0
        }
        return hasOne ? make() : nil
    }

    // MARK: Checking

    private func began(_ operation: AnyOperation) {
        let (added, isChild) = state.withLock { state in
            state.starts[ObjectIdentifier(operation), default: 0] += 1
            return (state.added, state.children.contains(ObjectIdentifier(operation)))
        }
        if !isSeeded { return }
        if queue.isSuspended {
            if !isChild { fault("G24: \(operation) began while the queue was suspended") }
            return
        }
        for other in added where other.priority > operation.priority && other.state == .ready {
            fault("G23: \(operation) began before \(other), of priority \(other.priority)")
        }
    }

    private func count() {
        let found = queue.operationCount
        let listed = Set(queue.operations)
        if !isSeeded {
            if found < 1 { fault("the operation that counts was not counted") }
            return
        }
        let there = state.withLock { $0.added }.filter { $0.state != .finished && $0.state != .created }
        if found != there.count { fault("\(found) operations of \(there.count) were counted") }
        if listed != Set(there.map { $0 as AnyOperation }) { fault("\(listed.count) of \(there.count) were listed") }
    }

    private func fault(_ text: String) { state.withLock { $0.faults.append(text) } }

    var explanations: [String] { queue.operations.map { "\($0): \($0.explain())" } }

    func judge() throws {
        let (added, starts) = state.withLock { ($0.added, $0.starts) }
        for operation in added {
            let times = starts[ObjectIdentifier(operation), default: 0]
            switch operation.result {
            case nil: fault("G25: \(operation) has no outcome")
            case .failure(.cancelled) where times <= 1: break
            case .failure(.failed) where times == 1: break
            case .success where times == 1: break
            case let outcome?: fault("G2: \(operation) began \(times) times and ended with \(outcome)")
            }
        }
        if queue.operationCount != 0 { fault("\(queue.operationCount) operations are left") }
        let faults = state.withLock { $0.faults }
        if !faults.isEmpty { throw StressFailure(seed: seed, faults: faults) }
    }
}
