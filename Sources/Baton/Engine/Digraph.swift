/// A directed graph whose nodes are numbered from 0, for the search for cycles. A pure value that knows nothing of
/// operations.
///
/// Nodes are closed in the order of their numbers: first the edges of node 0 are added, then those of node 1, and so
/// on.
struct Digraph {
    private var targets: [Int32] = []
    /// For each closed node, the index in `targets` after its last edge.
    private var ends: [Int] = []

    var count: Int { ends.count }
    var edgeCount: Int { targets.count }

    /// Adds an edge to the node that is closed next.
    mutating func addEdge(to target: Int) { targets.append(Int32(target)) }

    mutating func closeNode() { ends.append(targets.count) }

    subscript(node: Int) -> ArraySlice<Int32> { targets[edges(of: node)] }

    private func edges(of node: Int) -> Range<Int> { (node == 0 ? 0 : ends[node - 1])..<ends[node] }

    // MARK: Components

    var hasCycle: Bool { !cyclicComponents().isEmpty }

    /// Returns the strongly connected components that contain a cycle.
    ///
    /// This is Tarjan's algorithm with an explicit stack instead of recursion.
    ///
    /// - Complexity: O(*n* + *e*) for *n* nodes and *e* edges.
    func cyclicComponents() -> [[Int]] {
        let unvisited = Int32(-1)
        var components: [[Int]] = []
        var numbers = [Int32](repeating: unvisited, count: count)
        var lowest = [Int32](repeating: 0, count: count)
        var isOpen = [Bool](repeating: false, count: count)
        var open: [Int] = []
        var path: [(node: Int, edge: Int)] = []
        var next: Int32 = 0
        func visit(_ node: Int) {
            numbers[node] = next
            lowest[node] = next
            next += 1
            isOpen[node] = true
            open.append(node)
            path.append((node, edges(of: node).lowerBound))
        }
        for start in 0..<count where numbers[start] == unvisited {
            visit(start)
            while let (node, edge) = path.last {
                if edge < ends[node] {
                    path[path.count - 1].edge += 1
                    let target = Int(targets[edge])
                    if numbers[target] == unvisited {
                        visit(target)
                    } else if isOpen[target] {
                        lowest[node] = min(lowest[node], numbers[target])
                    }
                    continue
                }
                path.removeLast()
                if let parent = path.last?.node { lowest[parent] = min(lowest[parent], lowest[node]) }
                if lowest[node] != numbers[node] { continue }
                let first = open.lastIndex(of: node)!
                let component = Array(open[first...])
                open.removeSubrange(first...)
                for member in component { isOpen[member] = false }
                if component.count > 1 || self[node].contains(Int32(node)) { components.append(component) }
            }
        }
        return components
    }

    /// Returns the subgraph induced by `nodes`. Node *i* of the result is `nodes[i]`.
    ///
    /// - Parameter numbers: A buffer with one element for each node of this graph. The elements at `nodes` are
    ///   overwritten.
    func inducedSubgraph(of nodes: [Int], scratch numbers: inout [Int32]) -> Digraph {
        for (number, node) in nodes.enumerated() { numbers[node] = Int32(number) }
        var part = Digraph()
        for node in nodes {
            for target in self[node] {
                let number = Int(numbers[Int(target)])
                if number < nodes.count, nodes[number] == Int(target) { part.addEdge(to: number) }
            }
            part.closeNode()
        }
        return part
    }

    private var reversed: Digraph {
        var sources = [[Int32]](repeating: [], count: count)
        for node in 0..<count {
            for target in self[node] { sources[Int(target)].append(Int32(node)) }
        }
        var reversed = Digraph()
        for node in 0..<count {
            reversed.targets += sources[node]
            reversed.closeNode()
        }
        return reversed
    }

    // MARK: Cycles

    /// Returns a shortest cycle through `node` of included nodes, which begins with it. Nil if there is none.
    ///
    /// - Complexity: O(*n* + *e*) for *n* nodes and *e* edges.
    func cycle(through node: Int, where isIncluded: (Int) -> Bool) -> [Int]? {
        let paths = shortestPaths(from: node, where: isIncluded)
        return paths.last.map { path(to: $0, paths.before) }
    }

    /// Returns the nodes that can be reached from `starts`, including these.
    func reachable(from starts: [Int]) -> [Int] {
        var isFound = [Bool](repeating: false, count: count)
        var found = starts
        for start in starts { isFound[start] = true }
        var place = 0
        while place < found.count {
            for target in self[found[place]].lazy.map({ Int($0) }) where !isFound[target] {
                isFound[target] = true
                found.append(target)
            }
            place += 1
        }
        return found
    }

    /// Returns for each node the node before it on a shortest path from `start`, which is nil for `start` itself and
    /// for nodes that cannot be reached. `last` is the node from which a shortest cycle leads back to `start`, if there
    /// is one.
    private func shortestPaths(
        from start: Int, where isIncluded: (Int) -> Bool = { _ in true }
    ) -> (before: [Int?], last: Int?) {
        var before = [Int?](repeating: nil, count: count)
        var last: Int?
        var found = [start]
        var place = 0
        while place < found.count {
            let node = found[place]
            place += 1
            for target in self[node].lazy.map({ Int($0) }) {
                if target == start {
                    if last == nil { last = node }
                } else if before[target] == nil, isIncluded(target) {
                    before[target] = node
                    found.append(target)
                }
            }
        }
        return (before, last)
    }

    /// A cycle for each node of a strongly connected graph.
    struct Cycles {
        /// Simple cycles: each node leads to the next, and the last to the first.
        fileprivate(set) var all: [[Int]] = []
        /// For each node, the index in `all` of the cycle that is reported for it.
        fileprivate(set) var cycleIndices: [Int]
        /// For each node, a successor that leads back to the root: the next node on its cycle, if it is on one.
        fileprivate(set) var next: [Int]
    }

    /// Returns a cycle for each node. The first cycle is a shortest one through `root`, and begins with it. Nodes that
    /// are on one cycle share it. The search for cycles stores about 16 (*n* + *e*) nodes. After that, the remaining
    /// nodes are assigned the first cycle, although they are not on it.
    ///
    /// - Parameter isFirst: Returns true for nodes that the first cycle may contain. There has to be a cycle of such
    ///   nodes through `root`.
    /// - Complexity: O(*n* + *e*) for *n* nodes and *e* edges.
    func cycleOfEachNode(root: Int, first isFirst: (Int) -> Bool) -> Cycles {
        assert(cyclicComponents().map(\.count) == [count], "The graph has to be strongly connected.")
        let paths = shortestPaths(from: root)
        let pathBack = reversed.shortestPaths(from: root).before
        var cycles = Cycles(
            cycleIndices: [Int](repeating: -1, count: count), next: (0..<count).map { pathBack[$0] ?? root })
        var budget = 16 * (count + edgeCount)
        func add(_ cycle: [Int]) {
            for (place, node) in cycle.enumerated() where cycles.cycleIndices[node] < 0 {
                cycles.cycleIndices[node] = cycles.all.count
                cycles.next[node] = cycle[(place + 1) % cycle.count]
            }
            cycles.all.append(cycle)
            budget -= cycle.count
        }
        let firstPaths = shortestPaths(from: root, where: isFirst)
        guard let last = firstPaths.last else {
            preconditionFailure("Internal inconsistency: no cycle of the included nodes goes through the root.")
        }
        add(path(to: last, firstPaths.before))
        var mark = [Int](repeating: -1, count: count)
        for node in 0..<count where cycles.cycleIndices[node] < 0 {
            if budget <= 0 {
                cycles.cycleIndices[node] = 0
                continue
            }
            // The cycle consists of the path from the node back to the root and the path from the root to the node.
            // The way back stops at the first node of the path from the root, so that the cycle is simple.
            let pathFromRoot = path(to: node, paths.before)
            for (place, passed) in pathFromRoot.dropLast().enumerated() { mark[passed] = place }
            var cycle = [node]
            var step = pathBack[node] ?? root
            while mark[step] < 0 {
                cycle.append(step)
                step = pathBack[step] ?? root
            }
            cycle += pathFromRoot[mark[step]..<(pathFromRoot.count - 1)]
            budget -= pathFromRoot.count
            for passed in pathFromRoot { mark[passed] = -1 }
            add(cycle)
        }
        return cycles
    }

    private func path(to end: Int, _ before: [Int?]) -> [Int] {
        var path = [end]
        while let node = before[path[path.count - 1]] { path.append(node) }
        return path.reversed()
    }
}
