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

    /// Use it, so that a closure captures it.
    func touch() {}

    deinit { owner.change(by: -1) }
}

/// Operations that nobody keeps.
struct Unkept {
    private struct Reference {
        weak var operation: AnyOperation?
    }

    private var references: [Reference] = []

    mutating func append(_ operation: AnyOperation) { references.append(Reference(operation: operation)) }

    var alive: Int { references.count { $0.operation != nil } }
}

/// Returns when `condition` is true: at once, or when threads that are in the middle of a step have left it.
func eventually(_ condition: () -> Bool) async {
    while !condition() { await Task.yield() }
}
