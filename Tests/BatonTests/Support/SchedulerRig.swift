@testable import Baton

/// A ``Scheduler`` as a value, whose operations are identified by their names.
final class SchedulerRig {
    enum Order: Equatable {
        case none
        case startWorker
        case resume(String)
    }

    enum Turn: Equatable {
        case run(String)
        case handOver(String)
        case end
    }

    var scheduler: Scheduler
    /// Retains the operations, because the lists do not.
    private var operations: [AnyOperation] = []

    init(width: Int, isSuspended: Bool = false) {
        scheduler = Scheduler(width: width, isSuspended: isSuspended)
    }

    private func make(_ name: String, _ priority: OperationPriority, isChild: Bool = false) -> AnyOperation {
        let operation = AsyncOperation(name) {}
        operation.priority = priority
        operation.goesFirst = isChild
        operations.append(operation)
        return operation
    }

    /// The operation that was created last.
    var last: AnyOperation { operations.last! }

    @discardableResult
    func append(_ name: String, _ priority: OperationPriority = .normal, isChild: Bool = false) -> AnyOperation {
        scheduler.append(Unretained(make(name, priority, isChild: isChild)))
        return last
    }

    /// Returns false if the operation may not start now.
    func appendRequeued(
        _ name: String, _ priority: OperationPriority = .normal, isChild: Bool = false, hasDependencies: Bool = false
    ) -> Bool {
        let operation = make(name, priority, isChild: isChild)
        return scheduler.append(requeued: Unretained(operation), hasDependencies: hasDependencies)
    }

    func release(_ name: String) { scheduler.append(released: Unretained(make(name, .normal))) }

    /// Removes an operation that has ended. Returns true if the caller has to release it.
    func remove(_ operation: AnyOperation) -> Bool { scheduler.remove(Unretained(operation)) }

    /// Returns the names of the operations that have ended, in order.
    func takeEnded() -> [String] {
        var names: [String] = []
        IntrusiveList.forEach(from: scheduler.takeEnded()) { names.append($0.object.name!) }
        return names
    }

    /// Returns the names of the operations that were taken up before, in order.
    func takeRequeued() -> [String] {
        var names: [String] = []
        IntrusiveList.forEach(from: scheduler.takeRequeued()) { names.append($0.object.name!) }
        return names
    }

    func reacquirePermit() -> Turn { named(scheduler.reacquirePermit()) }

    /// Resumes the continuation at once, because the scheduler only stores it.
    func appendResumption(_ name: String, _ priority: OperationPriority = .normal) async {
        let body = make(name, priority)
        var carried: UnsafeContinuation<OperationError?, Never>?
        _ = await withUnsafeContinuation { continuation in
            carried = continuation
            continuation.resume(returning: nil)
        }
        scheduler.append(Scheduler.Resumption(body: body, continuation: carried!, error: nil), at: priority)
    }

    func assignPermit() -> Order {
        switch scheduler.assignPermit() {
        case .none: .none
        case .startWorker: .startWorker
        case .resume(let resumption): .resume(resumption.body!.name!)
        case .admit: .none
        }
    }

    func workerStarted() -> Turn { named(scheduler.workerStarted()) }

    func park() -> Turn { named(scheduler.park()) }

    func nextAction() -> Turn { named(scheduler.nextAction()) }

    func endSlice() -> Bool { scheduler.endSlice() }

    private func named(_ turn: Scheduler.WorkerAction) -> Turn {
        switch turn {
        case .run(let operation): .run(operation.object.name!)
        case .handOver(let resumption): .handOver(resumption.body!.name!)
        case .end: .end
        }
    }
}
