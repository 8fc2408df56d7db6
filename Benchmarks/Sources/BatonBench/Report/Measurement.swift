import Foundation

/// The result of one contestant for one workload at one size.
struct Measurement: Codable {
    let workload: String
    let contestant: String
    let n: Int
    /// The median of all rounds.
    var nanosecondsPerOperation: Double
    /// The bytes per operation, if memory was measured.
    var bytesPerOperation: Double?
}

/// All measurements of this run.
struct Measurements {
    private(set) var all: [Measurement] = []

    mutating func add(_ workload: String, _ contestant: String, n: Int, nanoseconds: Double) {
        all.append(Measurement(workload: workload, contestant: contestant, n: n, nanosecondsPerOperation: nanoseconds))
    }

    /// Adds the memory to the earlier time measurement. Memory without a time, as with `--workload memory`, is not
    /// recorded.
    mutating func add(bytes: Double, _ workload: String, _ contestant: String, n: Int) {
        bytesMeasured["\(workload) \(contestant)"] = bytes
        for index in all.indices where all[index].workload == workload {
            if all[index].contestant == contestant && all[index].n == n { all[index].bytesPerOperation = bytes }
        }
    }

    func nanoseconds(_ workload: String, _ contestant: String, n: Int) -> Double? {
        all.first { $0.workload == workload && $0.contestant == contestant && $0.n == n }?.nanosecondsPerOperation
    }

    func bytes(_ workload: String, _ contestant: String) -> Double? { bytesMeasured["\(workload) \(contestant)"] }

    /// Returns the exponent x with which the total time grows as nˣ between two sizes.
    func exponent(_ workload: String, _ contestant: String, from small: Int, to large: Int) -> Double? {
        guard let first = nanoseconds(workload, contestant, n: small),
            let last = nanoseconds(workload, contestant, n: large)
        else { return nil }
        return 1 + log2(last / first) / log2(Double(large) / Double(small))
    }

    private var bytesMeasured: [String: Double] = [:]
}
