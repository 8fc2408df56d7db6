/// Something that runs operations.
protocol Contestant: Sendable {
    /// Its name in tables, in the JSON file and after `--only`.
    var name: String { get }

    /// The largest size it takes part in, nil if it cannot do the workload at all.
    func largestCount(_ workload: Workload) -> Int?

    /// Does the job from creation to release and says how long it took.
    ///
    /// Called on the main thread, which it may block.
    func run(_ job: Job) -> Nanoseconds
}

/// All of them; ours is first, because ratios are to it.
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
