import Baton
import Synchronization

/// Counts how many of its tokens are alive.
final class Tokens: Sendable {
    private let count = Atomic<Int>(0)

    var alive: Int { count.load(ordering: .acquiring) }

    func make() -> Token { Token(of: self) }

    fileprivate func change(by difference: Int) { count.wrappingAdd(difference, ordering: .acquiringAndReleasing) }
}

final class Token: Sendable {
    private let owner: Tokens

    fileprivate init(of owner: Tokens) {
        self.owner = owner
        owner.change(by: 1)
    }

    /// Does nothing. A closure calls it to capture the token.
    func touch() {}

    deinit { owner.change(by: -1) }
}

/// Weak references to operations.
struct Unkept {
    private struct Reference {
        weak var operation: AnyOperation?
    }

    private var references: [Reference] = []

    mutating func append(_ operation: AnyOperation) { references.append(Reference(operation: operation)) }

    var alive: Int { references.count { $0.operation != nil } }
}

/// Returns when `condition` is true. It may become true slightly late, when other threads complete their current steps.
func eventually(_ condition: () -> Bool) async {
    while !condition() { await Task.yield() }
}
