// The number of a guarantee begins the name of its tests.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BatonTesting
import Testing

@testable import Baton

/// Tests with long chains that are released in a loop, where a naive release would recurse. A stack of 8 MB holds about
/// 50,000 frames of such a recursion.
@Suite(.timeLimit(.minutes(10))) struct ReleaseGuarantees {
    /// G32 promises 1,000,000. Debug builds are slow, and a fifth of that length would overflow the stack as well.
    #if DEBUG
        private static let length = 2 * veryMany
    #else
        private static let length = 1_000_000
    #endif

    /// Makes a chain in which each operation reads the one before it.
    private func chain(from first: AsyncOperation<Int>) -> [AsyncOperation<Int>] {
        var chain = [first]
        chain.reserveCapacity(Self.length)
        for _ in 1..<Self.length { chain.append(chain.last!.then { $0 + 1 }) }
        return chain
    }

    @Test func G32_aChainThatWasNeverAdded() {
        let tokens = Tokens()
        do {
            let token = tokens.make()
            var last = AsyncOperation {
                token.touch()
                return 0
            }
            for _ in 1..<Self.length { last = last.then { $0 + 1 } }
            #expect(tokens.alive == 1)
        }
        #expect(tokens.alive == 0)
    }

    /// The chain leads from body to body. A captured operation is not a dependency, and is released in a loop as well.
    @Test func G32_aChainOfCapturesThatWasNeverAdded() {
        let tokens = Tokens()
        do {
            let token = tokens.make()
            var last = AsyncOperation { token.touch() }
            for _ in 1..<Self.length { last = AsyncOperation { [last] in try await last.value } }
            #expect(tokens.alive == 1)
        }
        #expect(tokens.alive == 0)
    }

    @Test func G32_aChainThatWasNeverAddedWithSideObjects() {
        let tokens = Tokens()
        do {
            let token = tokens.make()
            var last = AsyncOperation("first") { token.touch() }
            for _ in 1..<Self.length {
                let source = last
                last = AsyncOperation("next") {}
                last.addDependency(source)
                last.didFinish { [source] _ in _ = source.name }
            }
            #expect(tokens.alive == 1)
        }
        #expect(tokens.alive == 0)
    }

    @Test func G32_aChainThatHasRun() async {
        let queue = AsyncOperationQueue()
        var chain = chain(from: AsyncOperation { 1 })
        queue.add(chain)
        #expect((try? await chain.last!.value) == Self.length)
        await queue.waitUntilIdle()
        chain = []
    }

    @Test func G32_aChainThatFailedAtItsFirst() async {
        let queue = AsyncOperationQueue()
        var chain = chain(from: AsyncOperation("first") { throw Oops() })
        let last = chain.last!
        queue.add(chain)
        _ = try? await last.value
        await queue.waitUntilIdle()
        chain = []
        guard case .dependencyFailed(let source, let via, let cause)? = last.failure else {
            Issue.record("\(last.ending)")
            return
        }
        #expect(source.name == "first")
        #expect(cause.inShort == "failed: oops")
        #expect(last.failure!.description.count < 200, "\(last.failure!)")
        #expect("\(last.failure!)".contains(via.name))
    }

    @Test func G32_aChainThatIsCancelledFromItsFirst() async {
        let queue = AsyncOperationQueue(isSuspended: true)
        var chain = chain(from: AsyncOperation { 1 })
        queue.add(chain)
        chain[0].cancel()
        queue.isSuspended = false
        await queue.waitUntilIdle()
        #expect(chain.last!.failure?.inShort.hasSuffix("cancelled on request") == true)
        chain = []
    }

    @Test func G32_aChainOfASuspendedQueueThatIsReleased() {
        let tokens = Tokens()
        do {
            let token = tokens.make()
            let first = AsyncOperation {
                token.touch()
                return 1
            }
            AsyncOperationQueue(isSuspended: true).add(chain(from: first))
        }
        #expect(tokens.alive == 0)
    }
}
