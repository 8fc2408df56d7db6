import Synchronization

extension AsyncOperationQueue {
    /// How many operations may wait in the queue before ``submit(_:file:line:)`` does; without a limit unless set.
    ///
    /// May be changed at any time. Less than 1 is ``Misuse`` and changes nothing.
    public var maxWaitingOperationCount: Int {
        get { core.state.withLock { $0.admission.limit } }
        set {
            if newValue < 1 { return core.report(Misuse(.invalidWaitingLimit(newValue), queue: name)) }
            core.change { $0.admission.limit = newValue }
        }
    }

    /// How many operations were added and have not begun.
    public var waitingOperationCount: Int { core.state.withLock { $0.waitingCount() } }

    /// Adds an operation as soon as fewer than ``maxWaitingOperationCount`` wait in the queue, and returns then.
    ///
    /// This is back-pressure for whoever makes operations faster than they run. Those that wait are served in the order
    /// in which they came. What is added by `add` and other calls counts, but does not wait. A body of this queue is
    /// not held back, nor are its child tasks: it could wait for itself. An unstructured task that it starts is; the
    /// body is not to wait for that. One that was added before is ``Misuse``, and left alone.
    ///
    /// - Throws: ``OperationError/queueShutDown`` if the queue is or will be shut down,
    ///   ``OperationError/cancelled(reason:)`` if the calling task is cancelled while it waits. The operation has then
    ///   ended with this error, and was not added.
    public func submit(
        _ operation: AnyOperation, file: StaticString = #fileID, line: UInt = #line
    ) async throws(OperationError) {
        let callSite = CallSite(file: file, line: line)
        if WorkerTaskContext.current?.belongs(to: core) == true {
            if !core.addWithInputs(operation, callSite) { throw .queueShutDown }
            return
        }
        switch await core.admission() {
        case .admitted:
            let isTaken = core.addWithInputs(operation, callSite)
            core.change { $0.admission.hasEntered() }
            // It was shut down in between.
            if !isTaken { throw .queueShutDown }
        case .refused:
            core.end(operation, with: .queueShutDown, callSite)
            throw .queueShutDown
        case .abandoned:
            core.end(operation, with: .cancelled(reason: .caller), callSite)
            throw .cancelled(reason: .caller)
        }
    }
}

extension QueueCore {
    private static let lastSubmission = Atomic<UInt64>(0)

    /// Ends one that nobody has added.
    fileprivate func end(_ operation: AnyOperation, with error: OperationError, _ callSite: CallSite) {
        enum Answer {
            case ended(AnyOperation.EarlyEnd?)
            case wasAdded
        }
        let answer = operation.withLife { life -> Answer in
            switch life.phase {
            case .created:
                if case .cancelled(let reason) = error, case .beforeRun = life.cancel() {
                    life.madeOptionalState().cancellationReason = reason
                    life.noteCancel(reason)
                }
                return .ended(operation.endBeforeRun(with: error, &life))
            case .added, .evaluating, .executing: return .wasAdded
            case .finishing, .finished: return operation.home == nil ? .ended(nil) : .wasAdded
            }
        }
        switch answer {
        case .ended(let end): end?.settle()
        case .wasAdded: report(Misuse(.addedTwice, operation: operation.reference, callSite: callSite), of: operation)
        }
    }

    /// A body that has to wait does so for an operation, so that it gives its permit back, and says what it waits for.
    nonisolated(nonsending) fileprivate func admission() async -> SubmissionAnswer {
        guard let queue = WorkerTaskContext.current?.running?.core else { return await wait() }
        if let answer = change({ $0.answerAtOnce() }) { return answer }
        let answer = Locked(SubmissionAnswer.abandoned)
        let room = AsyncOperation<Void>("room in \(name.map { "‘\($0)’" } ?? "a queue")") {
            let given = await self.wait()
            answer.withLock { $0 = given }
        }
        AsyncOperationQueue(name: "room", executor: queue.services.executor).add(room)
        await withTaskCancellationHandler {
            _ = try? await room.value
        } onCancel: {
            room.cancel()
        }
        return answer.withLock { $0 }
    }

    nonisolated(nonsending) private func wait() async -> SubmissionAnswer {
        let id = Self.lastSubmission.wrappingAdd(1, ordering: .relaxed).newValue
        let answer = await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                if let answer = ask(id, continuation) { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let abandoned = state.withLock { $0.admission.remove(id) }
            abandoned?.resume(returning: .abandoned)
        }
        TSanAnnotations.didAwait(self)
        return answer
    }

    /// Nil: it waits.
    private func ask(_ id: UInt64, _ continuation: Submission) -> SubmissionAnswer? {
        change { state in
            if let answer = state.answerAtOnce() { return answer }
            // Cancelled before it waits: nobody would take it out again.
            if Task.isCancelled { return .abandoned }
            state.admission.wait(id, continuation)
            return nil
        }
    }
}

extension QueueCore.State {
    /// Nil: whoever submits has to wait.
    fileprivate mutating func answerAtOnce() -> SubmissionAnswer? {
        if closing != .not { return .refused }
        return admission.mayEnter(waitingCount()) ? .admitted : nil
    }
}
