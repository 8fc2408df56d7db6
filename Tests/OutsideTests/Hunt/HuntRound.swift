import Baton
import BatonTesting
import Foundation
import Synchronization

/// One run of a program, and what is wrong with it.
///
/// The statements are those of the documentation, each in its plainest form: what may not happen, whatever the program.
final class HuntRound: Sendable {
    struct Output: Sendable {
        let token: Living.Token
    }

    private struct Oops: Error {
        let token: Living.Token
    }

    private struct WeakOperation: Sendable {
        weak let operation: AnyOperation?
    }

    let program: HuntProgram
    let faults = Guarded<[String]>([])
    /// When a round has taken too long, bodies that wait give up, so that the next round has its threads.
    let isGivenUp = Atomic<Bool>(false)
    let living = Living()
    private let queues: Guarded<[AsyncOperationQueue]>
    /// Waits for `signal`, which outlives the rest of the program.
    private let outer = AsyncOperationQueue(name: "outer")
    private let signal: AsyncOperation<Void>
    private let gate: Gate
    private let records: [HuntRecord]
    private let counts: HuntCounts
    private let operations: Guarded<[AnyOperation?]>
    private let companions = Guarded<[Int: [AnyOperation]]>([:])
    private let weak = Guarded<[WeakOperation]>([])
    private let finishedScripts = EventLog<Void>()
    private let observation = Guarded<[OperationObservation]>([])
    private let unique = UInt64.random(in: 0...(.max))

    private static let limits = [1, 2, 3]
    private static let threads = (1...3).map { ThreadExecutor(name: "hunt", threads: $0) }

    private struct Observer: OperationObserver {
        let token: Living.Token
        func observe(_ event: OperationEvent) async { token.touch() }
    }

    init(_ program: HuntProgram) {
        self.program = program
        let gate = Gate()
        self.gate = gate
        signal = AsyncOperation("signal") { await gate.wait() }
        records = program.nodes.map { _ in HuntRecord() }
        counts = HuntCounts(widths: program.queues.map(\.width), limits: Self.limits)
        operations = Guarded(program.nodes.map { _ in nil })
        let made = program.queues.enumerated().map { index, queue in
            var executor: (any TaskExecutor)?
            if program.features.contains(.threadQueue) {
                executor = Self.threads[Int(program.seed % 3)]
            }
            let made = AsyncOperationQueue(
                name: "q\(index)", maxConcurrentOperationCount: queue.width, isSuspended: queue.isSuspended,
                executor: executor, onMisuse: { _ in })
            if queue.waitingLimit < .max { made.maxWaitingOperationCount = queue.waitingLimit }
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
        for node in program.nodes {
            let operation = make(node)
            operations.withLock { $0[node.id] = operation }
            weak.withLock { $0.append(WeakOperation(operation: operation)) }
        }
    }

    private func queue(_ index: Int) -> AsyncOperationQueue { queues.withLock { $0[index] } }

    private func operation(_ id: Int) -> AnyOperation? { operations.withLock { $0[id] } }

    private func fault(_ text: @autoclosure () -> String) {
        let text = text()
        faults.withLock { if $0.count < 50 { $0.append(text) } }
    }

    // MARK: Making

    private func make(_ node: HuntProgram.Node) -> AnyOperation {
        let result: AnyOperation
        if node.features.contains(.group), node.choice % 2 == 0 {
            let children = (0..<node.choice / 2 % 4).map { child($0, of: node, depth: 1) }
            let policy = GroupPolicy.allCases[node.choice / 8 % 3]
            let group =
                node.choice / 24 % 3 == 0
                ? GroupOperation(.ordered, children, name: "n\(node.id)", policy: policy)
                : GroupOperation(
                    children, name: "n\(node.id)", policy: policy,
                    maxConcurrentOperationCount: node.choice / 72 % 2 == 0 ? nil : 1)
            configure(group, node)
            result = group
        } else {
            let operation: AsyncOperation<Output>
            let captured = living.token(meddling(node, 0))
            let input = node.dependencies.last.flatMap { self.operation($0) as? AsyncOperation<Output> }
            if node.features.contains(.edges), node.choice % 3 == 0, let input {
                operation = AsyncOperation<Output>("n\(node.id)", resultOf: input) { [self] _, context in
                    captured.touch()
                    return try await body(node, context)
                }
            } else {
                operation = AsyncOperation<Output>("n\(node.id)") { [self] context in
                    captured.touch()
                    return try await body(node, context)
                }
            }
            if node.features.contains(.repeating) {
                operation.repeat(every: .microseconds(node.choice % 500), count: 1 + node.choice % 3) {
                    [self] _ in
                    if selfCancels(node, 1) { cancelThisTask() }
                    return false
                }
            }
            configure(operation, node)
            result = operation
        }
        return result
    }

    /// What a release of the user's does.
    private func meddling(_ node: HuntProgram.Node, _ place: Int) -> (@Sendable () -> Void)? {
        guard node.features.contains(.deinits) else { return nil }
        return { [self] in
            let queue = queue(node.queue)
            switch (node.choice + place) % 5 {
            case 0: queue.add("from a deinit") {}
            case 1: queue.add("from a deinit") {}.cancel()
            case 2:
                queue.isSuspended = true
                queue.isSuspended = false
            case 3: _ = queue.snapshot()
            default: operation(node.choice % program.nodes.count)?.cancel()
            }
        }
    }

    private func selfCancels(_ node: HuntProgram.Node, _ place: Int) -> Bool {
        node.features.contains(.selfCancel) && node.choice % 6 == place
    }

    private func configure<Value>(_ operation: AsyncOperation<Value>, _ node: HuntProgram.Node) {
        let (features, choice, record) = (node.features, node.choice, records[node.id])
        for (place, id) in node.dependencies.enumerated() {
            guard let dependency = self.operation(id) else { continue }
            if features.contains(.edges) {
                operation.addDependency(dependency, on: DependencyPolicy.allCases[(choice + place) % 3])
            } else {
                operation.addDependency(dependency)
            }
        }
        if features.contains(.heldDependency) { operation.addDependency(signal) }
        if features.contains(.retry), !(operation is GroupOperation) {
            let backoff: Backoff = choice % 2 == 0 ? .immediately : .constant(.microseconds(choice % 300))
            operation.retry(backoff, attempts: 3) { [self] _ in
                if selfCancels(node, 2) { cancelThisTask() }
                return true
            }
        }
        if features.contains(.exclusion) { operation.addCondition(exclusion(choice % 3)) }
        if features.contains(.timeout) { operation.timeout(.microseconds(choice % 5_000)) }
        if features.contains(.waitingLimit) { operation.timeout(waiting: .microseconds(choice % 8_000)) }
        if features.contains(.unique) {
            let policies: [UniquenessPolicy] = [.reject, .join, .replace]
            // Who joins one that waits for its cancel would keep it from being cancelled.
            let isCancelled = !features.isDisjoint(with: [.cancel, .heldDependency])
            operation.unique(by: "\(unique) \(isCancelled ? node.id + 2 : choice % 2)", policy: policies[choice % 3])
        }
        if features.contains(.condition) {
            let token = living.token()
            operation.addCondition("of the hunt") { [self] _ in
                token.touch()
                if choice % 4 != 0 { await Task.yield() }
                if selfCancels(node, 3) { cancelThisTask() }
                return choice % 7 == 0 ? .skip("hunt") : .satisfied
            }
            if choice % 3 == 0 { operation.addCondition(NoFailedDependencies()) }
            if choice % 5 == 0 {
                operation.addCondition(BringsAlong(operation: child(9, of: node, depth: 2)))
            }
        }
        if features.contains(.delay) {
            let pause = AsyncOperation<Void>.delay(.microseconds(choice % 2_000))
            operation.addDependency(pause)
            companions.withLock { $0[node.id, default: []].append(pause) }
        }
        if features.contains(.ownExecutor) { operation.executor = Self.threads[choice % 3] }
        if features.contains(.priority) {
            let priorities: [OperationPriority] = [.veryLow, .low, .normal, .high, .veryHigh]
            operation.priority = priorities[choice % 5]
        }
        if features.contains(.willFinish) {
            let token = living.token(meddling(node, 1))
            operation.willFinish { [self] _ in
                token.touch()
                if record.willFinish.add(1, ordering: .relaxed).newValue > 1 {
                    fault("n\(node.id): willFinish came twice")
                }
                if Task.isCancelled { fault("n\(node.id): a willFinish handler sees a cancel") }
                if selfCancels(node, 4) { cancelThisTask() }
                if choice % 2 == 0 { await Task.yield() }
            }
            operation.willFinish { [self] _ in
                if Task.isCancelled { fault("n\(node.id): the second willFinish handler sees a cancel") }
            }
        }
        if features.contains(.handlers) {
            operation.didStart { [self] in
                if record.didStart.add(1, ordering: .relaxed).newValue > 1 { fault("n\(node.id): didStart came twice") }
                if Task.isCancelled { fault("n\(node.id): didStart sees a cancel") }
                if selfCancels(node, 5) { cancelThisTask() }
            }
            operation.didCancel { [self] _ in
                if record.didCancel.add(1, ordering: .relaxed).newValue > 1 {
                    fault("n\(node.id): didCancel came twice")
                }
            }
        }
        addDidFinish(operation, node.id)
    }

    private func addDidFinish<Value>(_ operation: AsyncOperation<Value>, _ id: Int) {
        let (record, token) = (records[id], living.token())
        record.handlersAdded.add(1, ordering: .relaxed)
        operation.didFinish { [self, weak operation] result in
            token.touch()
            if Task.isCancelled { fault("n\(id): didFinish sees a cancel") }
            record.didFinish.add(1, ordering: .relaxed)
            guard let operation else { return }
            if operation.state != .finished { fault("n\(id): didFinish came before the end") }
            let text = operation.result.map { Self.kind(of: $0) }
            if text != Self.kind(of: result) {
                fault("n\(id): two outcomes, \(Self.kind(of: result)) and \(text ?? "none")")
            }
        }
    }

    private static func kind<Value>(of result: Result<Value, OperationError>) -> String {
        switch result {
        case .success: "success"
        case .failure(let error): "\(error.stage)"
        }
    }

    private struct BringsAlong: OperationCondition {
        let operation: AnyOperation
        func dependency(for _: AnyOperation) -> AnyOperation? { operation }
        func evaluate(for _: AnyOperation) async throws -> ConditionResult { .satisfied }
    }

    private func exclusion(_ name: Int) -> Exclusion {
        .limited("hunt \(unique) \(name)", to: Self.limits[name])
    }

    // MARK: Bodies

    private func body(_ node: HuntProgram.Node, _ context: OperationContext) async throws -> Output {
        let record = records[node.id]
        record.bodies.add(1, ordering: .relaxed)
        if record.running.add(1, ordering: .relaxed).newValue != 1 { fault("n\(node.id): its body runs twice at once") }
        if context.operation.state == .finished { fault("n\(node.id): its body runs after its end") }
        for dependency in context.dependencies.operations where dependency.state != .finished {
            fault("n\(node.id) runs, and \(dependency) has not finished")
        }
        begin(node.queue)
        if node.features.contains(.exclusion), let text = counts.beginExclusion(node.choice % 3) { fault(text) }
        defer {
            if node.features.contains(.exclusion) { counts.endExclusion(node.choice % 3) }
            counts.endHolding(node.queue)
            record.running.subtract(1, ordering: .relaxed)
        }
        checkCancel(node, context, "at its beginning")
        if node.features.contains(.progress) { context.progress.report(completed: 1, of: 3) }
        if node.features.contains(.blocking) { block(node) }
        try await wait(node, context)
        if node.features.contains(.produce) {
            _ = try? context.produce(child(8, of: node, depth: 1))
        }
        if node.features.contains(.progress) { context.progress.advance() }
        checkCancel(node, context, "at its end")
        if selfCancels(node, 0) { cancelThisTask() }
        if context.attempt <= node.failures { throw Oops(token: living.token(meddling(node, 2))) }
        return Output(token: living.token(meddling(node, 3)))
    }

    /// Nobody but itself has cancelled this task, unless the operation says so. The limit of an attempt is not in `isCancelled`.
    private func checkCancel(_ node: HuntProgram.Node, _ context: OperationContext, _ place: String) {
        guard Task.isCancelled, !context.operation.isCancelled, !node.features.contains(.timeout) else { return }
        fault("n\(node.id) sees a cancel \(place), in attempt \(context.attempt), and nobody has cancelled it")
    }

    private func begin(_ queue: Int) { if let text = counts.beginHolding(queue) { fault(text) } }

    private func waiting<Value>(_ queue: Int, _ work: () async throws -> Value) async rethrows -> Value {
        counts.endHolding(queue)
        defer { begin(queue) }
        return try await work()
    }

    private func cancelThisTask() { withUnsafeCurrentTask { $0?.cancel() } }

    private func block(_ node: HuntProgram.Node) {
        let hasThreads = node.features.contains(.ownExecutor) || program.features.contains(.threadQueue)
        if node.features.contains(.timeout), hasThreads, node.choice % 2 == 0 {
            // It blocks nobody else's thread. The limit of the attempt cuts it, though the body gives no thread back.
            while !Task.isCancelled, !isGivenUp.load(ordering: .relaxed) { usleep(200) }
        } else {
            usleep(UInt32(node.choice % 1_500))
        }
    }

    private func wait(_ node: HuntProgram.Node, _ context: OperationContext) async throws {
        let (features, choice) = (node.features, node.choice)
        if features.contains(.group), choice % 2 == 1 {
            let children = (0..<choice / 2 % 4).map { child($0, of: node, depth: 1) }
            let group = GroupOperation(children, policy: GroupPolicy.allCases[choice / 8 % 3])
            await waiting(node.queue) { _ = try? await context.run(group) }
        }
        if features.contains(.children) {
            for number in 0...choice % 3 {
                let made = child(number, of: node, depth: 0)
                let weight = features.contains(.progress) ? 1 : 0
                await waiting(node.queue) { _ = try? await context.run(made, weight: weight) }
            }
        }
        if features.contains(.childTasks) {
            await waiting(node.queue) { await waitInChildTasks(node, context) }
        }
        if features.contains(.sequence) {
            let stream = AsyncStream<Int> { continuation in
                for number in 0..<choice % 5 { continuation.yield(number) }
                continuation.finish()
            }
            let queue = queue(choice % program.queues.count)
            let token = living.token()
            await waiting(node.queue) {
                do {
                    let order: OutputOrder = choice % 2 == 0 ? .preserved : .arrival
                    for try await number in stream.deliver(
                        on: queue, width: 2, order: order,
                        { number in
                            token.touch()
                            await Task.yield()
                            return number
                        }) where number == 2 && choice % 3 == 0
                    { break }
                } catch {}
            }
        }
        if features.contains(.awaitsValue), node.awaited >= 0,
            let awaited = operation(node.awaited) as? AsyncOperation<Output>
        {
            await waiting(node.queue) { _ = try? await awaited.value }
        }
        if features.contains(.cancel), choice % 3 == 0 {
            // Somebody cancels it, sooner or later.
            try? await gate.waitUnlessCancelled()
        } else {
            for _ in 0..<choice % 3 { await Task.yield() }
        }
    }

    private func waitInChildTasks(_ node: HuntProgram.Node, _ context: OperationContext) async {
        let queue = queue(node.queue)
        let isInOuter = node.choice / 3 % 5 > 2
        let first = isInOuter ? childOfNobody(node) : child(5, of: node, depth: 1)
        let second = child(6, of: node, depth: 1)
        switch node.choice / 3 % 5 {
        case 0:
            async let one = queue.run(first)
            async let two = context.run(second)
            _ = try? await (one, two)
        case 1:
            await withTaskGroup(of: Void.self) { group in
                group.addTask { _ = try? await queue.run(first) }
                group.addTask { _ = try? await context.run(second) }
            }
        case 2:
            queue.add(first)
            async let one = first.value
            _ = try? await one
            _ = try? await queue.run(second)
        case 3:
            // Nobody can know that the body waits for an unstructured task, so that one needs a queue that is not full.
            _ = try? await Task { [outer] in try await outer.run(first) }.value
        default:
            let task = Task { [outer] in try await outer.run(first) }
            if node.choice % 2 == 0 { task.cancel() }
            _ = try? await task.value
        }
    }

    private func childOfNobody(_ node: HuntProgram.Node) -> AsyncOperation<Output> {
        let token = living.token()
        return AsyncOperation<Output>("n\(node.id), outside") { Output(token: token) }
    }

    /// A small operation that a body or a group runs.
    private func child(_ number: Int, of node: HuntProgram.Node, depth: Int) -> AsyncOperation<Output> {
        let token = living.token()
        let made = AsyncOperation<Output>("n\(node.id).\(number)") { [self] context in
            token.touch()
            begin(node.queue)
            defer { counts.endHolding(node.queue) }
            if Task.isCancelled, !context.operation.isCancelled {
                fault("a child of n\(node.id) sees a cancel, and nobody has cancelled it")
            }
            if depth < 1 {
                let next = child(number, of: node, depth: depth + 1)
                await waiting(node.queue) { _ = try? await context.run(next) }
            } else if (node.choice + number) % 2 == 0 {
                await Task.yield()
            }
            if (node.choice + number) % 11 == 0 { throw Oops(token: token) }
            return Output(token: token)
        }
        if node.features.contains(.ownExecutor), number % 2 == 0 { made.executor = Self.threads[node.choice % 3] }
        return made
    }

    // MARK: Playing

    /// Returns when everything has finished.
    func play() async {
        await withTaskGroup(of: Void.self) { group in
            for script in program.scripts { group.addTask { await self.play(script) } }
            group.addTask {
                await self.finishedScripts.waitForCount(self.program.scripts.count)
                // What cancelled runs have not added others may depend on.
                for node in self.program.nodes where self.operation(node.id)?.state == .created { self.add([node.id]) }
                for index in self.program.queues.indices {
                    self.queue(index).isSuspended = false
                    self.queue(index).maxWaitingOperationCount = .max
                }
            }
        }
        await idle()
        await finish()
    }

    private func idle() async {
        for _ in 0..<2 { for index in program.queues.indices { await queue(index).waitUntilIdle() } }
    }

    /// An add would bring inputs along to a queue that is not theirs.
    private func addInputsToTheirQueues(of ids: [Int]) {
        if program.queues.count == 1 { return }
        var needed: Set<Int> = []
        var frontier = ids
        while let id = frontier.popLast() {
            frontier += program.nodes[id].dependencies.filter { needed.insert($0).inserted }
        }
        for id in needed.sorted() {
            guard let operation = operation(id) else { continue }
            queue(program.nodes[id].queue).add(companions(id) + [operation])
        }
    }

    private func add(_ ids: [Int]) {
        addInputsToTheirQueues(of: ids)
        var groups: [Int: [AnyOperation]] = [:]
        for id in ids {
            guard let operation = operation(id) else { continue }
            groups[program.nodes[id].queue, default: []] += companions(id) + [operation]
        }
        for (index, operations) in groups { queue(index).add(operations) }
    }

    private func companions(_ id: Int) -> [AnyOperation] { companions.withLock { $0.removeValue(forKey: id) ?? [] } }

    private func run(_ id: Int) async {
        guard let operation = operation(id) else { return }
        let queue = queue(program.nodes[id].queue)
        queue.add(companions(id))
        if let operation = operation as? AsyncOperation<Output> {
            _ = try? await queue.run(operation)
        } else if let operation = operation as? AsyncOperation<Void> {
            try? await queue.run(operation)
        }
    }

    private func play(_ actions: [HuntProgram.Action]) async {
        await withTaskGroup(of: Void.self) { group in
            for action in actions {
                switch action {
                case .add(let ids): add(ids)
                case .addTo(let id):
                    operation(id)?.add(to: queue(program.nodes[id].queue), includingDependencies: true)
                case .barrier(let id):
                    let queue = queue(program.nodes[id].queue)
                    addInputsToTheirQueues(of: [id])
                    queue.add(companions(id))
                    if let operation = operation(id) { queue.addBarrier(operation) }
                case .submit(let ids):
                    group.addTask {
                        for id in ids {
                            let queue = self.queue(self.program.nodes[id].queue)
                            self.addInputsToTheirQueues(of: [id])
                            queue.add(self.companions(id))
                            guard let operation = self.operation(id) else { continue }
                            try? await queue.submit(operation)
                        }
                    }
                case .run(let id): group.addTask { await self.run(id) }
                case .cancelledRun(let id):
                    let task = Task { await self.run(id) }
                    group.addTask {
                        await Task.yield()
                        task.cancel()
                        await task.value
                    }
                case .cancel(let id): operation(id)?.cancel()
                case .cancelAll(let index): queue(index).cancelAll()
                case .suspend(let index): queue(index).isSuspended = true
                case .resume(let index): queue(index).isSuspended = false
                case .width(let index, let width):
                    counts.widen(index, to: width)
                    queue(index).maxConcurrentOperationCount = width
                case .shutdown(let index, let milliseconds):
                    group.addTask { await self.queue(index).shutdown(within: .milliseconds(milliseconds)) }
                case .ask(let index):
                    _ = queue(index).snapshot()
                    for operation in queue(index).operations.prefix(5) { _ = operation.explain().description }
                case .yield(let count): for _ in 0..<count { await Task.yield() }
                }
            }
            finishedScripts(())
        }
    }

    /// Looks at everything when all queues are idle.
    private func finish() async {
        // What no queue has taken finishes beside the queues.
        await poll("an operation has not finished") { [self] in
            operations.withLock { $0 }.allSatisfy { $0?.state == .finished }
        }
        for node in program.nodes {
            guard let operation = operation(node.id) else { continue }
            if operation.state != .finished {
                fault("n\(node.id) has not finished, and its queue is idle: \(operation.state), \(operation.explain())")
                continue
            }
            let record = records[node.id]
            if node.choice % 2 == 0, let typed = operation as? AsyncOperation<Output> { addDidFinish(typed, node.id) }
            let attempts = max(1, operation.attempts.count)
            let bodies = record.bodies.load(ordering: .relaxed)
            if !node.features.contains(.repeating), bodies > attempts {
                fault("n\(node.id): \(bodies) bodies for \(attempts) attempts")
            }
        }
        // An operation that no queue has taken is released on a thread of its own, and its deinit may still add another one.
        if !program.nodes.contains(where: { $0.features.contains(.deinits) }) {
            for index in program.queues.indices where queue(index).operationCount != 0 {
                fault("q\(index) is idle, and has \(queue(index).operationCount) operations")
            }
        }
        await idle()
        // Handlers of what no queue has taken run beside the queues.
        await poll("a handler was not called") { [self] in
            program.nodes.allSatisfy { node in
                let record = records[node.id]
                return record.didFinish.load(ordering: .relaxed) >= record.handlersAdded.load(ordering: .relaxed)
                    && (!node.features.contains(.willFinish) || record.willFinish.load(ordering: .relaxed) == 1)
            }
        }
        for node in program.nodes {
            let record = records[node.id]
            let (called, added) = (
                record.didFinish.load(ordering: .relaxed), record.handlersAdded.load(ordering: .relaxed)
            )
            if called > added { fault("n\(node.id): didFinish was called \(called) times, of \(added)") }
        }
        for observation in observation.withLock({ $0 }) { await observation.delivered() }
        await idle()
        letGo()
        await poll("something is alive: \(remains)") { [self] in living.count == 0 && survivors.isEmpty }
        gate.open()
        await outer.waitUntilIdle()
    }

    /// Bodies of deinits have no more to say.
    private func letGo() {
        let all = operations.withLock { operations in
            defer { operations = operations.map { _ in nil } }
            return operations
        }
        withExtendedLifetime(all) {}
        withExtendedLifetime(companions.withLock { $0 = [:] }) {}
        let told = observation.withLock { observations in
            defer { observations = [] }
            return observations
        }
        for observation in told { observation.cancel() }
    }

    private var survivors: [AnyOperation] { weak.withLock { $0 }.compactMap(\.operation) }

    private var remains: String {
        "\(living.count) tokens, \(survivors.map { "\($0) (\($0.state))" }.joined(separator: ", "))"
    }

    private func poll(_ what: @autoclosure () -> String, until isRight: () -> Bool) async {
        let end = ContinuousClock.now + .seconds(10)
        while !isRight() {
            if isGivenUp.load(ordering: .relaxed) || .now > end { return fault(what()) }
            await Task.yield()
        }
    }

    // MARK: When it hangs

    /// What everything waits for. May be called by any thread.
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

    /// Lets bodies end, and cancels the rest, so that the next round has its threads.
    func giveUp() {
        isGivenUp.store(true, ordering: .relaxed)
        gate.open()
        for index in program.queues.indices { queue(index).cancelAll() }
    }
}
