import Foundation

/// Runs all contestants of one workload at one size in interleaved rounds, so that a temporary slowdown of the machine
/// affects all of them.
struct Rounds {
    /// The nanoseconds per operation of one contestant, one value for each round.
    struct Result: Codable {
        let contestant: String
        let samples: [Double]
    }

    /// The minimum duration of a sample. A shorter one would mostly measure the effects of the previous sample:
    /// sleeping processors and foreign cache contents.
    private static let shortestSample: Nanoseconds = 5e6

    private let job: Job
    private let contestants: [any Contestant]
    /// The number of rounds: fewer than the upper bound, but at least the lower bound, if they take longer than
    /// `seconds`.
    private let count: ClosedRange<Int>
    private let seconds: Double
    /// A contestant that has taken `patience.seconds` and has been measured `patience.rounds` times skips the remaining
    /// rounds.
    private let patience: (seconds: Double, rounds: Int)

    init(_ workload: Workload, count: Int, _ plan: Plan) {
        job = Job(workload, count: count)
        contestants = plan.contestants(workload, count: count)
        self.count = plan.rounds(count: count)
        seconds = plan.seconds
        patience = plan.patience
    }

    /// Runs the rounds in a process of their own. Returns nil if that crashed.
    static func inChild(_ workload: Workload, count: Int, _ plan: Plan) -> [Result]? {
        Child.run(workload, count: count, plan.options.arguments).flatMap {
            try? JSONDecoder().decode([Result].self, from: $0)
        }
    }

    func run() -> [Result] {
        warmUp()
        var samples = [[Double]](repeating: [], count: contestants.count)
        var random = Xorshift()
        var spent = [Nanoseconds](repeating: 0, count: contestants.count)
        for round in 0..<count.upperBound {
            if round >= count.lowerBound && spent.reduce(0, +) > seconds * 1e9 { break }
            // The order is shuffled, because some contestants leave threads spinning, which should not always affect
            // the same successor.
            for index in contestants.indices.shuffled(using: &random) {
                if spent[index] > patience.seconds * 1e9 && samples[index].count >= patience.rounds { continue }
                let sample = sample(contestants[index])
                spent[index] += sample.elapsed
                samples[index].append(sample.elapsed / Double(sample.runs * job.count))
            }
        }
        return zip(contestants, samples).map { Result(contestant: $0.name, samples: $1) }
    }

    /// Runs the contestant repeatedly until the minimum duration of a sample is reached.
    private func sample(_ contestant: some Contestant) -> (elapsed: Nanoseconds, runs: Int) {
        var (elapsed, runs) = (Nanoseconds.zero, 0)
        repeat {
            elapsed += contestant.run(job)
            runs += 1
        } while elapsed < Self.shortestSample
        return (elapsed, runs)
    }

    private func warmUp() {
        let small = Job(job.workload, count: min(job.count, 500))
        for contestant in contestants { _ = contestant.run(small) }
    }
}

extension [Double] {
    /// Returns a quantile, for example the median for a share of 0.5.
    func quantile(_ share: Double) -> Double {
        sorted()[Int((Double(count - 1) * share).rounded())]
    }

    var median: Double { quantile(0.5) }
}
