import Synchronization

/// An object that lives as long as the body, output, error or handler that retains it. The census counts the tokens
/// (G31).
final class Token: Sendable {
    private let census: ResourceCount

    init(_ census: ResourceCount) {
        self.census = census
        census.count.add(1, ordering: .relaxed)
    }

    deinit { census.count.subtract(1, ordering: .relaxed) }
}

final class ResourceCount: Sendable {
    fileprivate let count = Atomic<Int>(0)

    var living: Int { count.load(ordering: .acquiring) }
}
