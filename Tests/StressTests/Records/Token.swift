import Synchronization

/// Lives as long as the body, output, error or handler that holds it; the census counts them (G31).
final class Token: Sendable {
    private let census: Census

    init(_ census: Census) {
        self.census = census
        census.count.add(1, ordering: .relaxed)
    }

    deinit { census.count.subtract(1, ordering: .relaxed) }
}

final class Census: Sendable {
    fileprivate let count = Atomic<Int>(0)

    var living: Int { count.load(ordering: .acquiring) }
}
