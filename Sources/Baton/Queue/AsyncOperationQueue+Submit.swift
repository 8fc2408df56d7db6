extension AsyncOperationQueue {
    /// The number of operations that may wait in the queue before ``submit(_:file:line:)`` waits. There is no limit by
    /// default.
    ///
    /// The limit may be changed at any time. Setting a value less than 1 is ``Misuse`` and changes nothing.
    public var maxWaitingOperationCount: Int {
        get { core.state.withLock { $0.admission.limit } }
        set {
            if newValue < 1 { return core.report(Misuse(.invalidWaitingLimit(newValue), queue: name)) }
            core.change { $0.admission.limit = newValue }
        }
    }

    /// The number of operations that were added and have not begun.
    public var waitingOperationCount: Int { core.state.withLock { $0.waitingCount() } }

    /// Adds an operation, with its inputs, as soon as fewer than ``maxWaitingOperationCount`` operations wait in the
    /// queue.
    ///
    /// Use it for back-pressure, where operations are made faster than they run. The call returns when the operation
    /// has been added, not when it has finished.
    ///
    /// ```swift
    /// queue.maxWaitingOperationCount = 100
    /// for try await line in file.lines {
    ///     try await queue.submit(parse(line))
    /// }
    /// ```
    ///
    /// - **Order.** Calls that wait are admitted in the order in which they came. An operation that an added operation
    ///   depends on directly does not wait, because the added one would wait for it. Submit other operations of a graph
    ///   after those that they depend on or that their bodies await: the call cannot know that an added operation needs
    ///   the new one through another that nobody has added, and would wait forever.
    /// - **Other adds.** Operations that `add` and other calls add count towards the limit, but those calls do not
    ///   wait.
    /// - **Bodies.** A call in a body of this queue, or in a child task of that body, does not wait, because the body
    ///   could wait for itself. A call in an unstructured task (`Task { }`) that a body starts does wait, so the body
    ///   must not await that task. If a body of another queue calls this, and all operations that could make room wait
    ///   for that body, its operation is admitted beyond the limit, a second or more after the call. Baton does not
    ///   find this on a seeded schedule or in a handler.
    ///
    /// Submitting an operation that was added before is ``Misuse`` and changes nothing.
    ///
    /// - Parameter operation: The operation to add.
    /// - Throws: ``OperationError/queueShutDown(refused:queue:)`` if the queue is shut down before the operation is
    ///   added, and ``OperationError/cancelled(reason:)`` if the calling task is cancelled while the call waits. In
    ///   both cases the operation has ended with this error; if it had ended before, its own error is thrown. Errors of
    ///   the operation's body are not thrown.
    public func submit(
        _ operation: AnyOperation, file: StaticString = #fileID, line: UInt = #line
    ) async throws(OperationError) {
        let callSite = CallSite(file: file, line: line)
        if WorkerTaskContext.current?.belongs(to: core) == true {
            if !core.add(operation, callSite) { throw core.refusal(of: operation) }
            return
        }
        switch await core.waitForAdmission(of: operation) {
        case .admitted:
            let isTaken = core.add(operation, callSite)
            core.change { $0.admission.noteAdded() }
            // The queue was shut down between the admission and the add.
            if !isTaken { throw core.refusal(of: operation) }
        case .refused: throw core.end(operation, with: core.shutDownError(refusing: operation), callSite)
        case .cancelled: throw core.end(operation, with: .cancelled(reason: .caller), callSite)
        }
    }
}

extension QueueCore {
    private static let submissionIDs = NumberGenerator()

    /// The error of an operation that the queue has just refused. It may have been cancelled before.
    fileprivate func refusal(of operation: AnyOperation) -> OperationError {
        operation.error ?? shutDownError(refusing: operation)
    }

    /// Ends an operation that could not be submitted. Reports a misuse if it was added before.
    ///
    /// - Returns: The error to throw: the one that the operation has ended with, unless it was added before.
    fileprivate func end(
        _ operation: AnyOperation, with error: OperationError, _ callSite: CallSite
    ) -> OperationError {
        enum EndResult {
            case ended(AnyOperation.EarlyEnd?)
            case wasAdded
        }
        // An operation that a queue has refused before has the error that the call throws, which says enough.
        let isRefusedAgain =
            if case (.queueShutDown, .queueShutDown?) = (error, operation.error) { true } else { false }
        let result = operation.withLifecycle { life -> EndResult in
            switch life.phase {
            case .created:
                if case .cancelled(let reason) = error, case .beforeRun = life.cancel() {
                    life.ensureOptionalState().cancellationReason = reason
                    life.noteCancel(reason)
                }
                return .ended(operation.endBeforeRun(with: error, &life))
            case .added, .evaluating, .executing: return .wasAdded
            // Without a core, the operation ended before it was added to a queue, so this is not a second add.
            case .finishing, .finished:
                return operation.unretainedCore == nil || isRefusedAgain ? .ended(nil) : .wasAdded
            }
        }
        switch result {
        case .ended(let end):
            end?.complete()
            return operation.error ?? error
        case .wasAdded:
            let misuse = Misuse(
                .addedTwice, operation: operation.reference, queue: nameOfOtherQueue(of: operation), callSite: callSite)
            report(misuse, of: operation)
            return error
        }
    }

    /// Waits until the queue admits or refuses the submission. If the caller is the body of an operation of another
    /// queue, a placeholder operation waits, and the body awaits that operation. So the body releases its permit, and
    /// `explain()` can name what it waits for.
    nonisolated(nonsending) fileprivate func waitForAdmission(of operation: AnyOperation) async -> SubmissionResult {
        if operation.hasDependents { return change { $0.admitAtOnceOrRefuse() } }
        let id = Self.submissionIDs.next()
        guard let body = WorkerTaskContext.current?.running, let queue = body.coreIfUnderWay else {
            return await wait(id)
        }
        if let answer = change({ $0.admitOrRefuse() }) { return answer }
        let room = AsyncOperation("room in \(name?.quoted ?? "a queue")") { await self.wait(id) }
        let wait = QueueWait(of: body, in: queue, for: .admission(id), of: self, room, submitting: operation)
        defer { wait.didEnd(nil) }
        return await withTaskCancellationHandler {
            do throws(OperationError) {
                return try await room.value
            } catch {
                // The body never throws, so the operation was cancelled before its body could ask for admission.
                return .cancelled
            }
        } onCancel: {
            room.cancel()
        }
    }

    nonisolated(nonsending) private func wait(_ id: UInt64) async -> SubmissionResult {
        let answer = await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                if let answer = ask(id, continuation) { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let submission = state.withLock { $0.admission.remove(id) }
            submission?.resume(returning: .cancelled)
        }
        TSanAnnotations.didAwait(self)
        return answer
    }

    /// Admits a submission that waits, although the queue is full and others may wait before it.
    func admitBeyondLimit(_ id: UInt64) {
        state.withLock { $0.admission.admitBeyondLimit(id) }?.resume(returning: .admitted)
    }

    /// Returns the answer, or nil if the submission has to wait.
    private func ask(_ id: UInt64, _ continuation: Submission) -> SubmissionResult? {
        change { state in
            if let answer = state.admitOrRefuse() { return answer }
            // If the task was cancelled earlier, its cancellation handler may have run already, and nobody would remove
            // the submission.
            if Task.isCancelled { return .cancelled }
            state.admission.wait(id, continuation)
            return nil
        }
    }
}

extension AnyOperation {
    /// True if operations that have been added depend on this one.
    fileprivate final var hasDependents: Bool { withLifecycle { !$0.dependents.isEmpty } }
}

extension QueueCore.State {
    /// Admits a submission beyond the limit, unless the queue has been shut down.
    fileprivate mutating func admitAtOnceOrRefuse() -> SubmissionResult {
        if shutdownState != .running { return .refused }
        admission.admitAtOnce()
        return .admitted
    }

    /// Returns the answer, or nil if the submission has to wait.
    fileprivate mutating func admitOrRefuse() -> SubmissionResult? {
        if shutdownState != .running { return .refused }
        return admission.tryAdmit(waitingCount()) ? .admitted : nil
    }
}

// MARK: - Submissions that wait

/// The result of a submission that has waited.
enum SubmissionResult {
    case admitted
    /// The queue has been shut down.
    case refused
    /// The task that waited was cancelled.
    case cancelled
}

/// The continuation of a call that waits to submit an operation. The thread that resumes it removes it from
/// ``Admission`` first, so it is resumed once.
typealias Submission = UnsafeContinuation<SubmissionResult, Never>

/// The submissions that wait, and how many may be admitted. Pure; guarded by the queue's lock.
struct Admission<Waiter> {
    /// The number of operations that may wait in the queue before a submission waits.
    var limit = Int.max
    /// The number of submissions that are admitted and whose operations have not been added.
    private var admitted = 0
    /// The submissions that wait, as a doubly linked list, so that removing one from the middle takes constant time.
    private var waiting: [UInt64: (waiter: Waiter, before: UInt64?, after: UInt64?)] = [:]
    private var first: UInt64?
    private var last: UInt64?

    var isEmpty: Bool { first == nil }

    /// Admits a submission if it need not wait. It has to wait while earlier submissions wait.
    ///
    /// - Parameter operations: The number of operations that wait in the queue.
    mutating func tryAdmit(_ operations: Int) -> Bool {
        guard isEmpty, operations + admitted < limit else { return false }
        admitted += 1
        return true
    }

    /// Admits a submission, whatever the limit is.
    mutating func admitAtOnce() { admitted += 1 }

    mutating func wait(_ id: UInt64, _ waiter: Waiter) {
        assert(waiting[id] == nil)
        waiting[id] = (waiter, before: last, after: nil)
        if let last { waiting[last]?.after = id } else { first = id }
        last = id
    }

    /// Removes and returns the next submission that is admitted, or nil.
    ///
    /// - Parameter operations: The number of operations that wait in the queue.
    mutating func next(_ operations: Int) -> Waiter? {
        guard let first, operations + admitted < limit else { return nil }
        admitted += 1
        return remove(first)
    }

    /// Removes and returns a submission, which is admitted now. Returns nil if it does not wait any more.
    mutating func admitBeyondLimit(_ id: UInt64) -> Waiter? {
        guard let waiter = remove(id) else { return nil }
        admitAtOnce()
        return waiter
    }

    /// Notes that the operation of an admitted submission has been added.
    mutating func noteAdded() {
        assert(admitted > 0)
        admitted -= 1
    }

    /// Removes a submission. Returns nil if it does not wait any more.
    mutating func remove(_ id: UInt64) -> Waiter? {
        guard let place = waiting.removeValue(forKey: id) else { return nil }
        if let before = place.before { waiting[before]?.after = place.after } else { first = place.after }
        if let after = place.after { waiting[after]?.before = place.before } else { last = place.before }
        // After a peak, the empty table releases its memory.
        if isEmpty, waiting.capacity > 1024 { waiting = [:] }
        return place.waiter
    }

    mutating func removeAll() -> [Waiter] {
        var all: [Waiter] = []
        while let first, let next = remove(first) { all.append(next) }
        return all
    }
}

extension QueueCore.State {
    /// The number of operations that were added and have not begun. A worker that holds a permit between two operations
    /// counts as an operation that has begun, so the difference may be negative.
    func waitingCount() -> Int { max(0, registry.count - scheduler.begun) }

    mutating func admit() -> Submission? { admission.next(waitingCount()) }
}
