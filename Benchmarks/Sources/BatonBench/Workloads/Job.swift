/// One workload at one size, ready to be handed to contestants.
struct Job: Sendable {
    let workload: Workload
    let count: Int
    let graph: Graph
    /// How often a body goes round `spin`.
    let iterations: Int

    init(_ workload: Workload, count: Int) {
        self.workload = workload
        self.count = count
        graph = Graph(workload, count: count)
        iterations = workload.bodyMicroseconds * spinsPerMicrosecond
    }
}
