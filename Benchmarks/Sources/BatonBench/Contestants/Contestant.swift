/// A framework that runs the operations of a workload.
protocol Contestant: Sendable {
    /// The name in tables, in the JSON file and after `--only`.
    var name: String { get }

    /// Returns the largest size at which the contestant takes part, or nil if it cannot run the workload.
    func largestCount(_ workload: Workload) -> Int?

    /// Runs the job from creation to release, and returns the time it took.
    ///
    /// Called on the main thread, which it may block.
    func run(_ job: Job) -> Nanoseconds
}

/// All contestants. Baton is the first, because ratios are relative to the first.
let allContestants: [any Contestant] = {
    var all: [any Contestant] = [
        BatonContestant(),
        FoundationContestant(width: nil),
        FoundationContestant(width: 1),
        FoundationContestant(width: 2),
        TaskGroupContestant(),
        TaskContestant(),
        DispatchContestant(),
    ]
    #if ONETBB
        all.append(OneTBBContestant())
    #endif
    all.append(BareGraph())
    all.append(SerialLoop())
    return all
}()
