/// Numbered operations and their sources. Most sources have smaller numbers than their dependents. The others can close
/// cycles, which may overlap.
struct CyclicGraph {
    let sources: [[Int]]

    init(count: Int, _ random: inout SeededRandom) {
        let maxSources = random.number(1...3)
        let backwardPercent = random.pick([0, 1, 5, 20])
        sources = (0..<count).map { number in
            let chosen = (0..<random.number(0...maxSources)).map { _ in
                random.isLucky(percent: backwardPercent) || number == 0
                    ? random.number(0...count - 1) : random.number(0...number - 1)
            }
            return Set(chosen).subtracting([number]).sorted()
        }
    }

    /// Creates a graph of about 20 layers, each of at least two operations, with the given number of additional edges
    /// between any two operations. These edges may close cycles.
    init(layered count: Int, cycles: Int, _ random: inout SeededRandom) {
        let layerSize = max(2, count / 20)
        var sources = (0..<count).map { number in
            let before = (number / layerSize - 1) * layerSize
            return before < 0 ? [] : Set((0..<3).map { _ in before + random.number(0...layerSize - 1) }).sorted()
        }
        for _ in 0..<cycles {
            let (one, other) = (random.number(0...count - 1), random.number(0...count - 1))
            if one != other, !sources[one].contains(other) { sources[one].append(other) }
        }
        self.sources = sources
    }

    /// The operations on a cycle: the members of all strongly connected components of more than one operation, found
    /// with Kosaraju's algorithm.
    var membersOfCycles: Set<Int> {
        var dependents = sources.map { _ in [Int]() }
        for (number, list) in sources.enumerated() { for source in list { dependents[source].append(number) } }
        var isSeen = sources.map { _ in false }
        var order: [Int] = []
        for start in sources.indices { order += walk(from: start, along: sources, &isSeen) }
        isSeen = sources.map { _ in false }
        var members: Set<Int> = []
        for start in order.reversed() {
            let component = walk(from: start, along: dependents, &isSeen)
            if component.count > 1 { members.formUnion(component) }
        }
        return members
    }

    /// Returns the operations that a depth-first search newly reaches, in postorder.
    private func walk(from start: Int, along edges: [[Int]], _ isSeen: inout [Bool]) -> [Int] {
        if isSeen[start] { return [] }
        isSeen[start] = true
        var postorder: [Int] = []
        var path = [(number: start, next: 0)]
        while let (number, next) = path.last {
            guard next < edges[number].count else {
                postorder.append(number)
                path.removeLast()
                continue
            }
            path[path.count - 1].next += 1
            let neighbour = edges[number][next]
            if isSeen[neighbour] { continue }
            isSeen[neighbour] = true
            path.append((neighbour, 0))
        }
        return postorder
    }
}
