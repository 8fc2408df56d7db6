import Baton
import Synchronization
import BatonTesting
import Foundation

/// The body of a node. It performs the node's steps, and computes what the model computes.
struct Body: Sendable {
    let node: Node
    let site: Site
    let sources: [AnyOperation]
    let targets: [Int: AnyOperation]
    let token: Token

    func run(_ inputs: [Value?], _ context: OperationContext) async throws -> Value {
        let recorder = site.recorder
        recorder.bodyBegan(node.id, context.operation, attempt: context.attempt, after: sources)
        defer { recorder.bodyEnded(node.id, context.operation) }
        site.started(node)
        var hash = Hash(node.id)
        for input in inputs { hash.mix(input?.number) }
        let failing = node.attempts.flatMap { context.attempt <= $0.failures ? $0 : nil }
        for step in node.steps.prefix(failing?.stepsBeforeFailing ?? .max) {
            try await perform(step, context, &hash)
            if case .cancelOwnTask = step { continue }
            recorder.checkpoint(node.id, context.operation)
        }
        if failing?.stalls == true { try await site.never.waitUnlessCancelled() }
        if node.throwsAtTheEnd || failing != nil { throw Thrown(by: node.id, token: Token(recorder.census)) }
        let source = node.id.isMultiple(of: 3) ? sources.last : nil
        return Value(number: hash.value, token: Token(recorder.census), source: source)
    }

    private func perform(_ step: Step, _ context: OperationContext, _ hash: inout Hash) async throws {
        switch step {
        case .yield(let times): for _ in 0..<times { await Task.yield() }
        case .work(let amount): work(amount)
        case .block: if node.hasExecutor, site.scheduler == nil { usleep(200) }
        case .cancelOwnTask:
            site.recorder.nodes[node.id].hasCancelledItself.store(true, ordering: .relaxed)
            withUnsafeCurrentTask { $0?.cancel() }
        case .gate(let gate, let heedsCancel):
            if heedsCancel { try await site.gates[gate].waitUnlessCancelled() } else { await site.gates[gate].wait() }
        case .checkCancellation: try Task.checkCancellation()
        case .value(let other, let errors): try note(await outcome(of: other), errors, &hash)
        case .run(let children, let way, let errors):
            try await run(children, way, errors, context, &hash)
        case .abandon(let child):
            site.stray { [self] in _ = await self.result(of: child, context) }
        case .cancel(let id): site.cancel(target(id, context), id, because: "b\(node.id)")
        case .produce(let product):
            let operation = targets[product]!
            if operation.state == .created {
                site.recorder.nodes[node.id].handlers.produced.add(1, ordering: .relaxed)
            }
            try RunRecorder.$adder.withValue(.product) { _ = try context.produce(operation) }
        case .addToGroup(let child, let group): add(child, to: group)
        case .cancelWhenCancelled(let id, let gate):
            await withTaskCancellationHandler {
                try? await site.gates[gate].waitUnlessCancelled()
            } onCancel: {
                site.cancel(target(id, context), id, because: "c\(node.id)", isNested: true)
            }
        }
    }

    /// Returns the operation of a node. The body has no reference to its own operation, which is created after it.
    private func target(_ id: Int, _ context: OperationContext) -> AnyOperation {
        targets[id] ?? context.operation
    }

    private func run(
        _ children: [Int], _ way: Step.Way, _ errors: Step.Errors, _ context: OperationContext, _ hash: inout Hash
    ) async throws {
        switch way {
        case .oneByOne:
            for child in children { try note(await result(of: child, context), errors, &hash) }
        case .queueRun:
            for child in children { try note(await resultInQueue(of: child, context), errors, &hash) }
        case .asyncLet, .queueRunAsyncLet:
            async let first = result(of: children[0], inQueue: way.isByTheQueue, context)
            async let second = result(of: children[1], inQueue: way.isByTheQueue, context)
            for result in await [first, second] { try note(result, errors, &hash) }
        case .taskGroup, .queueRunTaskGroup:
            let results = await withTaskGroup(of: (Int, Result<Value, OperationError>).self) { group in
                for (place, child) in children.enumerated() {
                    group.addTask { (place, await result(of: child, inQueue: way.isByTheQueue, context)) }
                }
                return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
            }
            for place in children.indices { try note(results[place]!, errors, &hash) }
        case .failingGroup:
            let values = try await withThrowingTaskGroup(of: (Int, Value).self) { group in
                for (place, child) in children.enumerated() {
                    group.addTask { (place, try await result(of: child, context).get()) }
                }
                return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
            }
            for place in children.indices { hash.mix(values[place]!.number) }
        }
    }

    // MARK: Waiting

    /// Awaits the outcome of another operation. Half of the bodies do so in a child task, which counts as a wait of the
    /// body.
    private func outcome(of other: Int) async -> Result<Value, OperationError> {
        if node.id.isMultiple(of: 2) { return await waiting(for: other) { await $0.awaitedOutcome() } }
        async let result = waiting(for: other) { await $0.awaitedOutcome() }
        return await result
    }

    private func result(of child: Int, _ context: OperationContext) async -> Result<Value, OperationError> {
        await waiting(for: child, asChild: true) { operation in
            await RunRecorder.$adder.withValue(.parent) { await operation.outcome(runIn: context) }
        }
    }

    /// Adds a child to the group, which may refuse it unless the group is certain to run.
    private func add(_ child: Int, to group: Int) {
        let recorder = site.recorder
        let operation = site.made.withLock { group < $0.count ? $0[group].operation : nil }
        guard let operation = operation as? GroupOperation else { return }
        let target = targets[child]!
        do throws(OperationError) {
            let refusal = RunRecorder.$adder.withValue(.parent) { () -> OperationError? in
                do throws(OperationError) { try operation.add(target) } catch { return error }
                return nil
            }
            if let refusal { throw refusal }
            recorder.nodes[child].isAccepted.store(true, ordering: .relaxed)
        } catch {
            recorder.check(!recorder.graph.isExact, "n\(group) refused its child n\(child): \(error)")
            let isLeftAlone = target.state == .created || target.isCancelled
            recorder.check(isLeftAlone, "n\(child) was refused by n\(group), and is \(target.state)")
        }
    }

    private func result(
        of child: Int, inQueue: Bool, _ context: OperationContext
    ) async -> Result<Value, OperationError> {
        inQueue ? await resultInQueue(of: child, context) : await result(of: child, context)
    }

    private func resultInQueue(of child: Int, _ context: OperationContext) async -> Result<Value, OperationError> {
        guard let queue = site.queue(node.queue) else { return await result(of: child, context) }
        return await waiting(for: child, asChild: true) { operation in
            await RunRecorder.$adder.withValue(.awaiter) { await operation.outcome(runIn: queue) }
        }
    }

    private func waiting(
        for other: Int, asChild: Bool = false,
        _ wait: (AnyOperation) async -> Result<Value, OperationError>
    ) async -> Result<Value, OperationError> {
        let target = targets[other]!
        site.recorder.waitBegan(node.id, child: asChild ? target : nil)
        let result = await wait(target)
        site.recorder.waitEnded(node.id, child: asChild ? target : nil)
        // A run that came too late was refused, and has no outcome to compare.
        if case .failure(.misuse) = result { return result }
        site.recorder.saw(other, Outcome(result))
        return result
    }

    private func note(_ result: Result<Value, OperationError>, _ errors: Step.Errors, _ hash: inout Hash) throws {
        if errors == .passedOn { _ = try result.get() }
        hash.mix(try? result.get().number)
    }

    private func work(_ amount: Int) {
        var hash = Hash(amount)
        for number in 0..<UInt64(amount) { hash.mix(number) }
        if hash.value == 0 { site.recorder.violation("arithmetic") }
    }
}
