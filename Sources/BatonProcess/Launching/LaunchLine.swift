internal import Baton

/// Who waits to start a program because all descriptors, or all processes, that there may be are in use.
///
/// One of them tries again whenever a program ends. If none of those that run can end, because each waits for another
/// program of its pipeline, the start fails.
final class LaunchLine: Sendable {
    private struct State {
        /// The pipes of each program that runs.
        var running: [ObjectIdentifier: [ProgramPipe]] = [:]
        /// How many programs have ended.
        var endCount = 0
        /// By their places in the line.
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

    /// Before a start is tried: how many programs have ended, and whether others wait.
    var situation: (endCount: Int, isBusy: Bool) { state.withLock { ($0.endCount, !$0.waiting.isEmpty) } }

    func launched(_ program: AnyObject, _ pipeline: [ProgramPipe]) {
        state.withLock { $0.running[ObjectIdentifier(program)] = pipeline }
    }

    /// The program has ended, and its descriptors are closed.
    func ended(_ program: AnyObject) {
        let wakeup = state.withLock { state in
            state.endCount += 1
            _ = state.running.removeValue(forKey: ObjectIdentifier(program))
            return state.takeFirst()
        }
        wakeup?.end(true)
    }

    /// The next one may try, too.
    func passOn() { state.withLock { $0.takeFirst() }?.end(true) }

    /// Waits until a start may succeed.
    ///
    /// - Parameters:
    ///   - endCount: What ``situation`` was before the start that failed; nil: none has been tried.
    ///   - atFront: It has waited before.
    /// - Returns: False: no program that runs can end.
    func wait(since endCount: Int?, atFront: Bool) async throws -> Bool {
        let wakeup = Wakeup()
        let pipelines = state.withLock { Array($0.running.values) }
        // Looked at without the lock. Who connects pipes meanwhile starts a program, or gives one up: both bring an end
        // nearer.
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
