import Baton
import BatonTesting

/// The program of one round, derived from a seed: operations with features, and scripts of tasks that act on them.
struct HuntProgram: Sendable, CustomStringConvertible {
    struct Node: Sendable {
        let id: Int
        var features: Set<Feature> = []
        /// The nodes it depends on. They have lower numbers, except those that the feature `cycle` adds.
        var dependencies: [Int] = []
        var queue = 0
        /// The number of attempts that fail.
        var failures = 0
        /// The number of the node whose value the body awaits, which is lower than its own, or -1.
        var awaited = -1
        /// A random number that decides the details of the features.
        var choice = 0
    }

    enum Action: Sendable {
        case add([Int])
        case addTo(Int)
        case barrier(Int)
        case submit([Int])
        case run(Int)
        case cancelledRun(Int)
        case cancel(Int)
        case cancelAll(Int)
        case suspend(Int)
        case resume(Int)
        case width(Int, Int)
        case shutdown(Int, milliseconds: Int)
        case ask(Int)
        case yield(Int)
    }

    struct Queue: Sendable {
        var width = 1
        var isSuspended = false
        var waitingLimit = Int.max
        var order: SchedulingOrder?
    }

    let seed: UInt64
    let pair: (Feature, Feature)
    var features: Set<Feature> = []
    var nodes: [Node] = []
    var queues: [Queue] = []
    /// The scripts. Each runs in a task of its own.
    var scripts: [[Action]] = []
    /// The features of the program and of its operations.
    private(set) var allFeatures: Set<Feature> = []

    init(seed: UInt64, without left: Set<Feature> = []) {
        self.seed = seed
        let pairs = Feature.pairs.filter { !left.contains($0) && !left.contains($1) }
        pair = pairs[Int(seed % UInt64(pairs.count))]
        var random = SeededGenerator(seed: seed)
        func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

        let isLarge = seed % 101 == 100
        let count = isLarge ? Int.random(in: 150...500, using: &random) : Int.random(in: 2...24, using: &random)
        let others = chance(50) ? 0 : Int.random(in: 2...10, using: &random)
        func draw(_ feature: Feature, _ percent: Int) -> Bool {
            if left.contains(feature) { return false }
            return chance(feature == pair.0 || feature == pair.1 ? percent : others)
        }
        for feature in Feature.allCases where !feature.isOfOperation {
            if draw(feature, 100) { features.insert(feature) }
        }
        let needsOne = pair.0 == .cancelledRun || pair.1 == .cancelledRun
        queues = (0...(needsOne ? 0 : Int.random(in: 0...1, using: &random))).map { _ in
            Queue(
                width: [1, 1, 2, 3, 8, 64].randomElement(using: &random)!,
                isSuspended: features.contains(.suspension) && chance(50),
                waitingLimit: chance(50) ? Int.random(in: 1...4, using: &random) : .max,
                order: features.contains(.schedulingOrder)
                    ? SchedulingOrder.allCases.randomElement(using: &random) : nil)
        }
        let both = Int.random(in: 0..<count, using: &random)
        let edges = [0, 1, 2].randomElement(using: &random)!
        for id in 0..<count {
            var node = Node(id: id)
            for feature in Feature.allCases where feature.isOfOperation {
                let isOfPair = feature == pair.0 || feature == pair.1
                if draw(feature, 40) || isOfPair && id == both { node.features.insert(feature) }
            }
            node.queue = queues.indices.randomElement(using: &random)!
            if id > 0 {
                node.dependencies = Array(
                    Set((0..<edges).filter { _ in chance(60) }.map { _ in Int.random(in: 0..<id, using: &random) })
                ).sorted()
                if node.features.contains(.awaitsValue) { node.awaited = Int.random(in: 0..<id, using: &random) }
            }
            node.failures = node.features.contains(.retry) ? Int.random(in: 0...3, using: &random) : chance(10) ? 9 : 0
            node.choice = Int.random(in: 0..<1_000_000, using: &random)
            nodes.append(node)
        }
        for node in nodes where CycleKind(node) == .amongNodes {
            guard let dependency = node.dependencies.first else { continue }
            nodes[dependency].dependencies.append(node.id)
        }
        allFeatures = nodes.reduce(into: features) { $0.formUnion($1.features) }
        scripts = makeScripts(&random)
    }

    /// True if the queues carry the task-local. In one of four programs that use it, only the tasks that add have it.
    var carriesTaskLocals: Bool { features.contains(.taskLocals) && seed / 11 % 4 != 0 }

    /// The nodes with these numbers, and all nodes that they depend on, which an add may bring along. A unique node may
    /// have to wait for any other unique one.
    func closure(of ids: [Int]) -> Set<Int> {
        let unique = unique
        var all = Set(ids)
        var frontier = ids
        while let id = frontier.popLast() {
            frontier += nodes[id].dependencies.filter { all.insert($0).inserted }
            if nodes[id].features.contains(.unique) { frontier += unique.filter { all.insert($0).inserted } }
        }
        return all
    }

    private var unique: [Int] { nodes.filter { $0.features.contains(.unique) }.map(\.id) }

    /// The nodes that another one may replace. With a node, those are cancelled that only it needs.
    var mayBeReplaced: Set<Int> { closure(of: unique) }

    private func makeScripts(_ random: inout SeededGenerator) -> [[Action]] {
        var scripts: [[Action]] = (0...Int.random(in: 0...2, using: &random)).map { _ in [] }
        let isInOrder = Bool.random(using: &random)
        // With several queues, `run` and `add(to:)` would add operations to the wrong queue.
        let hasOneQueue = queues.count == 1
        let isBatched = Bool.random(using: &random)
        var batches: [Int: [Int]] = [:]
        for id in isInOrder ? Array(nodes.indices) : nodes.indices.shuffled(using: &random) {
            let node = nodes[id]
            let script = scripts.indices.randomElement(using: &random)!
            if node.features.contains(.barrier) {
                scripts[script].append(.barrier(id))
            } else if node.features.contains(.submit) {
                scripts[script].append(.submit([id]))
            } else if node.features.contains(.cancelledRun), hasOneQueue {
                scripts[script].append(.cancelledRun(id))
            } else if isBatched {
                batches[script, default: []].append(id)
                if Int.random(in: 0..<8, using: &random) == 0 { scripts[script].append(.add(batches[script].take()!)) }
            } else {
                scripts[script].append(
                    hasOneQueue
                        ? [.add([id]), .add([id]), .addTo(id), .run(id)].randomElement(using: &random)! : .add([id]))
            }
        }
        for (script, ids) in batches { scripts[script].append(.add(ids)) }
        var asides: [Action] = []
        for node in nodes where node.features.contains(.cancel) || node.features.contains(.heldDependency) {
            asides.append(.cancel(node.id))
        }
        for queue in queues.indices {
            if features.contains(.suspension) {
                for _ in 0..<3 { asides += [.suspend(queue), .yield(20), .resume(queue)] }
            }
            if features.contains(.width) {
                for _ in 0..<4 { asides.append(.width(queue, [1, 2, 3, 64].randomElement(using: &random)!)) }
            }
            if features.contains(.cancelAll) { asides.append(.cancelAll(queue)) }
            if features.contains(.asking) { asides += [.ask(queue), .ask(queue), .ask(queue)] }
            if features.contains(.shutdown) {
                asides.append(.shutdown(queue, milliseconds: Int.random(in: -1...3, using: &random)))
            }
        }
        for aside in asides {
            let script = scripts.indices.randomElement(using: &random)!
            scripts[script].insert(aside, at: Int.random(in: 0...scripts[script].count, using: &random))
        }
        for script in scripts.indices where Bool.random(using: &random) {
            let place = Int.random(in: 0...scripts[script].count, using: &random)
            scripts[script].insert(.yield(Int.random(in: 1...50, using: &random)), at: place)
        }
        return scripts
    }

    var description: String {
        let nodes = nodes.prefix(60).map { node in
            let names = node.features.sorted { $0.index < $1.index }.map(\.rawValue).joined(separator: " ")
            return "  n\(node.id) in q\(node.queue), after \(node.dependencies), awaits \(node.awaited),"
                + " fails \(node.failures) times, choice \(node.choice): \(names)"
        }
        let scripts = scripts.map { "  " + $0.prefix(80).map { "\($0)" }.joined(separator: ", ") }
        return """
            \(pair.0) × \(pair.1), \(self.nodes.count) operations; \
            \(features.map(\.rawValue).sorted().joined(separator: " "))
              \(queues)
            \(nodes.joined(separator: "\n"))
            \(scripts.joined(separator: "\n"))
            """
    }
}
