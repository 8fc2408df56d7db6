internal import Baton

/// The change of the numbers that an event causes. It is made outside of locks, because it calls the `description` of
/// an error, which is the user's code.
enum LiveChange: Sendable, Equatable {
    enum Outcome: Sendable, Equatable {
        case done
        case failed(String)
        /// The operation needed another one, with this id, that has failed.
        case failedAfter(UInt64, String)
        case cancelled
        case skipped
    }

    /// The operation is known and does not run yet.
    case appeared
    /// The operation waits for an exclusion or a rate.
    case blocked(LiveObstacle)
    /// The operation waits for neither an exclusion nor a rate any more.
    case unblocked
    case started
    /// The operation waits for its next run.
    case paused
    case finished(Outcome)

    /// Makes the change for an event, or nil if the event changes nothing.
    init?(_ kind: OperationEvent.Kind) {
        switch kind {
        case .added, .waiting, .delayed, .evaluating, .ready, .acquiring: self = .appeared
        case .excluded(_, let exclusion): self = .blocked(.exclusion(TerminalText.line(exclusion)))
        case .waitingForRate(let rate): self = .blocked(.rate(TerminalText.line(rate)))
        case .granted: self = .unblocked
        case .started: self = .started
        case .retrying, .repeating: self = .paused
        case .finished(.success, _): self = .finished(.done)
        case .finished(.failure, let error):
            let text = error.map { TerminalText.line("\($0)") } ?? ""
            if case .dependencyFailed(let source, _, _) = error {
                self = .finished(.failedAfter(source.id, text))
            } else {
                self = .finished(.failed(text))
            }
        case .finished(.cancelled, _): self = .finished(.cancelled)
        case .finished(.skipped, _): self = .finished(.skipped)
        case .progress, .produced, .cancelRequested, .misuse, .dropped: return nil
        }
    }
}

/// A reason other than the queue's width for which a ready operation does not start.
enum LiveObstacle: Sendable, Hashable {
    case exclusion(String)
    case rate(String)
}

/// Folds events into numbers. Pure. It keeps a few words for each unfinished operation, and nothing for finished ones.
struct LiveModel: Sendable {
    /// The largest number of stages. Further ones share the last, so that a `stage` closure which returns a new name
    /// for each operation does not use unbounded memory.
    static let maxStages = 2000
    static let overflow = "(others)"
    /// The largest number of failures that are kept between two pictures. Further failures are only counted.
    static let maxNewFailures = 10_000
    static let maxRoots = 100_000

    private struct StageMembership {
        let stage: Int
        var isRunning = false
        /// The obstacle that the operation waits for, if it does not run.
        var obstacle: LiveObstacle?
    }

    private(set) var snapshot = LiveSnapshot()
    private var places: [UInt64: StageMembership] = [:]
    /// The operations whose failure was reported. Failures that they caused are only counted.
    private var roots: Set<UInt64> = []
    private var indices: [String: Int] = [:]
    /// The number of operations that wait for each obstacle, by the index of their stage.
    private var obstacles: [Int: [LiveObstacle: Int]] = [:]
    private var allObstacles: [LiveObstacle: Int] = [:]
    private let keptFailures: Int

    init(keptFailures: Int) { self.keptFailures = max(keptFailures, 0) }

    /// The number of operations that have not finished.
    var openCount: Int { places.count }

    /// Applies a change.
    ///
    /// - Parameter stage: The name of the operation's stage, or nil if the caller has not asked for it. It is needed
    ///   for an operation that is not known yet.
    /// - Returns: False if the operation is not known. The caller then asks for its stage, without a lock, and calls
    ///   again.
    mutating func note(
        _ change: LiveChange, of operation: OperationReference, in stage: String? = nil, at now: Duration
    ) -> Bool {
        guard let place = places[operation.id] ?? stage.map({ admit(operation.id, to: $0) }) else { return false }
        switch change {
        case .appeared:
            // If the operation runs already, the event is older than the snapshot.
            break
        case .blocked(let obstacle): if !place.isRunning { setObstacle(obstacle, of: operation.id, place) }
        case .unblocked: setObstacle(nil, of: operation.id, place)
        case .started:
            setObstacle(nil, of: operation.id, place)
            move(place, toRunning: true)
            places[operation.id]?.isRunning = true
            snapshot.stages[place.stage].recordStart(at: now)
            snapshot.whole.recordStart(at: now)
        case .paused:
            move(place, toRunning: false)
            places[operation.id]?.isRunning = false
        case .finished(let outcome):
            setObstacle(nil, of: operation.id, place)
            places[operation.id] = nil
            count(-1, isRunning: place.isRunning, in: place.stage)
            snapshot.stages[place.stage].recordOutcome(outcome, at: now)
            snapshot.whole.recordOutcome(outcome, at: now)
            switch outcome {
            case .failed(let text):
                keep(LiveFailure(operation: operation.name, text: text), of: operation.id)
            case .failedAfter(let root, let text):
                // If the source failed in another queue, its failure is reported with the first operation that failed
                // because of it.
                if roots.contains(root) || roots.count == Self.maxRoots {
                    snapshot.newDependencyFailures += 1
                } else {
                    keep(LiveFailure(operation: operation.name, text: text), of: root)
                }
            case .done, .cancelled, .skipped: break
            }
        }
        return true
    }

    /// Updates the rates.
    mutating func tick(at now: Duration) {
        for index in snapshot.stages.indices { snapshot.stages[index].tick(at: now) }
        snapshot.whole.tick(at: now)
    }

    private mutating func admit(_ operation: UInt64, to name: String) -> StageMembership {
        let place = StageMembership(stage: index(of: name))
        places[operation] = place
        count(1, isRunning: false, in: place.stage)
        return place
    }

    private mutating func index(of name: String) -> Int {
        if let index = indices[name] { return index }
        if snapshot.stages.count == Self.maxStages { return Self.maxStages - 1 }
        let index = snapshot.stages.count
        let isLast = index == Self.maxStages - 1
        if !isLast { indices[name] = index }
        snapshot.stages.append(LiveStage(name: isLast ? Self.overflow : TerminalText.line(name)))
        return index
    }

    private mutating func move(_ place: StageMembership, toRunning runs: Bool) {
        if place.isRunning == runs { return }
        count(-1, isRunning: place.isRunning, in: place.stage)
        count(1, isRunning: runs, in: place.stage)
    }

    private mutating func count(_ step: Int, isRunning: Bool, in stage: Int) {
        if isRunning {
            snapshot.stages[stage].running += step
            snapshot.whole.running += step
        } else {
            snapshot.stages[stage].waiting += step
            snapshot.whole.waiting += step
        }
        assert(snapshot.whole.running >= 0 && snapshot.whole.waiting >= 0, "Internal inconsistency: a negative count")
    }

    private mutating func setObstacle(_ obstacle: LiveObstacle?, of operation: UInt64, _ place: StageMembership) {
        if place.obstacle == obstacle { return }
        places[operation]?.obstacle = obstacle
        if let former = place.obstacle { count(-1, waitingFor: former, in: place.stage) }
        if let obstacle { count(1, waitingFor: obstacle, in: place.stage) }
    }

    private mutating func count(_ step: Int, waitingFor obstacle: LiveObstacle, in stage: Int) {
        Self.count(step, obstacle, in: &obstacles[stage, default: [:]])
        Self.count(step, obstacle, in: &allObstacles)
        switch obstacle {
        case .exclusion:
            snapshot.stages[stage].excluded += step
            snapshot.whole.excluded += step
        case .rate:
            snapshot.stages[stage].paced += step
            snapshot.whole.paced += step
        }
    }

    private static func count(_ step: Int, _ obstacle: LiveObstacle, in counts: inout [LiveObstacle: Int]) {
        let count = (counts[obstacle] ?? 0) + step
        assert(count >= 0, "Internal inconsistency: fewer than no operations wait for \(obstacle)")
        counts[obstacle] = count == 0 ? nil : count
        // A new dictionary releases the storage that many names have used.
        if counts.isEmpty { counts = [:] }
    }

    /// Stores the name of the obstacle of each stage whose operations all wait for the same one.
    private mutating func updateObstacles() {
        for stage in snapshot.stages.indices {
            snapshot.stages[stage].updateObstacle(from: obstacles[stage] ?? [:])
        }
        snapshot.whole.updateObstacle(from: allObstacles)
    }

    /// Returns the snapshot, and resets the failures that it reports as new.
    mutating func takeSnapshot() -> LiveSnapshot {
        updateObstacles()
        defer {
            snapshot.newFailures = []
            snapshot.newDependencyFailures = 0
            snapshot.unreportedFailures = 0
        }
        return snapshot
    }

    private mutating func keep(_ failure: LiveFailure, of root: UInt64) {
        if roots.count < Self.maxRoots { roots.insert(root) }
        if snapshot.newFailures.count < Self.maxNewFailures {
            snapshot.newFailures.append(failure)
        } else {
            snapshot.unreportedFailures += 1
        }
        if snapshot.failures.count >= keptFailures, !snapshot.failures.isEmpty { snapshot.failures.removeFirst() }
        if keptFailures > 0 { snapshot.failures.append(failure) }
    }
}
