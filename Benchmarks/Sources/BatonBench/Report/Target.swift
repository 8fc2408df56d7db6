/// A performance target of Baton, and the check whether a run meets it.
struct Target {
    enum Requirement {
        /// Baton is at least `times` times as fast as another contestant.
        case faster(than: String, n: Int, times: Double)
        /// Baton takes at most `atMost` times the time of another contestant.
        case slower(than: String, n: Int, atMost: Double)
        /// The total time grows at most as n to the power of `exponent`.
        case growth(from: Int, to: Int, exponent: Double)
        case nanoseconds(n: Int, atMost: Double)
        /// Baton takes at most `atMost` nanoseconds more than another contestant for each of the `events` of an
        /// operation.
        case more(than: String, n: Int, events: Double, atMost: Double)
        case bytes(atMost: Double)
        /// Baton needs at most 1/`times` of the memory of another contestant.
        case smaller(than: String, times: Double)
    }

    let workload: String
    let requirement: Requirement

    static let all: [Target] =
        [
            Target("a", .faster(than: "OperationQueue", n: 100_000, times: 12)),
            Target("a", .faster(than: "TaskGroup", n: 100_000, times: 8)),
            Target("b", .faster(than: "OperationQueue width 1", n: 100_000, times: 18)),
            Target("b", .faster(than: "OperationQueue", n: 1000, times: 500)),
            Target("b", .faster(than: "Task", n: 100_000, times: 6)),
            Target("c", .faster(than: "OperationQueue width 2", n: 10_000, times: 15)),
            Target("d", .faster(than: "OperationQueue width 2", n: 10_000, times: 8)),
            Target("d", .faster(than: "Task", n: 10_000, times: 3)),
            Target("e", .faster(than: "OperationQueue width 1", n: 100_000, times: 9)),
            Target("f", .slower(than: BareGraph.name, n: 100_000, atMost: 3.5)),
            Target("j", .slower(than: BareGraph.name, n: 100_000, atMost: 1.5)),
            Target("g", .growth(from: 10_000, to: 100_000, exponent: 1.1)),
            Target("g-deep", .growth(from: 10_000, to: 100_000, exponent: 1.1)),
            Target("h1", .faster(than: SerialLoop.name, n: 100_000, times: 1.5)),
            Target("h10", .faster(than: SerialLoop.name, n: 10_000, times: 1.85)),
            Target("i", .growth(from: 10_000, to: 100_000, exponent: 1.1)),
            Target("i-reversed", .growth(from: 10_000, to: 100_000, exponent: 1.1)),
            Target("k", .growth(from: 10_000, to: 100_000, exponent: 1.1)),
            Target("k", .nanoseconds(n: 100_000, atMost: 1000)),
            Target(
                "l",
                .more(
                    than: BareGraph.name, n: 100_000, events: BatonContestant.eventsOfOperation, atMost: 300)),
            Target("a", .bytes(atMost: 184)),
            Target("a", .smaller(than: "OperationQueue", times: 5)),
            Target("a", .smaller(than: "TaskGroup", times: 7)),
        ]
        + ["a", "b", "c", "d", "e"].map { Target($0, .growth(from: 10_000, to: 1_000_000, exponent: 1.1)) }
        + Release.allCases.map { Target($0.rawValue, .nanoseconds(n: 1_000_000, atMost: 100)) }

    init(_ workload: String, _ requirement: Requirement) {
        self.workload = workload
        self.requirement = requirement
    }

    /// Returns the target and the measured value as text, and whether the target is met, or nil if this run did not
    /// measure it.
    func check(_ measurements: Measurements) -> (promise: String, measured: String, isMet: Bool)? {
        let ours = BatonContestant.name
        switch requirement {
        case .faster(let other, let n, let times):
            guard let mine = measurements.nanoseconds(workload, ours, n: n),
                let theirs = measurements.nanoseconds(workload, other, n: n)
            else { return nil }
            let ratio = theirs / mine
            return ("\(times.short) × as fast as \(other), n = \(n.grouped)", "\(ratio.short) ×", ratio >= times)
        case .slower(let other, let n, let times):
            guard let mine = measurements.nanoseconds(workload, ours, n: n),
                let theirs = measurements.nanoseconds(workload, other, n: n)
            else { return nil }
            let ratio = mine / theirs
            return (
                "at most \(times.short) × the time of \(other), n = \(n.grouped)", "\(ratio.short) ×", ratio <= times
            )
        case .growth(let small, let large, let limit):
            guard let exponent = measurements.exponent(workload, ours, from: small, to: large) else { return nil }
            let range = "\(small.grouped) to \(large.grouped)"
            return ("exponent at most \(limit.short), \(range)", exponent.short, exponent <= limit)
        case .nanoseconds(let n, let limit):
            guard let mine = measurements.nanoseconds(workload, ours, n: n) else { return nil }
            let measured = mine.isFinite ? "\(mine.short) ns" : "crashed"
            return ("at most \(limit.short) ns each, n = \(n.grouped)", measured, mine <= limit)
        case .more(let other, let n, let events, let limit):
            guard let mine = measurements.nanoseconds(workload, ours, n: n),
                let theirs = measurements.nanoseconds(workload, other, n: n)
            else { return nil }
            let each = (mine - theirs) / events
            return (
                "at most \(limit.short) ns an event more than \(other), n = \(n.grouped)", "\(each.short) ns",
                each <= limit
            )
        case .bytes(let limit):
            guard let mine = measurements.bytes(workload, ours) else { return nil }
            return ("at most \(limit.short) bytes each", "\(mine.short) bytes", mine <= limit)
        case .smaller(let other, let times):
            guard let mine = measurements.bytes(workload, ours), let theirs = measurements.bytes(workload, other)
            else { return nil }
            let ratio = theirs / mine
            return ("at most 1/\(times.short) of the memory of \(other)", "1/\(ratio.short)", ratio >= times)
        }
    }
}
