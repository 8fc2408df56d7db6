import Baton
import BatonTesting
import Foundation
import Synchronization

/// One run of a program, and the faults it has found.
///
/// The checks are statements of the documentation in their simplest form: conditions that no program may violate.
final class HuntRound: Sendable {
    struct Output: Sendable {
        let token: LiveTokens.Token
    }

    struct Oops: Error {
        let token: LiveTokens.Token
    }

    struct WeakOperation: Sendable {
        weak let operation: AnyOperation?
    }

    let program: HuntProgram
    let faults = Guarded<[String]>([])
    /// True after a round has taken too long. Waiting bodies then return, so that the next round gets their threads.
    let isGivenUp = Atomic<Bool>(false)
    let living = LiveTokens()
    let queues: Guarded<[AsyncOperationQueue]>
    /// A queue for operations that wait for `signal`, which outlives the rest of the program.
    let outer = AsyncOperationQueue(name: "outer")
    let signal: AsyncOperation<Void>
    let gate: Gate
    let records: [HuntRecord]
    let counts: HuntCounts
    let operations: Guarded<[AnyOperation?]>
    let companions = Guarded<[Int: [AnyOperation]]>([:])
    let weak = Guarded<[WeakOperation]>([])
    let finishedScripts = EventLog<Void>()
    let rate: HuntRate
    let breakerLimit: Int
    let breakers: [CircuitBreaker]
    let scopes = [OperationScope("one"), OperationScope("two")]
    /// The operations that form a cycle with a node, by the number of the node.
    let cycles = Guarded<[Int: [AnyOperation]]>([:])
    let starts = Atomic<Int>(0)
    /// True after two queues have waited for each other in this round, which takes a second.
    let hasWaitedInCycle = Atomic<Bool>(false)
    let observation = Guarded<[OperationObservation]>([])
    let unique = UInt64.random(in: 0...(.max))

    static let limits = [1, 2, 3]
    static let threads = (1...3).map { ThreadExecutor(name: "hunt", threads: $0) }

    struct Observer: OperationObserver {
        let token: LiveTokens.Token
        func observe(_ event: OperationEvent) async { token.touch() }
    }

    init(_ program: HuntProgram) {
        self.program = program
        let gate = Gate()
        self.gate = gate
        signal = AsyncOperation("signal") { await gate.wait() }
        records = program.nodes.map { _ in HuntRecord() }
        // Each of the five scopes lets one operation hold its name.
        counts = HuntCounts(
            widths: program.queues.map(\.width), limits: Self.limits + [Int](repeating: 1, count: 5))
        rate = HuntRate(seed: program.seed)
        breakerLimit = 1 + Int(program.seed / 5 % 3)
        breakers = [
            CircuitBreaker("hunt", failures: breakerLimit, retryAfter: .seconds(600)),
            CircuitBreaker("hunt with trials", failures: 2, retryAfter: .microseconds(program.seed % 500)),
        ]
        operations = Guarded(program.nodes.map { _ in nil })
        let made = program.queues.enumerated().map { index, queue in
            var executor: (any TaskExecutor)?
            if program.features.contains(.threadQueue) {
                executor = Self.threads[Int(program.seed % 3)]
            }
            let made =
                program.carriesTaskLocals
                ? AsyncOperationQueue(
                    name: "q\(index)", maxConcurrentOperationCount: queue.width, isSuspended: queue.isSuspended,
                    executor: executor, taskLocals: HuntLocal.$tag, onMisuse: { _ in })
                : AsyncOperationQueue(
                    name: "q\(index)", maxConcurrentOperationCount: queue.width, isSuspended: queue.isSuspended,
                    executor: executor, onMisuse: { _ in })
            if queue.waitingLimit < .max { made.maxWaitingOperationCount = queue.waitingLimit }
            if let order = queue.order { made.schedulingOrder = order }
            return made
        }
        queues = Guarded(made)
        outer.add(signal)
        if program.features.contains(.around) {
            for queue in made {
                queue.around { context, body in
                    if context.operation.reference.id % 5 == 0 { await Task.yield() }
                    try await body()
                }
            }
        }
        if program.features.contains(.observers) {
            for queue in made {
                let observation = queue.addObserver(Observer(token: living.token()))
                self.observation.withLock { $0.append(observation) }
            }
        }
        if usesScopes { for (index, queue) in made.enumerated() { queue.scope = scope(ofQueue: index).scope } }
        for node in program.nodes {
            let operation = make(node)
            operations.withLock { $0[node.id] = operation }
            weak.withLock { $0.append(WeakOperation(operation: operation)) }
        }
        for node in program.nodes {
            // The dependencies with higher numbers had not been made.
            for id in node.dependencies where id > node.id {
                if let dependency = self.operation(id) { self.operation(node.id)?.addDependency(dependency) }
            }
        }
    }

    func queue(_ index: Int) -> AsyncOperationQueue { queues.withLock { $0[index] } }

    func operation(_ id: Int) -> AnyOperation? { operations.withLock { $0[id] } }

    func fault(_ text: @autoclosure () -> String) {
        let text = text()
        faults.withLock { if $0.count < 50 { $0.append(text) } }
    }

    // MARK: Hangs

    /// Explains what each unfinished operation waits for. Any thread may call it.
    var stuck: String {
        survivors.filter { $0.state != .finished }.prefix(20).map { "  \($0) (\($0.state)): \($0.explain())" }
            .joined(separator: "\n") + "\n"
            + program.queues.indices.map { index in
                let snapshot = queue(index).snapshot()
                return
                    "  q\(index): \(snapshot.running) run, width \(snapshot.width), suspended \(snapshot.isSuspended): "
                    + snapshot.operations.prefix(20).map { "\($0.name) \($0.state) \($0.cause)" }.joined(
                        separator: "; ")
            }.joined(separator: "\n")
    }

    /// Lets bodies return, and cancels the rest, so that the next round gets their threads.
    func giveUp() {
        isGivenUp.store(true, ordering: .relaxed)
        gate.open()
        for index in program.queues.indices { queue(index).cancelAll() }
    }
}
