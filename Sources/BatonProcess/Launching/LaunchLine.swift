internal import Baton

/// The queue of starts that wait because the process or the system has no descriptor or no process left.
final class LaunchLine: Sendable {
    private struct State {
        /// The pipes of the pipeline of each running program.
        var running: [ObjectIdentifier: [ProgramPipe]] = [:]
        /// The number of programs that have ended.
        var endCount = 0
        /// The waiting starts, by their places in the queue.
        var waiting: [Int: Wakeup] = [:]
        var places = 0..<0

        mutating func enter(_ wakeup: Wakeup, atFront: Bool) -> Int {
            if waiting.isEmpty { places = 0..<0 }
            let place = atFront ? places.lowerBound - 1 : places.upperBound
            places = min(places.lowerBound, place)..<max(places.upperBound, place + 1)
            waiting[place] = wakeup
            return place
        }

        mutating func takeFirst() -> Wakeup? {
            while let place = places.first {
                places = (place + 1)..<places.upperBound
                if let wakeup = waiting.removeValue(forKey: place) { return wakeup }
            }
            return nil
        }
    }

    private enum Step {
        case again
        case giveUp
        case wait(place: Int)
    }

    static let shared = LaunchLine()

    private let state = Locked(State())

    /// The number of programs that have ended, and whether other starts wait. To be read before a start is tried.
    var situation: (endCount: Int, isBusy: Bool) { state.withLock { ($0.endCount, !$0.waiting.isEmpty) } }

    func launched(_ program: AnyObject, _ pipeline: [ProgramPipe]) {
        state.withLock { $0.running[ObjectIdentifier(program)] = pipeline }
    }

    /// Notes that the program has ended and that its descriptors are closed, and wakes the first waiting start.
    func ended(_ program: AnyObject) {
        let wakeup = state.withLock { state in
            state.endCount += 1
            _ = state.running.removeValue(forKey: ObjectIdentifier(program))
            return state.takeFirst()
        }
        wakeup?.end(true)
    }

    /// Wakes the next waiting start.
    func passOn() { state.withLock { $0.takeFirst() }?.end(true) }

    /// Waits until a start may succeed.
    ///
    /// - Parameters:
    ///   - endCount: The count that ``situation`` returned before the start that failed, or nil if no start has been
    ///     tried.
    ///   - atFront: True if this start has waited before, so that it goes to the front of the queue.
    /// - Returns: True if the start is to be tried again; false if none of the running programs can end.
    /// - Throws: `CancellationError` if the task is cancelled while it waits.
    func wait(since endCount: Int?, atFront: Bool) async throws -> Bool {
        let wakeup = Wakeup()
        let pipelines = state.withLock { Array($0.running.values) }
        // The pipes are read without holding the lock of this queue. A task that connects pipes in the meantime starts
        // a program or gives one up, and either brings the end of a program nearer.
        let canEnd = pipelines.contains { $0.allSatisfy(\.isConnected) }
        let step: Step = state.withLock { state in
            if let endCount {
                if state.endCount != endCount { return .again }
                if !canEnd { return .giveUp }
            } else if state.waiting.isEmpty {
                return .again
            }
            return .wait(place: state.enter(wakeup, atFront: atFront))
        }
        let place: Int
        switch step {
        case .again: return true
        case .giveUp: return false
        case .wait(let taken): place = taken
        }
        await withTaskCancellationHandler {
            _ = await wakeup.wait()
        } onCancel: {
            wakeup.end(false)
        }
        if Task.isCancelled {
            let wasInLine = state.withLock { $0.waiting.removeValue(forKey: place) != nil }
            if !wasInLine { passOn() }
            throw CancellationError()
        }
        return true
    }
}
