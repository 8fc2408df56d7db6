/// The dependencies of a workload. They are the same for every contestant, and are made before the time is measured.
struct Graph: Sendable {
    let count: Int
    /// The dependencies of each operation, which are always earlier operations.
    let dependencies: Edges
    /// The dependents of each operation.
    let dependents: Edges

    init(_ workload: Workload, count: Int) {
        self.count = count
        var random = Xorshift()
        let width = max(4, Int(Double(count).squareRoot()))
        var edges = Edges(capacity: count)
        for index in 0..<count {
            switch workload {
            case .chain, .values, .rules, .addingReversed, .release:
                edges.append(index > 0 ? [Int32(index - 1)] : [])
            case .fan where index == count - 1:
                edges.append((1..<Int32(index)).map { $0 })
            case .fan:
                edges.append(index > 0 ? [0] : [])
            case .layers:
                let layer = index / width
                edges.append(layer > 0 ? random.picks(3, from: (layer - 1) * width, count: width) : [])
            default:
                edges.append([])
            }
        }
        dependencies = edges
        dependents = edges.reversed()
    }
}

/// A list of numbers for each operation, stored in one array.
struct Edges: Sendable {
    /// The list of operation i is `targets[offsets[i]..<offsets[i + 1]]`.
    private(set) var offsets: [Int32] = [0]
    private(set) var targets: [Int32] = []

    init(capacity: Int) { offsets.reserveCapacity(capacity + 1) }

    mutating func append(_ list: [Int32]) {
        targets += list
        offsets.append(Int32(targets.count))
    }

    @inline(__always)
    func forEach(of index: Int, _ body: (Int) -> Void) {
        for position in Int(offsets[index])..<Int(offsets[index + 1]) { body(Int(targets[position])) }
    }

    func count(of index: Int) -> Int { Int(offsets[index + 1] - offsets[index]) }

    /// Returns the same edges in the opposite direction.
    func reversed() -> Edges {
        let operations = offsets.count - 1
        var result = Edges(capacity: operations)
        var places = [Int32](repeating: 0, count: operations + 1)
        for target in targets { places[Int(target) + 1] += 1 }
        for index in 0..<operations { places[index + 1] += places[index] }
        result.offsets = places
        result.targets = [Int32](repeating: 0, count: targets.count)
        for index in 0..<operations {
            forEach(of: index) { target in
                result.targets[Int(places[target])] = Int32(index)
                places[target] += 1
            }
        }
        return result
    }
}
