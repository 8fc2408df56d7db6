/// The measurements of a run of the benchmark, in order.
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
            // Baselines always take part.
            return contestant is SerialLoop || contestant is BareGraph
                || options.contestants?.contains(contestant.name) ?? true
        }
    }

    /// Returns the numbers of rounds: at least the lower bound, and up to the upper bound if there is time.
    func rounds(count: Int) -> ClosedRange<Int> {
        if let rounds = options.rounds { return rounds...rounds }
        if options.isQuick { return 3...9 }
        return count >= 1_000_000 ? 3...3 : 9...21
    }

    /// The seconds after which the rounds of one workload at one size end, once the lower bound is reached.
    var seconds: Double { options.isQuick ? 0.4 : 4 }

    /// The seconds and rounds after which a very slow contestant, as there are on a busy machine, is no longer
    /// measured.
    var patience: (seconds: Double, rounds: Int) {
        if options.rounds != nil { return (.infinity, .max) }
        return options.isQuick ? (0.5, 1) : (5, 3)
    }
}
