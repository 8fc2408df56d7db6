import Synchronization

/// Counts the objects of a test that are alive. The tokens are what bodies, outputs and handlers of the test capture.
final class Living: Sendable {
    private let number = Atomic<Int>(0)

    var count: Int { number.load(ordering: .acquiring) }

    func token(_ onRelease: (@Sendable () -> Void)? = nil) -> Token { Token(self, onRelease) }

    final class Token: Sendable {
        private let living: Living
        private let onRelease: (@Sendable () -> Void)?

        fileprivate init(_ living: Living, _ onRelease: (@Sendable () -> Void)?) {
            self.living = living
            self.onRelease = onRelease
            living.number.add(1, ordering: .relaxed)
        }

        deinit {
            onRelease?()
            living.number.subtract(1, ordering: .acquiringAndReleasing)
        }

        func touch() {}
    }

    /// Waits for the last release, which another thread may not have completed yet.
    func waitUntilNone() async throws {
        try await within(.seconds(30)) {
            while self.count != 0 { await Task.yield() }
        }
    }
}
