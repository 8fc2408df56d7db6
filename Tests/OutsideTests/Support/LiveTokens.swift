import Synchronization

/// Counts the objects of a test that are alive. Bodies, outputs and handlers capture the tokens.
final class LiveTokens: Sendable {
    private let number = Atomic<Int>(0)

    var count: Int { number.load(ordering: .acquiring) }

    func token(_ onRelease: (@Sendable () -> Void)? = nil) -> Token { Token(self, onRelease) }

    final class Token: Sendable {
        private let living: LiveTokens
        private let onRelease: (@Sendable () -> Void)?

        fileprivate init(_ living: LiveTokens, _ onRelease: (@Sendable () -> Void)?) {
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
