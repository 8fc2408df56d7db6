/// One workload at one size, ready for contestants.
struct Job: Sendable {
    let workload: Workload
    let count: Int
    let graph: Graph
    /// The number of iterations of `spin` in a body.
    let iterations: Int

    init(_ workload: Workload, count: Int) {
        self.workload = workload
        self.count = count
        graph = Graph(workload, count: count)
        iterations = workload.bodyMicroseconds * spinsPerMicrosecond
    }
}
