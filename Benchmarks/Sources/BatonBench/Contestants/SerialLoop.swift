/// A loop without scheduling. It measures the cost of the bodies alone, on one core.
struct SerialLoop: Contestant {
    static let name = "serial loop"
    var name: String { Self.name }

    func largestCount(_ workload: Workload) -> Int? { workload.bodyMicroseconds > 0 ? .max : nil }

    func run(_ job: Job) -> Nanoseconds {
        measure { for _ in 0..<job.count { spin(job.iterations) } }
    }
}
