/// What a run of the benchmark does, in order.
struct Plan {
    let options: Options

    var workloads: [Workload] {
        Workload.allCases.filter { options.workloads?.contains($0) ?? true }
    }

    func counts(_ workload: Workload) -> [Int] {
        options.isQuick ? workload.quickCounts : workload.counts
    }

    func contestants(_ workload: Workload, count: Int) -> [any Contestant] {
        allContestants.filter { contestant in
            guard let largest = contestant.largestCount(workload), count <= largest else { return false }
            // What others are compared with is always there.
            return contestant is SerialLoop || contestant is BareGraph
                || options.contestants?.contains(contestant.name) ?? true
        }
    }

    /// As many as the first says, but not less, and up to the second if there is time.
    func rounds(count: Int) -> ClosedRange<Int> {
        if let rounds = options.rounds { return rounds...rounds }
        if options.isQuick { return 3...9 }
        return count >= 1_000_000 ? 3...3 : 9...21
    }

    /// How long the rounds of one workload at one size may take before they stop short of the largest number.
    var seconds: Double { options.isQuick ? 0.4 : 4 }

    /// When a contestant that is slow beyond measure, as some are on a busy machine, is let go.
    var patience: (seconds: Double, rounds: Int) {
        if options.rounds != nil { return (.infinity, .max) }
        return options.isQuick ? (0.5, 1) : (5, 3)
    }
}
