import Baton
import BatonTesting
import Foundation
import Synchronization

/// The actions and checks of the bodies.
extension HuntRound {
    func body(_ node: HuntProgram.Node, _ context: OperationContext) async throws -> Output {
        let record = records[node.id]
        record.bodies.add(1, ordering: .relaxed)
        if record.running.add(1, ordering: .relaxed).newValue != 1 { fault("n\(node.id): its body runs twice at once") }
        if context.operation.state == .finished { fault("n\(node.id): its body runs after its end") }
        for dependency in context.dependencies.operations where dependency.state != .finished {
            fault("n\(node.id) runs, and \(dependency) has not finished")
        }
        begin(node.queue)
        if record.start.load(ordering: .relaxed) == 0 {
            record.start.store(starts.add(1, ordering: .relaxed).newValue, ordering: .relaxed)
        }
        checkConditions(before: node)
        checkTag(node.id, "its body")
        let held = exclusionsHeld(by: node)
        for name in held { if let text = counts.beginExclusion(name) { fault(text) } }
        defer {
            for name in held { counts.endExclusion(name) }
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

    /// Reports a fault if the task is cancelled although the operation is not. Operations with a timeout are excluded,
    /// because the end of an attempt does not set `isCancelled`.
    func checkCancel(_ node: HuntProgram.Node, _ context: OperationContext, _ place: String) {
        guard Task.isCancelled, !context.operation.isCancelled,
            !node.features.contains(.timeout), LimitKind(node) != .attempt
        else { return }
        fault("n\(node.id) sees a cancellation \(place), in attempt \(context.attempt), and nobody has cancelled it")
    }

    func begin(_ queue: Int) { if let text = counts.beginHolding(queue) { fault(text) } }

    func waiting<Value>(_ queue: Int, _ work: () async throws -> Value) async rethrows -> Value {
        counts.endHolding(queue)
        defer { begin(queue) }
        return try await work()
    }

    func cancelThisTask() { withUnsafeCurrentTask { $0?.cancel() } }

    func block(_ node: HuntProgram.Node) {
        let hasThreads = node.features.contains(.ownExecutor) || program.features.contains(.threadQueue)
        let isLimited = node.features.contains(.timeout) && LimitKind(node) != .long
        if isLimited, hasThreads, node.choice % 2 == 0 {
            // The body has a thread of its own to block. The limit of the attempt ends it, although it does not
            // suspend.
            while !Task.isCancelled, !isGivenUp.load(ordering: .relaxed) { usleep(200) }
        } else {
            usleep(UInt32(node.choice % 1_500))
        }
    }

    func wait(_ node: HuntProgram.Node, _ context: OperationContext) async throws {
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
        if features.contains(.scope), choice % 2 == 0 { await runInAnotherScope(node) }
        if features.contains(.delivery) { await deliver(node) }
        if features.contains(.groupWidth) {
            await waiting(node.queue) { _ = try? await context.run(narrowGroup(node)) }
        }
        if features.contains(.order) { await runInOrder(node) }
        if features.contains(.idleness) { await waitForIdleness(node) }
        if features.contains(.cycle) { await waitInCycle(node, context) }
        if LimitKind(node) == .attempt {
            // Only the time limit ends the wait.
            try await gate.waitUnlessCancelled()
        } else if features.contains(.cancel), choice % 3 == 0 {
            // A script cancels the operation eventually.
            try? await gate.waitUnlessCancelled()
        } else {
            for _ in 0..<choice % 3 { await Task.yield() }
        }
    }

    func waitInChildTasks(_ node: HuntProgram.Node, _ context: OperationContext) async {
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
            // The queue cannot know that the body waits for an unstructured task, so the task needs a queue that is not
            // full.
            _ = try? await Task { [outer] in try await outer.run(first) }.value
        default:
            let task = Task { [outer] in try await outer.run(first) }
            if node.choice % 2 == 0 { task.cancel() }
            _ = try? await task.value
        }
    }

    func childOfNobody(_ node: HuntProgram.Node) -> AsyncOperation<Output> {
        let token = living.token()
        return AsyncOperation<Output>("n\(node.id), outside") { [self] in
            if HuntLocal.tag != nil { fault("n\(node.id), outside: a queue that carries no task-local binds it") }
            return Output(token: token)
        }
    }

    /// Makes a small operation for a body or a group to run.
    func child(_ number: Int, of node: HuntProgram.Node, depth: Int) -> AsyncOperation<Output> {
        let token = living.token()
        let made = AsyncOperation<Output>("n\(node.id).\(number)") { [self] context in
            token.touch()
            begin(node.queue)
            defer { counts.endHolding(node.queue) }
            // A dependency of a condition sees no task-local.
            if number < 9 {
                checkTag(node.id, "child \(number)")
            } else if HuntLocal.tag != nil {
                fault("n\(node.id): the dependency of a condition sees a task-local")
            }
            if Task.isCancelled, !context.operation.isCancelled {
                fault("a child of n\(node.id) sees a cancellation, and nobody has cancelled it")
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
}
