@testable import Baton

/// A counter that several tasks can change.
final class Tally: Sendable {
    private let state = Locked(0)

    var count: Int { state.withLock { $0 } }

    func add(_ difference: Int = 1) { state.withLock { $0 += difference } }

    func raise(to least: Int) { state.withLock { $0 = max($0, least) } }
}
