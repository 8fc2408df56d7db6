import Baton
import BatonTesting
import Synchronization

/// A condition of the hunt: a closure that gets the operation which the condition has brought along.
struct HuntCondition: OperationCondition {
    let name: String
    var brought: AnyOperation?
    let answer: @Sendable (AnyOperation?) async throws -> ConditionResult

    func dependency(for _: AnyOperation) -> AnyOperation? { brought }

    func evaluate(for _: AnyOperation) async throws -> ConditionResult { try await answer(nil) }

    func evaluate(for _: AnyOperation, after dependency: AnyOperation?) async throws -> ConditionResult {
        try await answer(dependency)
    }
}

/// A condition that is combined with `and`, `or` and `negated` from leaves whose answers are known.
indirect enum HuntFormula: Sendable, CustomStringConvertible {
    enum Answer: Sendable, Equatable {
        case satisfied
        case failure
        /// The number of the leaf that skips.
        case skip(Int)
    }

    case leaf(Int, Answer)
    case both(HuntFormula, HuntFormula)
    case either(HuntFormula, HuntFormula)
    case not(HuntFormula)

    /// Returns the formula of a node. The formula has at least two leaves.
    init(of node: HuntProgram.Node) {
        var random = SeededGenerator(seed: UInt64(node.choice))
        var count = 0
        self = Self.random(depth: 2, &random, &count)
    }

    private static func random(depth: Int, _ random: inout SeededGenerator, _ count: inout Int) -> HuntFormula {
        if depth == 0 || depth == 1 && Bool.random(using: &random) {
            defer { count += 1 }
            let answers: [Answer] = [.satisfied, .satisfied, .satisfied, .skip(count), .failure]
            return .leaf(count, answers.randomElement(using: &random)!)
        }
        let first = Self.random(depth: depth - 1, &random, &count)
        let second = Self.random(depth: depth - 1, &random, &count)
        let pair: HuntFormula = Bool.random(using: &random) ? .both(first, second) : .either(first, second)
        return Int.random(in: 0..<4, using: &random) == 0 ? .not(pair) : pair
    }

    /// Returns the answer that the documentation promises.
    ///
    /// - Parameter evaluated: Gets the numbers of the leaves that are evaluated for the answer.
    func answer(noting evaluated: inout Set<Int>) -> Answer {
        switch self {
        case .leaf(let number, let answer):
            evaluated.insert(number)
            return answer
        case .both(let first, let second):
            let answer = first.answer(noting: &evaluated)
            return answer == .satisfied ? second.answer(noting: &evaluated) : answer
        case .either(let first, let second):
            let firstAnswer = first.answer(noting: &evaluated)
            if firstAnswer == .satisfied { return .satisfied }
            let secondAnswer = second.answer(noting: &evaluated)
            if secondAnswer == .satisfied { return .satisfied }
            return firstAnswer == .failure ? secondAnswer : firstAnswer
        case .not(let base):
            return base.answer(noting: &evaluated) == .satisfied ? .failure : .satisfied
        }
    }

    var description: String {
        switch self {
        case .leaf(let number, let answer): "\(number): \(answer)"
        case .both(let first, let second): "(\(first) and \(second))"
        case .either(let first, let second): "(\(first) or \(second))"
        case .not(let base): "not \(base)"
        }
    }

    /// Makes the condition with the library.
    func condition(_ leaf: (Int, Answer) -> any OperationCondition) -> any OperationCondition {
        func both(_ first: some OperationCondition, _ second: some OperationCondition) -> any OperationCondition {
            first.and(second)
        }
        func either(_ first: some OperationCondition, _ second: some OperationCondition) -> any OperationCondition {
            first.or(second)
        }
        func not(_ base: some OperationCondition) -> any OperationCondition { base.negated }
        switch self {
        case .leaf(let number, let answer): return leaf(number, answer)
        case .both(let first, let second): return both(first.condition(leaf), second.condition(leaf))
        case .either(let first, let second): return either(first.condition(leaf), second.condition(leaf))
        case .not(let base): return not(base.condition(leaf))
        }
    }
}

/// The starts of the operations that share the rate of a round.
final class HuntRate: Sendable {
    let count: Int
    let burst: Int
    private let interval: Duration
    private let created = ContinuousClock.now
    /// The time from the creation to the first script, in nanoseconds. Until then, nothing starts.
    private let delay = Atomic<Int>(0)
    private let starts = HuntCounts.Counter(limit: .max)

    init(seed: UInt64) {
        count = [1, 4, 50][Int(seed % 3)]
        burst = min(count, 1 + Int(seed / 3 % 3))
        interval = .microseconds([50, 200, 800][Int(seed / 9 % 3)])
    }

    var period: Duration { interval * count }

    private var time: Duration { created.duration(to: .now) }

    /// Begins to measure. The first script comes after this call.
    func begin() { delay.store(Int(time / .nanoseconds(1)), ordering: .relaxed) }

    /// Counts the start of a body. Returns a description of the fault, or nil.
    ///
    /// A thread may be late to count a start, but never early. So as many starts as have been counted must be allowed
    /// in the time since the first script.
    func start() -> String? {
        let number = starts.now.add(1, ordering: .relaxed).newValue
        let time = time - .nanoseconds(delay.load(ordering: .relaxed))
        return time < interval * (number - burst)
            ? "\(number) starts in \(time), with a burst of \(burst) and then one every \(interval)" : nil
    }
}
