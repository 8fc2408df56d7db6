/// Formats the sentences of explanations, snapshots and reports: why an operation has not finished, and what to do
/// about it, if anything.
enum ExplanationFormatter {
    /// Returns what the operation waits for. Exclusions are left out, because the sentence for the cause describes
    /// them.
    static func sentences(for waits: [OperationWait], of operation: OperationReference) -> [String] {
        var awaited: [String] = []
        var sentences: [String] = []
        for wait in waits {
            switch wait.kind {
            case .input, .order, .child, .awaited, .element: awaited.append("\(wait.source)")
            case .barrier: awaited.append("the barrier \(wait.source)")
            case .original: sentences.append("\(operation) shares the outcome of \(wait.source).")
            case .replaced: sentences.append("\(operation) has replaced \(wait.source), and waits for its end.")
            case .exclusion: break
            }
        }
        if !awaited.isEmpty { sentences.insert("\(operation) waits for \(list(awaited)).", at: 0) }
        return sentences
    }

    static func sentence(for cause: Explanation.Cause, of operation: OperationReference) -> String {
        switch cause {
        case .notAdded:
            "\(operation) was not added to any queue: add it, or use `run` or `add(to:)`."
        case .queueSuspended(let queue):
            "\(operation) is ready, and its queue\(name(of: queue)) is suspended: set its `isSuspended` to false."
        case .queueFull(let queue, let width, let running):
            "\(operation) is ready, and waits for its turn in \(place(queue, width, running))."
        case .starting: "\(operation) is about to start."
        case .delayed(let left): "\(operation) is in its delay, of which \(text(left)) are left."
        case .retrying(let attempt, let left, let error):
            "\(operation) waits \(text(left)) for attempt \(attempt), because the last one failed: \(error)."
        case .repeating(let left): "\(operation) repeats, and waits \(text(left)) for its next run."
        case .evaluating(let conditions):
            "\(operation) waits for the answer of \(list(conditions.map { "the condition ‘\($0)’" }))."
        case .excluded(let holder, let exclusion): "\(operation) waits for the exclusion \(exclusion), after \(holder)."
        case .waitingForRate(let rate, let left, let count):
            "\(operation) waits for the rate \(rate), "
                + (count == 0 ? "" : "behind \(count) \(count == 1 ? "other" : "others"), ")
                + "and may start in \(text(left))."
        case .executing(let attempt, let time, let isCancelled):
            "\(operation) \(time.map { "has been executing for \(text($0))" } ?? "is executing")"
                + (attempt > 1 ? ", attempt \(attempt)" : "")
                + (isCancelled ? ", although it was cancelled: let its body look at `Task.isCancelled`." : ".")
        case .awaitingCallback(let attempt, let time, let isCancelled):
            "\(operation) \(time.map { "has been waiting \(text($0)) for its callback" } ?? "waits for its callback")"
                + (attempt > 1 ? ", attempt \(attempt)" : "")
                + (isCancelled
                    ? ", although it was cancelled: let `onCancel` of the callback end what is to call it."
                    : ", which nobody has called yet.")
        case .awaitingElement: "\(operation) waits for the next element of a sequence."
        case .finishing: "\(operation) waits for its willFinish handlers."
        case .waitingForPermit(let queue, let width, let running):
            "\(operation) can go on when there is a free permit in \(place(queue, width, running))."
        case .finished(let outcome): "\(operation) has finished: \(outcome)."
        }
    }

    /// Says what a cancelled operation still waits for. Nil if the sentence for the cause says so already.
    static func cancelSentence(for cause: Explanation.Cause) -> String? {
        switch cause {
        case .evaluating: "It was cancelled, and finishes when the condition has answered."
        case .finishing: "It was cancelled, and finishes when these handlers have returned."
        case .waitingForPermit: "It was cancelled, and its body finds that out when it goes on."
        case .awaitingElement: "It was cancelled: let the sequence end when `Task.isCancelled` is true."
        case .notAdded, .queueSuspended, .queueFull, .starting, .delayed, .retrying, .repeating, .excluded,
            .waitingForRate, .executing, .awaitingCallback, .finished:
            nil
        }
    }

    static func attemptsPassSuspension(of queue: QueueReference) -> String {
        "Its queue\(name(of: queue)) is suspended, which does not hold further attempts back: set its `suspendsFurtherAttempts` for that."
    }

    static func list(_ names: [String]) -> String {
        let more = names.count - Explanation.maxListed
        return names.prefix(Explanation.maxListed).joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
    }

    /// Formats a duration to the millisecond, since nobody reads more digits. Durations that are practically endless
    /// are cut.
    static func text(_ duration: Duration) -> String {
        duration >= readableDuration ? "30 years or more" : "\((duration / .milliseconds(1)).rounded() / 1000) seconds"
    }

    private static let readableDuration = Duration.seconds(30 * 365 * 24 * 60 * 60)

    private static func name(of queue: QueueReference) -> String { queue.name.map { " ‘\($0)’" } ?? "" }

    private static func place(_ queue: QueueReference, _ width: Int, _ running: [OperationReference]) -> String {
        let place = (queue.name.map { "‘\($0)’, " } ?? "") + "a queue of width \(width)"
        if running.isEmpty { return place }
        let names = running.map(\.description).joined(separator: ", ")
        if running.count == Explanation.maxListed, width > running.count {
            return "\(place), where \(names) and others run"
        }
        return "\(place), where \(names) \(running.count == 1 ? "runs" : "run")"
    }
}
