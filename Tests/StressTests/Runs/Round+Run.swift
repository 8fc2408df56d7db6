import Baton
import BatonTesting
import Synchronization

extension Round {
    /// Runs the plan, and returns when every operation that was added has finished.
    func play() async {
        await withDiscardingTaskGroup { group in
            for (index, actions) in plan.drivers.enumerated() {
                let driver = Driver(round: self, actions: actions)
                group.addTask(executorPreference: index.isMultiple(of: 2) ? site.scheduler : site.executor) {
                    await driver.drive()
                }
            }
            group.addTask {
                await self.endedScripts.waitForCount(self.plan.drivers.count)
                self.letGoOfQueues()
                self.openEverything()
                await self.end()
            }
        }
        repeat { await finishAll() } while await finishStrays()
        await idle()
        await finishObserving()
        await idle()
        checkTime()
        collect()
        letGoOfObservers()
        // Handlers of operations that were never added, or whose queue was released, run outside the scheduler, and
        // may still be running. A search for deadlocks of another test may hold a copy of the table of exclusions,
        // which retains these operations.
        let isSeeded =
            site.scheduler != nil && graph.isExact && !graph.hasGroups && plan.observers.isEmpty
            && graph.names.isEmpty && graph.queues.allSatisfy { $0.release == .never }
        site.recorder.check(!isSeeded || isClean, "G31: all queues are idle, and something is left: \(remains)")
    }

    /// Records that a driver has performed its actions. Tasks that it started may still wait.
    func scriptEnded() { endedScripts.append(()) }

    /// Releases the handles of queues while operations are unfinished. Some of these operations wait for gates.
    private func letGoOfQueues() {
        for (index, note) in graph.queues.enumerated() {
            switch note.release {
            case .never: continue
            case .running:
                site.recorder.note(.resumed(index))
                site.queue(index)?.isSuspended = false
            case .suspended:
                site.queue(index)?.isSuspended = true
                site.recorder.note(.suspended(index))
            }
            site.letGo(index)
        }
    }

    private func openEverything() {
        for index in graph.queues.indices {
            guard let queue = site.queue(index) else { continue }
            site.recorder.note(.resumed(index))
            queue.isSuspended = false
            queue.maxWaitingOperationCount = .max
        }
        for gate in site.gates { gate.open() }
    }

    // MARK: End

    /// Awaits the operations from the last to the first, because only an operation with a higher number can still add
    /// one with a lower number.
    private func finishAll() async {
        if !plan.keepsOperations { return await idle() }
        for id in graph.nodes.indices.reversed() {
            guard let operation = operation(id), operation.state != .created else { continue }
            site.recorder.saw(id, Outcome(await operation.awaitedOutcome()))
        }
    }

    /// Awaits the stray tasks. Returns false if there were none.
    private func finishStrays() async -> Bool {
        let strays = site.takeStrays()
        for stray in strays { await stray.value }
        return !strays.isEmpty
    }

    private func idle() async {
        for index in graph.queues.indices { await site.queue(index)?.waitUntilIdle() }
    }

    /// Returns when all queues are idle at the same time. Nothing is added from outside any more.
    func idleAtOnce() async {
        repeat { await idle() } while graph.queues.indices.contains { (site.queue($0)?.operationCount ?? 0) > 0 }
    }

    /// Checks the virtual time of the round before anything is released. Without a wait for virtual time, the round
    /// took none.
    private func checkTime() {
        guard let time = site.timeOfItself, let budget = TimeBudget(Model(graph: graph))?.whole else { return }
        site.recorder.check(
            time <= budget, "G12, G22: it took \(time), and \(budget) are enough when pauses keep nothing")
    }

    /// Records how every operation ended, and releases the operations.
    private func collect() {
        let recorder = site.recorder
        var ends: [End?] = []
        for id in graph.nodes.indices {
            if let operation = operation(id) {
                let outcome = operation.endResult.map(Outcome.init)
                ends.append(
                    outcome.map {
                        End(
                            outcome: $0, isCancelled: operation.isCancelled,
                            history: operation.attempts.map(AttemptEnd.init))
                    })
            } else {
                let outcome = recorder.nodes[id].firstOutcome.withLock { $0 }
                // Operations are released early in exact graphs only, where nothing but a limit cancels an operation
                // with another outcome.
                ends.append(
                    outcome.map { outcome in
                        let isCancelled = if case .timedOut = outcome { true } else { outcome.kind == .cancelled }
                        return End(outcome: outcome, isCancelled: isCancelled, history: nil)
                    })
            }
        }
        self.ends.withLock { $0 = ends }
        for index in graph.queues.indices {
            if let count = site.queue(index)?.operationCount, count != 0 {
                recorder.violation("G25: queue \(index) is idle and has \(count) operations")
            }
        }
        checkNames()
        let all = operations.withLock { operations in
            defer { operations = [] }
            return operations
        }
        withExtendedLifetime(all) {}
    }

    // MARK: Verdict

    /// Waits until everything has been released, compares the round with the model, and throws if anything was wrong.
    func judge(seed: UInt64) async throws {
        let recorder = site.recorder
        // Handlers of operations that were never added, or whose queue was released, run outside the scheduler.
        let deadline = ContinuousClock.now + .seconds(900)
        while !isOver, ContinuousClock.now < deadline { try await Task.sleep(for: .microseconds(200)) }
        recorder.check(isOver, "G31: something is left: \(remains)")
        Verdict(model: Model(graph: graph), recorder: recorder, ends: ends.withLock { $0 }, planEnd: plan.end)
            .pronounce()
        var checker = TraceChecker(graph)
        if recorder.hasProbe { checker.follow(recorder.trace.withLock { $0 }) }
        let faults = recorder.violations + checker.faults
        if !faults.isEmpty { throw StressFailure(seed: seed, faults: faults) }
    }

    // MARK: State after the round

    /// True if everything that was added has finished, and nothing retains it.
    var isOver: Bool { isClean && site.observers.living == 0 }

    /// Like `isOver`, without the observers: an idle queue does not wait for them.
    var isClean: Bool { site.recorder.census.living == 0 && living.isEmpty && handlersHaveRun }

    private var living: [Int] {
        remaining.withLock { all in all.indices.filter { all[$0].operation != nil } }
    }

    private var handlersHaveRun: Bool {
        site.recorder.nodes.allSatisfy {
            let isOver = $0.firstOutcome.withLock { $0 != nil }
            return !isOver
                || $0.handlerCalls.load(ordering: .relaxed) == $0.handlersAdded.load(ordering: .relaxed)
                    && $0.handlers.lastStepsCalled.load(ordering: .relaxed)
                        == $0.handlers.lastStepsAdded.load(ordering: .relaxed)
        }
    }

    /// The objects that are still retained, for a report.
    var remains: String {
        let calls = site.recorder.nodes.enumerated().compactMap { id, record in
            let (called, added) = (
                record.handlerCalls.load(ordering: .relaxed), record.handlersAdded.load(ordering: .relaxed)
            )
            return called == added ? nil : "n\(id) \(called)/\(added)"
        }
        return
            "\(site.recorder.census.living) tokens, \(site.observers.living) observers, operations \(living), handlers "
            + "\(calls.joined(separator: " "))"
    }

    /// The explanations of all unfinished operations.
    var explanation: String {
        remaining.withLock { $0 }.compactMap(\.operation).filter { $0.state != .created && $0.state != .finished }
            .map { "\($0): \($0.explain())\n      \(graph.nodes[$0.reference.node])" }.joined(separator: "\n")
    }
}
