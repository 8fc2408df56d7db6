import BatonTesting
import Testing

@testable import Baton

/// Keys whose `==` and hashing have side effects.
@Suite(.timeLimit(.minutes(10))) struct UniqueKeyTests {
    /// A key whose hash is the same for all keys. Two keys are equal if their texts are, and each comparison calls
    /// `inside`.
    private struct Key: Hashable, Sendable {
        let text: String
        let space: String
        let inside: @Sendable () -> Void

        static func == (left: Self, right: Self) -> Bool {
            left.inside()
            right.inside()
            return left.text == right.text && left.space == right.space
        }

        func hash(into hasher: inout Hasher) {
            inside()
            hasher.combine(space)
        }
    }

    private func key(_ text: String, _ space: String, _ inside: @escaping @Sendable () -> Void = {}) -> Key {
        Key(text: text, space: space, inside: inside)
    }

    @Test func keysOfOneHashAreToldApart() {
        let stage = TestQueue(isSuspended: true)
        let operations = ["a", "b", "c", "b", "a"].map { stage.noting($0).unique(by: key($0, #function)) }
        stage.queue.add(operations)
        #expect(operations.map { $0.error?.outcome } == [nil, nil, nil, .skipped, .skipped])
        operations[1].cancel()
        let next = stage.noting("next").unique(by: key("b", #function))
        stage.queue.add(next)
        #expect(next.error == nil)
        stage.queue.cancelAll()
    }

    @Test func comparingMayAddOperationsAndTakeLocks() {
        let stage = TestQueue(isSuspended: true)
        let space = #function
        let lock = Locked(0)
        let first = stage.noting("first")
        stage.queue.add(first.unique(by: key("a", space)))
        let second = stage.noting("second")
        second.unique(
            by: key("b", space) { [queue = stage.queue] in
                lock.withLock { $0 += 1 }
                queue.add(AsyncOperation {}.unique(by: "\(space) another"))
                _ = first.explain()
                _ = second.state
            })
        stage.queue.add(second)
        #expect(second.state == .ready)
        #expect(lock.withLock { $0 } >= 2)
        stage.queue.cancelAll()
        stage.steps.runAll()
        #expect(stage.queue.operationCount == 0)
    }

    @Test func anEqualOneThatComesWhileOthersAreComparedIsFound() {
        let stage = TestQueue(isSuspended: true)
        let space = #function
        let between = stage.noting("between").unique(by: key("b", space))
        let isAdded = Locked(false)
        stage.queue.add(
            stage.noting("first").unique(
                by: key("a", space) { [queue = stage.queue] in
                    // This is the first comparison with the key.
                    if queue.operationCount == 1, !isAdded.withLock({ $0.exchange(true) }) { queue.add(between) }
                }))
        let late = stage.noting("late").unique(by: key("b", space))
        stage.queue.add(late)
        #expect(between.error == nil)
        #expect(late.ending == "skipped, because ‘between’ does the same already")
        stage.queue.cancelAll()
    }

    @Test(arguments: UniquenessPolicy.allCases)
    func anOwnerThatFinishesWhileItIsComparedIsNoneAnyMore(policy: UniquenessPolicy) {
        let stage = TestQueue(isSuspended: true)
        let space = "\(#function) \(policy)"
        let first = stage.noting("first")
        first.unique(by: key("a", space) { [weak first] in if first?.state == .ready { first?.cancel() } })
        let second = stage.noting("second").unique(by: key("a", space), policy: policy)
        stage.queue.add(first)
        #expect(!first.hasFinished)
        stage.queue.add(second)
        #expect(first.ending == "cancelled on request")
        #expect(second.state == .ready)
        stage.queue.cancelAll()
    }

    @Test func aKeyThatIsNotEqualToItselfMeetsNobody() {
        let stage = TestQueue()
        let tokens = Tokens()
        for _ in 0..<3 {
            stage.queue.add(stage.noting("ran").unique(by: Unequal(token: tokens.make()), in: #function))
        }
        stage.steps.runAll()
        #expect(stage.ran == ["ran", "ran", "ran"])
        #expect(tokens.alive == 0)
    }

    @Test func aKeyIsReleasedOutsideEveryLock() {
        let stage = TestQueue(isSuspended: true)
        let ended = EventLog<Int>()
        func operation(_ policy: UniquenessPolicy) -> AsyncOperation<Void> {
            let operation = stage.noting("operation")
            return operation.unique(
                by: ReleasingKey(
                    space: #function,
                    release: { [weak operation, queue = stage.queue] in
                        _ = operation?.state
                        ended(queue.operationCount)
                        queue.add(AsyncOperation {}.unique(by: "released", in: #function, policy: .join))
                    }), policy: policy)
        }
        for policy in [UniquenessPolicy.join, .join, .reject, .replace, .join] { stage.queue.add(operation(policy)) }
        _ = operation(.join).unique(by: "another")
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(ended.events.count == 6)
        #expect(stage.queue.operationCount == 0)
    }
}

private struct Unequal: Hashable {
    let token: Token

    static func == (left: Self, right: Self) -> Bool { false }

    func hash(into hasher: inout Hasher) {}
}

/// A key that calls a closure when it is released.
private final class ReleasingKey: Hashable, Sendable {
    private let space: String
    private let release: @Sendable () -> Void

    init(space: String, release: @escaping @Sendable () -> Void) {
        self.space = space
        self.release = release
    }

    static func == (left: ReleasingKey, right: ReleasingKey) -> Bool { left.space == right.space }

    func hash(into hasher: inout Hasher) { hasher.combine(space) }

    deinit { release() }
}

extension Bool {
    fileprivate mutating func exchange(_ value: Bool) -> Bool {
        defer { self = value }
        return self
    }
}
