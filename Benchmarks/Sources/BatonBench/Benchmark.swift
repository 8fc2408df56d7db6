/// Runs the plan, and prints each table as soon as it is complete.
struct Benchmark {
    let plan: Plan
    private var measurements = Measurements()

    init(_ options: Options) { plan = Plan(options: options) }

    mutating func run() -> Measurements {
        for workload in plan.workloads {
            for count in plan.counts(workload) {
                switch workload {
                case .memory: memory(count)
                case .release: release(count)
                default: time(workload, count)
                }
            }
        }
        targets()
        return measurements
    }

    private mutating func time(_ workload: Workload, _ count: Int) {
        if plan.contestants(workload, count: count).isEmpty { return }
        let name = workload.rawValue
        say("\n\(name): \(workload.title), n = \(count.grouped)")
        guard let results = Rounds.inChild(workload, count: count, plan) else { return say("crashed") }
        let ours = results.first { $0.contestant == BatonContestant.name }?.samples.median
        let serial = results.first { $0.contestant == SerialLoop.name }?.samples.median
        let compared = serial == nil ? "to Baton" : "speed-up"
        var table = Table("", "ns/op", "quartiles", "rounds", compared)
        for result in results {
            let (contestant, samples) = (result.contestant, result.samples)
            let median = samples.median
            let ratio = serial.map { $0 / median } ?? ours.map { median / $0 }
            table.add(
                contestant,
                median.short,
                "\(samples.quantile(0.25).short)–\(samples.quantile(0.75).short)",
                "\(samples.count)",
                ratio.map { "\($0.short) ×" } ?? ""
            )
            measurements.add(name, contestant, n: count, nanoseconds: median)
        }
        say(table.text)
    }

    private mutating func memory(_ count: Int) {
        say("\n\(Workload.memory.title), n = \(count.grouped), a process each")
        var table = Table("", "bytes/op", "to Baton")
        for workload in MemoryUse.workloads {
            let contestants = plan.contestants(workload, count: count)
            for contestant in MemoryUse.contestants(workload, contestants) {
                let bytes = MemoryUse.run(workload, contestant, count: count)
                if let bytes { measurements.add(bytes: bytes, workload.rawValue, contestant.name, n: count) }
                let ours = measurements.bytes(workload.rawValue, BatonContestant.name)
                let ratio = bytes.flatMap { bytes in ours.map { "\((bytes / $0).short) ×" } } ?? ""
                table.add("\(workload.rawValue): \(contestant.name)", bytes?.short ?? "crashed", ratio)
            }
        }
        say(table.text)
    }

    private mutating func release(_ count: Int) {
        say("\n\(Workload.release.title), n = \(count.grouped), a process each")
        var table = Table("", "ns/op")
        for release in Release.allCases {
            let nanoseconds = release.run(count: count)
            table.add(release.title, nanoseconds?.short ?? "crashed")
            // A crash is recorded as infinite time, so that it meets no limit.
            measurements.add(release.rawValue, BatonContestant.name, n: count, nanoseconds: nanoseconds ?? .infinity)
        }
        say(table.text)
    }

    private func targets() {
        var table = Table("target", "", "measured", "", leading: 2)
        var isEmpty = true
        for target in Target.all {
            guard let (promise, measured, isMet) = target.check(measurements) else { continue }
            table.add(target.workload, promise, measured, isMet ? "met" : "MISSED")
            isEmpty = false
        }
        if !isEmpty { say("\n" + table.text) }
    }
}
