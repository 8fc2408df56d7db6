import Baton
import Testing

/// Runs each test of a suite on a thread outside Swift's pool, because the tests block it.
///
/// The pool has as few threads as the machine has processors. A test that blocks one of them delays all other tests.
struct OwnThreadTrait: TestTrait, SuiteTrait, TestScoping {
    let isRecursive = true

    private static let executor = ThreadExecutor(name: "tests that block", threads: 1)

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(Self.executor) { try await function() }
    }
}

extension Trait where Self == OwnThreadTrait {
    static var onOwnThread: Self { Self() }
}
