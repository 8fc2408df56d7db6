internal import Baton

/// The queue of starts that wait because the process or the system has no descriptor or no process left.
final class LaunchQueue: Sendable {
    private struct State {
        /// The pipes of the pipeline of each running program.
        var running: [ObjectIdentifier: [ProgramPipe]] = [:]
        /// The number of programs that have ended.
        var endCount = 0
        /// The waiting starts, by their tickets in the queue.
        var waiting: [Int: Wakeup] = [:]
        var tickets = 0..<0

        mutating func add(_ wakeup: Wakeup, atFront: Bool) -> Int {
            if waiting.isEmpty { tickets = 0..<0 }
            let ticket = atFront ? tickets.lowerBound - 1 : tickets.upperBound
            tickets = min(tickets.lowerBound, ticket)..<max(tickets.upperBound, ticket + 1)
            waiting[ticket] = wakeup
            return ticket
        }

        mutating func takeFirst() -> Wakeup? {
            while let ticket = tickets.first {
                tickets = (ticket + 1)..<tickets.upperBound
                if let wakeup = waiting.removeValue(forKey: ticket) { return wakeup }
            }
            return nil
        }
    }

    private enum Step {
        case again
        case giveUp
        case wait(ticket: Int)
    }

    static let shared = LaunchQueue()

    private let state = Locked(State())

    /// The number of programs that have ended, and whether other starts wait. Read it before trying a start, and pass
    /// the count to ``wait(since:atFront:)``.
    var snapshot: (endCount: Int, hasWaiters: Bool) { state.withLock { ($0.endCount, !$0.waiting.isEmpty) } }

    func launched(_ program: AnyObject, _ pipeline: [ProgramPipe]) {
        state.withLock { $0.running[ObjectIdentifier(program)] = pipeline }
    }

    /// Notes that the program has ended and that its descriptors are closed, and wakes the first waiting start.
    func ended(_ program: AnyObject) {
        let wakeup = state.withLock { state in
            state.endCount += 1
            let pipeline = state.running.removeValue(forKey: ObjectIdentifier(program))
            assert(pipeline != nil, "Internal inconsistency: a program that ends and was not launched")
            return state.takeFirst()
        }
        wakeup?.end(true)
    }

    /// Wakes the next waiting start.
    func wakeNext() { state.withLock { $0.takeFirst() }?.end(true) }

    /// Waits until a start may succeed.
    ///
    /// - Parameters:
    ///   - endCount: The count that ``snapshot`` returned before the start that failed, or nil if no start has been
    ///     tried.
    ///   - atFront: True if this start has waited before, so that it goes to the front of the queue.
    /// - Returns: True if the start is to be tried again; false if none of the running programs can end.
    /// - Throws: `CancellationError` if the task is cancelled while it waits.
    func wait(since endCount: Int?, atFront: Bool) async throws -> Bool {
        let wakeup = Wakeup()
        let pipelines = state.withLock { Array($0.running.values) }
        // The pipes are read without holding the lock of this queue. The answer stays right until the lock is taken:
        // all starts run on the single thread of the launcher, as this function does, and an end changes `endCount`.
        let canEnd = pipelines.contains { $0.allSatisfy(\.isConnected) }
        let step: Step = state.withLock { state in
            if let endCount {
                if state.endCount != endCount { return .again }
                if !canEnd { return .giveUp }
            } else if state.waiting.isEmpty {
                return .again
            }
            return .wait(ticket: state.add(wakeup, atFront: atFront))
        }
        let ticket: Int
        switch step {
        case .again: return true
        case .giveUp: return false
        case .wait(let taken): ticket = taken
        }
        await withTaskCancellationHandler {
            _ = await wakeup.wait()
        } onCancel: {
            wakeup.end(false)
        }
        if Task.isCancelled {
            let wasQueued = state.withLock { $0.waiting.removeValue(forKey: ticket) != nil }
            if !wasQueued { wakeNext() }
            throw CancellationError()
        }
        return true
    }
}
