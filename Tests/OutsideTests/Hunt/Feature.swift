/// A feature that an operation or the whole program of a hunt may use. A round tests a pair of features.
enum Feature: String, CaseIterable, Sendable {
    // Features of an operation.
    case retry, repeating, exclusion, timeout, waitingLimit, unique, group, condition, barrier, submit, delay, progress
    case willFinish, ownExecutor, blocking, children, childTasks, sequence, selfCancel, deinits, cancel, edges, priority
    case handlers, produce, cancelledRun, awaitsValue, heldDependency
    case combination, rate, breaker, scope, delivery, idleness, cycle, timeLimit, groupWidth, order
    // Features of a program.
    case suspension, shutdown, width, threadQueue, cancelAll, asking, around, observers
    case taskLocals, schedulingOrder

    var isOfOperation: Bool { index < Feature.suspension.index }

    var index: Int { Self.indices[self]! }

    private static let indices = Dictionary(uniqueKeysWithValues: allCases.enumerated().map { ($1, $0) })

    /// All pairs, including the pairs of a feature with itself.
    static let pairs: [(Feature, Feature)] = allCases.flatMap { first in
        allCases[first.index...].map { second in (first, second) }
    }
}

/// Counts how often each pair of features has occurred together in one operation or, for features of a program, in one
/// program.
struct Coverage: Sendable {
    private var counts = [Int](repeating: 0, count: Feature.allCases.count * Feature.allCases.count)

    mutating func add(_ program: HuntProgram) {
        var met: Set<Int> = []
        for node in program.nodes {
            let all = node.features.union(program.features).map(\.index).sorted()
            for first in all { for second in all where first <= second { met.insert(place(first, second)) } }
        }
        for place in met { counts[place] += 1 }
    }

    var missing: [String] {
        Feature.pairs.filter { counts[place($0.index, $1.index)] == 0 }.map { "\($0) × \($1)" }
    }

    /// A table with a line for each feature. Its columns have the same order.
    var table: String {
        let names = Feature.allCases.map { $0.rawValue }
        let width = names.map(\.count).max()! + 1
        var lines = [String(repeating: " ", count: width + 3) + names.indices.map { pad("\($0)", 6) }.joined()]
        for (row, name) in names.enumerated() {
            let cells = names.indices.map { column in
                pad(column < row ? "" : "\(counts[place(row, column)])", 6)
            }
            lines.append(
                pad("\(row)", 2) + " " + name + String(repeating: " ", count: width - name.count) + cells.joined())
        }
        return lines.joined(separator: "\n")
    }

    private func place(_ first: Int, _ second: Int) -> Int { first * Feature.allCases.count + second }

    private func pad(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }
}
