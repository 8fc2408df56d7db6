import Foundation

/// Runs all contestants of one workload at one size in interleaved rounds, so that whatever slows the machine down for
/// a while slows all of them down.
struct Rounds {
    /// Nanoseconds per operation of one contestant, a value for each round.
    struct Result: Codable {
        let contestant: String
        let samples: [Double]
    }

    /// A sample that is over sooner measures what it comes after: processors to be woken, and caches that others have
    /// filled.
    private static let shortestSample: Nanoseconds = 5e6

    private let job: Job
    private let contestants: [any Contestant]
    /// How many; fewer, but not less than the lower bound, when they take longer than `seconds`.
    private let count: ClosedRange<Int>
    private let seconds: Double
    /// A contestant that alone has taken so long, and has been measured `patience.rounds` times, sits the rest out.
    private let patience: (seconds: Double, rounds: Int)

    init(_ workload: Workload, count: Int, _ plan: Plan) {
        job = Job(workload, count: count)
        contestants = plan.contestants(workload, count: count)
        self.count = plan.rounds(count: count)
        seconds = plan.seconds
        patience = plan.patience
    }

    /// Runs them in a process of their own; nil if it crashed.
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
            // Shuffled: some leave their threads spinning for a while, and who comes next should not always be the
            // same.
            for index in contestants.indices.shuffled(using: &random) {
                if spent[index] > patience.seconds * 1e9 && samples[index].count >= patience.rounds { continue }
                let sample = sample(contestants[index])
                spent[index] += sample.elapsed
                samples[index].append(sample.elapsed / Double(sample.runs * job.count))
            }
        }
        return zip(contestants, samples).map { Result(contestant: $0.name, samples: $1) }
    }

    /// Runs it until the shortest sample is full.
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
    /// The value at a share of the sorted list, 0.5 for the median.
    func quantile(_ share: Double) -> Double {
        sorted()[Int((Double(count - 1) * share).rounded())]
    }

    var median: Double { quantile(0.5) }
}
