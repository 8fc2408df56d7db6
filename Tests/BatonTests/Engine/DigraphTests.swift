import Testing

@testable import Baton

@Suite("A graph of numbers finds its cycles") struct DigraphTests {
    private func graph(_ edges: [[Int]]) -> Digraph {
        var graph = Digraph()
        for targets in edges {
            for target in targets { graph.addEdge(to: target) }
            graph.closeNode()
        }
        return graph
    }

    private func isCycle(_ cycle: [Int], of edges: [[Int]]) -> Bool {
        Set(cycle).count == cycle.count
            && zip(cycle, cycle.dropFirst() + cycle.prefix(1)).allSatisfy { edges[$0].contains($1) }
    }

    @Test("Without a cycle there is no component")
    func noCycle() {
        #expect(!graph([]).hasCycle)
        #expect(!graph([[], [0], [0, 1], [1, 2, 2]]).hasCycle)
    }

    @Test("A node that leads to itself is a component")
    func loop() {
        #expect(graph([[1], [1]]).cyclicComponents() == [[1]])
    }

    @Test("Each component is found, and a node that leads from one to another belongs to neither")
    func components() {
        // One component is 0 and 1, another one is 3 to 5. Node 2 is between them.
        let found = graph([[1], [0, 2], [3], [4], [5], [3]]).cyclicComponents()
        #expect(Set(found.map { Set($0) }) == [[0, 1], [3, 4, 5]])
    }

    @Test("A chain of a million nodes is walked without recursion")
    func deep() {
        let count = 1_000_000
        var chain = Digraph()
        for node in 0..<count {
            if node > 0 { chain.addEdge(to: node - 1) }
            if node == 0 { chain.addEdge(to: count - 1) }
            chain.closeNode()
        }
        #expect(chain.cyclicComponents().map(\.count) == [count])
    }

    @Test("A part of a graph has the edges between its nodes")
    func part() {
        var numbers = [Int32](repeating: 0, count: 4)
        let part = graph([[1, 2], [3], [0, 2], [1, 0]]).inducedSubgraph(of: [1, 3], scratch: &numbers)
        #expect(part.count == 2)
        #expect(Array(part[0]) == [1])
        #expect(Array(part[1]) == [0])
    }

    @Test("The first cycle is a shortest one through the root")
    func firstCycle() {
        let edges = [[1, 3], [2], [0], [0]]
        let cycles = graph(edges).cycleOfEachNode(root: 0) { _ in true }
        #expect(cycles.all == [[0, 3], [1, 2, 0]])
        #expect(cycles.cycleIndices == [0, 1, 1, 0])
        #expect(cycles.next == [3, 2, 0, 0])
    }

    @Test("A search returns for each node of a component a cycle that contains it")
    func cycleOfEachNode() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<500 {
            let count = Int.random(in: 1...30, using: &random)
            let edges = (0..<count).map { _ in
                (0..<Int.random(in: 0...3, using: &random)).map { _ in Int.random(in: 0..<count, using: &random) }
            }
            let whole = graph(edges)
            var numbers = [Int32](repeating: 0, count: count)
            for nodes in whole.cyclicComponents() {
                let part = whole.inducedSubgraph(of: nodes, scratch: &numbers)
                let partEdges = (0..<part.count).map { part[$0].map { Int($0) } }
                let cycles = part.cycleOfEachNode(root: 0) { _ in true }
                for node in 0..<part.count {
                    let cycle = cycles.all[cycles.cycleIndices[node]]
                    #expect(cycle.contains(node) && isCycle(cycle, of: partEdges), "\(cycle) in \(partEdges)")
                    #expect(cycles.next[node] == cycle[(cycle.firstIndex(of: node)! + 1) % cycle.count])
                }
            }
        }
    }

    @Test("Long cycles that are stored once each take at most several times the space of the graph")
    func room() {
        // All cycles share one long path, and there are many ways back.
        let (length, width) = (2_000, 2_000)
        var edges = (0..<length).map { [$0 + 1] }
        edges[length - 1] = Array(length..<length + width)
        edges += Array(repeating: [0], count: width)
        let cycles = graph(edges).cycleOfEachNode(root: 0) { _ in true }
        #expect(cycles.all.reduce(0) { $0 + $1.count } < 50 * (length + 2 * width))
        #expect(cycles.cycleIndices.allSatisfy { $0 >= 0 })
    }
}
