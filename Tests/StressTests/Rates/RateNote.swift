import Baton
import BatonTesting

/// A rate that operations of a round share. Its text differs from round to round, like that of a name.
struct RateNote: Sendable {
    let count: Int
    let period: Duration
    let burst: Int

    func made(_ number: Int, at site: Site) -> Rate {
        .rate("\(site.namePrefix) rate \(number)", count, per: period, burst: burst)
    }

    /// Returns true if an operation that starts then starts too early after the others, which are in order (the
    /// generic cell rate algorithm).
    func forbids(_ start: Duration, after others: [Duration]) -> Bool {
        others.reversed().enumerated().contains { place, other in
            // The number of starts from the other one to this one, both included.
            let number = place + 2
            return start - other < period / count * max(0, number - burst)
        }
    }
}

extension Graph {
    static func rate(_ random: inout SeededRandom) -> RateNote {
        let count = random.number(1...6)
        return RateNote(count: count, period: .ticks(count * random.number(1...4)), burst: random.number(1...count))
    }

    /// Adds rates to some nodes. Nodes with an executor of their own have none, because their bodies begin a little
    /// after their starts were counted.
    mutating func pace(_ random: inout SeededRandom) {
        if !random.isLucky(percent: 30) { return }
        rates = (0..<random.number(1...3)).map { _ in Self.rate(&random) }
        for index in nodes.indices where !nodes[index].hasExecutor && random.isLucky(percent: 30) {
            nodes[index].rates = Set(random.some(random.pick([1, 1, 2]), of: Array(rates.indices))).sorted()
        }
    }
}

extension Site {
    /// Checks the rates of a node when its body begins. Call this on the body's own task.
    func started(_ node: Node) {
        guard let scheduler, !node.rates.isEmpty else { return }
        let time = start.duration(to: scheduler.clock.now)
        for rate in node.rates {
            let others = starts.withLock { starts in
                defer { starts[rate, default: []].append(time) }
                return starts[rate] ?? []
            }
            if recorder.graph.rates[rate].forbids(time, after: others) {
                recorder.violation(
                    "n\(node.id) started at \(time), too early for rate \(rate) after \(others.suffix(8))")
            }
        }
    }
}
