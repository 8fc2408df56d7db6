import Baton
import Synchronization
import BatonTesting

/// One of the tasks that add the operations of a graph and disturb them.
struct Driver: Sendable {
    let round: Round
    let actions: [Action]

    private var site: Site { round.site }
    private var recorder: RunRecorder { round.site.recorder }

    func drive() async {
        await RunRecorder.$adder.withValue(.driver) {
            await withDiscardingTaskGroup { group in
                for action in actions { await perform(action, &group) }
                round.scriptEnded()
            }
        }
    }

    private func perform(_ action: Action, _ group: inout DiscardingTaskGroup) async {
        switch action {
        case .add(let ids, let queue): add(ids.compactMap { round.operation($0) }, ids, to: site.queue(queue)!)
        case .addTo(let id, let queue):
            guard let operation = round.operation(id) else { return }
            recorder.note(.addBegan)
            RunRecorder.$mark.withValue(id + 1) {
                _ = operation.add(to: site.queue(queue)!, includingDependencies: true)
            }
            recorder.note(.addEnded)
            round.forget([id])
        case .addBarrier(let id, let queue):
            guard let operation = round.operation(id) else { return }
            recorder.note(.addBegan)
            RunRecorder.$mark.withValue(id + 1) { site.queue(queue)!.addBarrier(operation) }
            recorder.note(.addEnded)
            round.forget([id])
        case .submit(let id, let queue, let yields):
            guard let operation = round.operation(id), let queue = site.queue(queue) else { return }
            group.addTask(executorPreference: site.executor) { await submit(operation, id, queue, yields) }
        case .limitWaiting(let queue, let limit): site.queue(queue)?.maxWaitingOperationCount = limit
        case .run(let id, let queue, let yields):
            guard let operation = round.operation(id), let queue = site.queue(queue) else { return }
            group.addTask(executorPreference: site.executor) { await run(operation, id, queue, yields) }
        case .observe(let id):
            guard let operation = round.operation(id) else { return }
            group.addTask { await observe(operation, id) }
        case .addHandlers(let id):
            if let operation = round.operation(id) { addHandlers(to: operation, id) }
        case .explain(let id):
            if let operation = round.operation(id) {
                recorder.check(!operation.explain().description.isEmpty, "n\(id) has no explanation")
            }
        case .setPriority(let id, let priority):
            guard let operation = round.operation(id) else { return }
            recorder.note(.priority(id))
            operation.priority = priority
        case .beginObserving: round.beginObserving(first: false)
        case .pause(let yields): for _ in 0..<yields { await Task.yield() }
        case .openGate(let gate): site.gates[gate].open()
        case .suspend(let queue): suspend(queue)
        case .resume(let queue): resume(queue)
        case .changeWidth(let queue, let width):
            recorder.queues[queue].expectWidth(width)
            recorder.note(.width(queue, width))
            site.queue(queue)?.maxConcurrentOperationCount = width
        case .cancel(let id, let text):
            if let operation = round.operation(id) { site.cancel(operation, id, because: text) }
        case .cancelRunning(let number):
            let running = recorder.graph.nodes.indices.filter { round.operation($0)?.state == .executing }
            if running.isEmpty { return }
            let id = running[number % running.count]
            if let operation = round.operation(id) { site.cancel(operation, id, because: "running") }
        case .cancelPaused(let number):
            let paused = recorder.graph.nodes.indices.filter { id in
                let record = recorder.nodes[id]
                guard record.starts.load(ordering: .relaxed) > 0, record.isBetweenRuns else { return false }
                return round.operation(id).map { $0.state != .finished && $0.state != .executing } ?? false
            }
            if paused.isEmpty { return }
            let id = paused[number % paused.count]
            if let operation = round.operation(id) { site.cancel(operation, id, because: "paused") }
        case .passTime(let time): site.passTime(time)
        case .cancelAll(let queue):
            recorder.queues[queue].isCancelled.store(true, ordering: .relaxed)
            site.queue(queue)?.cancelAll()
        }
    }

    // MARK: Adding

    private func add(_ operations: [AnyOperation], _ ids: [Int], to queue: AsyncOperationQueue) {
        recorder.note(.addBegan)
        RunRecorder.$mark.withValue((ids.first ?? 0) + 1) {
            switch operations.count {
            case 0: break
            case 1: queue.add(operations[0])
            case 2: queue.add(operations[0], operations[1])
            case 3: queue.add(operations[0], operations[1], operations[2])
            default: queue.add(operations)
            }
        }
        recorder.note(.addEnded)
        round.forget(ids)
    }

    private func run(
        _ operation: AnyOperation, _ id: Int, _ queue: AsyncOperationQueue, _ yields: Int?
    ) async {
        let caller = Task.detached(executorPreference: site.executor) {
            await RunRecorder.$adder.withValue(.driver) {
                await RunRecorder.$mark.withValue(id + 1) { await operation.outcome(runIn: queue) }
            }
        }
        round.forget([id])
        if let yields {
            for _ in 0..<yields { await Task.yield() }
            recorder.nodes[id].isTakenBack.store(true, ordering: .relaxed)
            caller.cancel()
        }
        recorder.saw(id, Outcome(await caller.value))
    }

    private func submit(
        _ operation: AnyOperation, _ id: Int, _ queue: AsyncOperationQueue, _ yields: Int?
    ) async {
        let caller = Task.detached(executorPreference: site.executor) { () -> OperationError? in
            await RunRecorder.$adder.withValue(.driver) {
                await RunRecorder.$mark.withValue(id + 1) {
                    do throws(OperationError) { try await queue.submit(operation) } catch { return error }
                    return nil
                }
            }
        }
        round.forget([id])
        if let yields {
            for _ in 0..<yields { await Task.yield() }
            recorder.nodes[id].isGivenUp.store(true, ordering: .relaxed)
            caller.cancel()
        }
        switch await caller.value {
        case nil: break
        case .cancelled(.caller): recorder.check(yields != nil, "the submission of n\(id) was cancelled by nobody")
        case .queueShutDown: recorder.check(round.plan.end != .idle, "the submission of n\(id) was refused")
        case let error?:
            // The operation had ended before the submission was refused, or its caller was cancelled.
            let isDue = yields != nil || round.plan.end != .idle
            let isItsOwn = operation.error.map { "\($0)" == "\(error)" } ?? false
            recorder.check(isDue && isItsOwn, "the submission of n\(id) threw \(error)")
        }
        recorder.check(operation.state != .created, "n\(id) was submitted, and is not added")
    }

    /// Adds handlers to an operation that may already have been added or have finished.
    private func addHandlers(to operation: AnyOperation, _ id: Int) {
        OperationFactory.addHandler(to: operation, id, isLate: true, at: site)
        OperationFactory.addTeller(to: operation, id, isLate: true, at: site)
        // See ``OperationFactory``.
        let isSafe = recorder.graph.isExact && !recorder.graph.nodes[id].isMember
        let isHarmless = !recorder.isSeeded || isSafe || operation.state != .created
        if isHarmless { OperationFactory.addLastStep(.yield(1), to: operation, id, isLate: true, at: site) }
    }

    private func observe(_ operation: AnyOperation, _ id: Int) async {
        recorder.saw(id, Outcome(await operation.awaitedOutcome()))
        recorder.check(operation.state == .finished, "G1: n\(id) has a value and is not finished")
        recorder.check(operation.endResult.map(Outcome.init) != nil, "G1: n\(id) has a value and no result")
    }

    // MARK: Suspending

    private func suspend(_ queue: Int) {
        site.queue(queue)?.isSuspended = true
        recorder.note(.suspended(queue))
    }

    private func resume(_ queue: Int) {
        recorder.note(.resumed(queue))
        site.queue(queue)?.isSuspended = false
    }
}

extension Misuse {
    /// True if the graphs of these tests contain this misuse: an operation was added that another operation had
    /// already brought along, to the same queue or to another one, or a further attempt of a body runs an operation
    /// that has already failed.
    var isPlanned: Bool {
        switch kind {
        case .addedTwice, .addedWithReader, .ranFinishedOperation: true
        default: false
        }
    }
}
