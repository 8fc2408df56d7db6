import Baton
import BatonTesting

/// One run of a ``ServicePlan`` in virtual time.
final class ServiceRound: Sendable {
    /// The errors of calls.
    private enum CallError: Error {
        case down
        case rejected
    }

    private struct State {
        var models: [BreakerModel]
        /// The times at which bodies with the rate of a service started.
        var starts: [[Duration]]
        var refused: Set<Int> = []
        /// The calls that were admitted at least once.
        var admitted: Set<Int> = []
        var ran: Set<Int> = []
        var faults: [String] = []
    }

    private let plan: ServicePlan
    private let seed: UInt64
    private let clock: TestClock
    private let start: TestClock.Instant
    private let queues: [AsyncOperationQueue]
    private let breakers: [CircuitBreaker]
    private let state: Locked<State>
    private let operations = Locked<[AsyncOperation<Void>]>([])

    init(_ plan: ServicePlan, seed: UInt64, scheduler: SeededScheduler) {
        self.plan = plan
        self.seed = seed
        clock = scheduler.clock
        start = scheduler.clock.now
        queues = plan.widths.map { width in
            AsyncOperationQueue(maxConcurrentOperationCount: width, executor: scheduler, clock: scheduler.clock)
        }
        breakers = plan.services.enumerated().map { number, note in
            CircuitBreaker("service \(number)", failures: note.failures, retryAfter: note.openTime) { error in
                (error.underlyingError as? CallError) != .rejected
            }
        }
        state = Locked(
            State(models: plan.services.map { BreakerModel($0) }, starts: plan.services.map { _ in [] }))
        operations.withLock { $0 = plan.calls.map { make($0) } }
    }

    private var now: Duration { start.duration(to: clock.now) }

    // MARK: Making

    private func make(_ call: CallNote) -> AsyncOperation<Void> {
        let operation = call.isGroup ? group(call) : AsyncOperation { try await self.run(call, $0) }
        operation.name(call.name)
        if isAdmittedAfterWaits(call) { operation.willFinish { self.noteRefusalAfterWaits(of: call, $0) } }
        if let yields = call.lastStep {
            operation.willFinish { _ in for _ in 0..<yields { await Task.yield() } }
        }
        if let condition = call.guardBefore { add(condition, to: operation) }
        operation.addCondition(NotedBreaker(call: call, round: self))
        if let condition = call.guardAfter { add(condition, to: operation) }
        if call.asksTwice { operation.addCondition(NotedBreaker(call: call, round: self).and(NoFailedDependencies())) }
        if hasExclusion(call) { operation.addCondition(.mutuallyExclusive("stress services \(seed)")) }
        if let rate = rate(of: call) {
            let name = "stress service \(call.service)"
            operation.addCondition(.rate(name, rate.count, per: rate.period, burst: rate.burst))
        }
        if call.failedAttempts > 0 { operation.retry(.constant(.ticks(2)), attempts: call.failedAttempts + 1) }
        if let limit = call.limit { operation.timeout(limit) }
        return operation
    }

    /// A group starts without a body of its own in which the test could note its admission, so it waits for nothing.
    private func hasExclusion(_ call: CallNote) -> Bool { call.hasExclusion && !call.isGroup }

    private func rate(of call: CallNote) -> RateNote? { call.isGroup ? nil : plan.services[call.service].rate }

    /// True if the breaker is only looked at while the conditions are evaluated, and admits the call after its waits.
    private func isAdmittedAfterWaits(_ call: CallNote) -> Bool { hasExclusion(call) || rate(of: call) != nil }

    private func group(_ call: CallNote) -> AsyncOperation<Void> {
        GroupOperation(
            AsyncOperation { context in try await context.sleep(for: .ticks(1)) },
            AsyncOperation { context in
                self.state.withLock { _ = $0.ran.insert(call.id) }
                try await self.answer(call, context)
            })
    }

    private func add(_ condition: CallNote.Guard, to operation: AsyncOperation<Void>) {
        operation.addCondition("guard") { _ in
            switch condition {
            case .satisfied(let yields):
                for _ in 0..<yields { await Task.yield() }
                return .satisfied
            case .skip(let yields):
                for _ in 0..<yields { await Task.yield() }
                return .skip("guard")
            }
        }
    }

    private func run(_ call: CallNote, _ context: OperationContext) async throws {
        if isAdmittedAfterWaits(call), context.attempt == 1 {
            // The breaker has admitted the call in the same job of its worker.
            noteAdmission(of: call, operations.withLock { $0[call.id] }, at: now)
        }
        started(call)
        if let child = call.child {
            let operation = operations.withLock { $0[child] }
            do throws(OperationError) { try await context.run(operation) } catch {
                if error.underlyingError is CallError || error.underlyingError is CircuitOpenError { throw error }
            }
        }
        try await answer(call, context)
    }

    private func answer(_ call: CallNote, _ context: OperationContext) async throws {
        try await context.sleep(for: call.duration)
        if plan.services[call.service].isDown(at: now) || context.attempt <= call.failedAttempts {
            throw CallError.down
        }
        switch call.ending {
        case .success: break
        case .failure: throw CallError.down
        case .rejection: throw CallError.rejected
        }
    }

    // MARK: Recording

    /// Checks the start of a body against the rate of its service.
    private func started(_ call: CallNote) {
        let now = now
        state.withLock { state in
            state.ran.insert(call.id)
            guard let rate = plan.services[call.service].rate else { return }
            let others = state.starts[call.service]
            if rate.forbids(now, after: others) {
                state.faults.append("n\(call.id) started at \(now), too early for its rate, after \(others.suffix(8))")
            }
            state.starts[call.service].append(now)
        }
    }

    /// The breaker of a call. It records the answers of the real breaker, and the end of the call right after the
    /// real breaker has recorded that.
    private struct NotedBreaker: OperationCondition {
        let call: CallNote
        let round: ServiceRound

        var name: String { "noted breaker" }

        func evaluate(for operation: AnyOperation) async throws -> ConditionResult {
            let now = round.now
            do {
                let result = try await round.breakers[call.service].evaluate(for: operation)
                if round.isAdmittedAfterWaits(call) {
                    round.state.withLock { $0.models[call.service].passed(call.id, at: now) }
                } else if let operation = operation as? AsyncOperation<Void> {
                    round.noteAdmission(of: call, operation, at: now)
                }
                return result
            } catch let error as CircuitOpenError {
                round.noteRefusal(of: call, error, at: now)
                throw error
            }
        }
    }

    /// Notes that the breaker has admitted the call, and has its end noted right after the breaker has learned of it.
    private func noteAdmission(of call: CallNote, _ operation: AsyncOperation<Void>, at now: Duration) {
        let isNew = state.withLock { state in
            if state.models[call.service].hasAdmitted(call.id) { return false }
            state.admitted.insert(call.id)
            state.models[call.service].admitted(call.id, at: now)
            return true
        }
        if isNew { operation.willFinish { result in self.ended(call, result) } }
    }

    private func noteRefusal(of call: CallNote, _ error: CircuitOpenError, at now: Duration) {
        state.withLock { state in
            state.refused.insert(call.id)
            state.models[call.service].refused(call.id, at: now, timeLeft: error.timeUntilTrial)
        }
    }

    /// Notes a refusal after the waits, which came earlier: `willFinish` handlers are called on a task of their own. A
    /// refusal by the look has been noted before.
    private func noteRefusalAfterWaits(of call: CallNote, _ result: Result<Void, OperationError>) {
        guard case .failure(.conditionFailed(_, is CircuitOpenError)) = result else { return }
        state.withLock { state in
            if state.refused.insert(call.id).inserted { state.models[call.service].refusedAfterWaits(call.id) }
        }
    }

    private func ended(_ call: CallNote, _ result: Result<Void, OperationError>) {
        let now = now
        state.withLock { $0.models[call.service].ended(call.id, as: Self.verdict(on: result), at: now) }
    }

    private static func verdict(on result: Result<Void, OperationError>) -> BreakerModel.Verdict {
        switch result {
        case .success: .success
        case .failure(.timedOut): .failure
        case .failure(.failed), .failure(.groupFailed):
            switch result.underlyingError {
            case is CircuitOpenError: .nothing
            case CallError.rejected as CallError: .success
            default: .failure
            }
        case .failure: .nothing
        }
    }

    // MARK: Playing

    func play() async {
        await withDiscardingTaskGroup { group in
            for call in plan.calls where !call.isNested {
                let operation = operations.withLock { $0[call.id] }
                group.addTask {
                    try? await self.clock.sleep(for: call.addedAt)
                    self.queues[call.queue].add(operation)
                    guard let time = call.cancelledAfter else { return }
                    if time > .zero { try? await self.clock.sleep(for: time) } else { await Task.yield() }
                    operation.cancel()
                }
            }
            guard let suspension = plan.suspension else { return }
            group.addTask {
                try? await self.clock.sleep(for: suspension.begin)
                self.queues[0].isSuspended = true
                try? await self.clock.sleep(for: suspension.length)
                self.queues[0].isSuspended = false
            }
        }
        for queue in queues + queues { await queue.waitUntilIdle() }
        judge()
        for service in plan.services.indices { await probe(service) }
    }

    /// Checks that a breaker, all of whose operations have ended, admits an operation after its open time. So no trial
    /// is left that nobody ends.
    private func probe(_ service: Int) async {
        let isClosed = state.withLock { $0.models[service].isClosed }
        check((breakers[service].state == .closed) == isClosed, "breaker \(service) is \(breakers[service].state)")
        try? await clock.sleep(for: plan.services[service].openTime)
        let last = AsyncOperation("last") {}.addCondition(breakers[service])
        queues[0].add(last)
        _ = try? await last.value
        check(last.error == nil, "breaker \(service) refuses the last operation: \(last.error as Any)")
        check(breakers[service].state == .closed, "the last operation has not closed breaker \(service)")
    }

    // MARK: Judging

    private func check(_ isKept: Bool, _ fault: @autoclosure () -> String) {
        if isKept { return }
        let fault = fault()
        state.withLock { $0.faults.append(fault) }
    }

    private func judge() {
        let (refused, admitted, ran) = state.withLock { ($0.refused, $0.admitted, $0.ran) }
        for (call, operation) in zip(plan.calls, operations.withLock { $0 }) {
            let id = call.id
            if operation.state == .created {
                check(call.isNested, "G25: n\(id) has no outcome")
                continue
            }
            check(operation.state == .finished, "G25: n\(id) has not finished: \(operation.explain())")
            check(!ran.contains(id) || admitted.contains(id), "n\(id) ran without having been admitted")
            check(!ran.contains(id) || !refused.contains(id), "n\(id) ran although it had been refused")
            switch operation.error {
            case nil, .failed, .groupFailed, .timedOut:
                check(ran.contains(id) || call.isGroup, "n\(id) ended without having run: \(operation.error as Any)")
            case .conditionFailed(_, is CircuitOpenError):
                check(refused.contains(id), "n\(id) ended as refused, and was not")
            case .skipped, .cancelled:
                let isSkipped = if case .skipped = operation.error { true } else { false }
                check(!isSkipped || !ran.contains(id), "n\(id) ran, and was skipped")
            case let error?: check(false, "n\(id) ended with \(error)")
            }
        }
    }

    /// The explanations of unfinished operations.
    var explanations: [String] { queues.flatMap(\.operations).map { "\($0): \($0.explain())" } }

    /// Throws if anything was wrong.
    func throwFaults() throws {
        // The operations retain the round.
        let all = operations.withLock { operations in
            defer { operations = [] }
            return operations
        }
        withExtendedLifetime(all) {}
        let faults = state.withLock { state in
            state.faults
                + state.models.enumerated().flatMap { number, model in
                    model.faults.map { "breaker \(number): \($0)" }
                }
        }
        if !faults.isEmpty { throw StressFailure(seed: seed, faults: faults) }
    }
}

extension Result where Success == Void, Failure == OperationError {
    fileprivate var underlyingError: (any Error)? {
        switch self {
        case .success: nil
        case .failure(let error): error.underlyingError
        }
    }
}
